"""Rotations, rigid transforms and spatial inertia against independent references."""

from __future__ import annotations

from math import factorial, pi, sqrt

import casadi as ca
import mpmath as mp
import numpy as np
import pytest

from anyjoint.geometry import se3, so3

CASES = {"exp": (so3.exp_so3, 4, 1, 1), "jacobian": (so3.right_jacobian, 3, 2, -1)}
EDGE = sqrt(so3.STUMPFF_THRESHOLD)  # angle of the branch; exp_so3 branches at twice this
ANGLES = [0, 1e-300, 1e-160, 1e-8, 1e-4, 0.01, 0.1, 0.3, 0.7, 1, 2, 3, pi, 4, 5, 6, 20, 100]
ANGLES += [edge * f for edge in (EDGE, 2 * EDGE)
           for f in (0.95, 1 - 1e-3, 1 - 1e-15, 1, 1 + 1e-15, 1 + 1e-3, 1.05)]


def unit(rng):
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def evaluate(expression):
    return np.array(ca.DM(expression))


def near(a, b, tolerance=1e-13):
    """Whether two arrays or numeric CasADi matrices agree, also in shape."""
    a, b = evaluate(a), evaluate(b)
    return a.shape == b.shape and np.abs(a - b).max() <= tolerance


def multiply(a, b):
    """Product of two polynomials, truncated to the length of a."""
    return [mp.fsum(a[i] * b[k - i] for i in range(k + 1)) for k in range(len(a))]


def stumpff_taylor(s, k, order):
    """Taylor coefficients of c_k at s, from its everywhere convergent power series."""
    terms = range(order, order + 60 + int(2 * mp.sqrt(s)))
    return [mp.fsum((-1) ** n * mp.binomial(n, j) * s ** (n - j) / mp.factorial(2 * n + k)
                    for n in range(j, terms[-1])) for j in range(order + 1)]


def reference(q, d, order, k, sign):
    """Derivatives 0..order at e = 0 of 1 + sign c_k [x] + c_(k+1) [x]², x = q + e d; 120 digits."""
    with mp.workdps(120):
        x = [[mp.mpf(float(a)), mp.mpf(float(b))] + [mp.mpf(0)] * (order - 1)
             for a, b in zip(q, d, strict=True)]
        s = [mp.fsum(c) for c in zip(*(multiply(a, a) for a in x), strict=True)]
        step, zero = [mp.mpf(0), *s[1:]], [mp.mpf(0)] * (order + 1)

        def c(k):
            result, power = zero, [mp.mpf(1), *zero[1:]]
            for coefficient in stumpff_taylor(s[0], k, order):
                result = [a + coefficient * b for a, b in zip(result, power, strict=True)]
                power = multiply(power, step)
            return result

        first, second = [sign * a for a in c(k)], c(k + 1)
        out = np.zeros((order + 1, 3, 3))
        for i in range(3):
            for j in range(3):
                square = [a - (i == j) * b for a, b in zip(multiply(x[i], x[j]), s, strict=True)]
                entry = multiply(second, square)
                entry[0] += i == j
                if i != j:
                    e = 1 if (j - i) % 3 == 2 else -1  # [x]_ij = ± x of the third index
                    odd = multiply(first, x[3 - i - j])
                    entry = [a + e * b for a, b in zip(entry, odd, strict=True)]
                out[:, i, j] = [float(a * factorial(n)) for n, a in enumerate(entry)]
        return out


def nested(function, order):
    q, d = ca.SX.sym("q", 3), ca.SX.sym("d", 3)
    out = [function(q)]
    for _ in range(order):
        out.append(ca.jtimes(out[-1], q, d))
    return ca.Function("f", [q, d], out)


@pytest.mark.parametrize("name", CASES)
def test_exponential_map_and_its_derivatives(name):
    function, order, k, sign = CASES[name]
    f, rng = nested(function, order), np.random.default_rng(1)
    for angle in ANGLES:
        u, d = unit(rng), unit(rng)
        for q, e in ((angle * u, d), (angle * u, u), (angle * np.eye(3)[0], d)):
            for got, want in zip(f(q, e), reference(q, e, order, k, sign), strict=True):
                scale = max(1, np.abs(want).max())
                assert np.abs(np.array(got) - want).max() <= 1e-12 * scale, (angle, q, e)


@pytest.mark.quick
@pytest.mark.parametrize("k", range(4))
def test_stumpff(k):
    for angle in ANGLES:
        s = float(angle) ** 2
        with mp.workdps(120):
            want = float(stumpff_taylor(mp.mpf(s), k, 0)[0])
        assert abs(float(so3.stumpff_all(s, (k,))[0]) - want) < 1e-13


@pytest.mark.quick
def test_constant_axis_folds():
    t = ca.SX.sym("t")
    for axis, R in (((1, 0, 0), so3.rot_x), ((0, 1, 0), so3.rot_y), ((0, 0, 1), so3.rot_z)):
        a, b = so3.rot_axis(axis, t), R(t)
        assert ca.is_equal(a, b, 3) and a.nnz() == b.nnz() == 5
        count = [ca.Function("f", [t], [m]).n_instructions() for m in (a, b)]
        assert count[0] == count[1]
    rng = np.random.default_rng(2)
    u = unit(rng)
    assert near(so3.rot_axis(u, 1.3), so3.exp_so3(1.3 * u), 1e-15)
    assert near(so3.rpy(0.1, 0.2, 0.3), so3.rot_z(0.3) @ so3.rot_y(0.2) @ so3.rot_x(0.1), 1e-15)


@pytest.mark.quick
def test_quaternions():
    rng = np.random.default_rng(3)
    for _ in range(20):
        a, b, w = rng.normal(size=4), rng.normal(size=4), rng.normal(size=3)
        Ra, Rb = evaluate(so3.quat_rotation(a)), evaluate(so3.quat_rotation(b))
        assert near(so3.quat_rotation(so3.quat_multiply(a, b)), Ra @ Rb, 1e-14)
        assert near(Ra @ Ra.T, np.eye(3), 1e-14)
        assert np.isclose(np.linalg.det(Ra), 1)
        assert near(so3.quat_rotation(so3.exp_quat(w)), so3.exp_so3(w), 1e-14)
        pure = so3.quat_multiply(a, [0, *w]) / 2
        assert near(so3.quat_rate_matrix(a) @ w, pure, 1e-14)


@pytest.mark.quick
def test_log_inverts_exp_with_exact_derivatives():
    x = ca.SX.sym("x", 6)
    loop = se3.log_se3(so3.exp_quat(x[:3]), se3.exp_se3(x)[1])
    f = ca.Function("f", [x], [loop, ca.jacobian(loop, x)])
    rng = np.random.default_rng(4)
    half = np.arctan(0.2)  # the logarithm branches at this half angle
    angles = [0, 1e-300, 1e-8, 1e-3, 2 * half * (1 - 1e-9), 2 * half * (1 + 1e-9), 0.9,
              1 - 1e-12, 1, 1 + 1e-12, 2, 3, 3.1, pi - 1e-9]
    for angle in angles:
        xi = np.r_[angle * unit(rng), rng.normal(size=3)]
        value, derivative = f(xi)
        assert np.abs(np.array(value).ravel() - xi).max() < 1e-12, angle
        assert np.abs(np.array(derivative) - np.eye(6)).max() < 1e-12, angle


@pytest.mark.quick
def test_log_at_identity_and_half_turn():
    quat = ca.SX.sym("quat", 4)
    log = so3.log_so3_from_quat(quat)
    f = ca.Function("f", [quat], [log, ca.jacobian(log, quat)])
    for sign in (1, -1):
        value, derivative = f([sign, 0, 0, 0])
        assert near(value, np.zeros(3), 0)
        assert near(derivative, np.c_[np.zeros(3), sign * 2 * np.eye(3)], 0)
        value, derivative = f([0, 0, sign, 0])
        assert near(ca.fabs(value), [0, pi, 0]) and np.isfinite(evaluate(derivative)).all()
    assert near(f(-np.array([0.8, 0, 0.6, 0]))[0], f([0.8, 0, 0.6, 0])[0])


def hat(w):
    """3×3 matrix [w]."""
    return np.cross(w, -np.eye(3))


def Ad(R, r):
    """6×6 matrix: a twist from child to parent frame."""
    R, r = evaluate(R), evaluate(r).ravel()
    return np.block([[R, np.zeros((3, 3))], [hat(r) @ R, R]])


def ad(x):
    """6×6 matrix: the Lie bracket with the twist x."""
    return np.block([[hat(x[:3]), np.zeros((3, 3))], [hat(x[3:]), hat(x[:3])]])


@pytest.mark.quick
def test_adjoint_identities():
    rng = np.random.default_rng(5)
    for _ in range(10):
        xi, R, r = rng.normal(size=6), evaluate(so3.exp_so3(rng.normal(size=3))), rng.normal(size=3)
        x, y = rng.normal(size=(6, 3)), rng.normal(size=6)
        A, a = Ad(R, r), ad(xi)
        for got, want in ((se3.act(R, r, x), A @ x), (se3.act_inv(R, r, x), np.linalg.solve(A, x)),
                          (se3.act_dual(R, r, x), np.linalg.solve(A.T, x)),
                          (se3.cross(xi, x), a @ x), (se3.cross_dual(xi, x), -a.T @ x)):
            assert near(got, want, 1e-13)
        term, total = np.eye(6), np.eye(6)
        for n in range(1, 60):
            term = term @ a / n
            total = total + term
        assert near(Ad(*se3.exp_se3(xi)), total, 1e-12)
        G, H = (R, r), se3.exp_se3(y)
        assert near(se3.homogeneous(*se3.compose(G, H)),
                    evaluate(se3.homogeneous(*G)) @ evaluate(se3.homogeneous(*H)))
        unity = se3.compose(G, se3.inverse(*G))
        assert near(se3.homogeneous(*unity), np.eye(4), 1e-14)


@pytest.mark.quick
def test_structural_zeros_are_kept():
    x = ca.SX(6, 1)
    x[2] = ca.SX.sym("w")
    assert se3.cross(x, ca.SX.sym("y", 6)).nnz() == 4
    assert se3.cross(x, x).nnz() == 0
    assert se3.act(so3.rot_z(ca.SX.sym("t")), ca.DM(3, 1), x).nnz() == 1


@pytest.mark.quick
def test_inertia():
    rng = np.random.default_rng(6)
    points, masses = rng.normal(size=(8, 3)), rng.uniform(1, 2, size=8)
    h, second = masses @ points, (points.T * masses) @ points
    inertia = np.trace(second) * np.eye(3) - second
    i6 = [*np.diag(inertia), inertia[0, 1], inertia[0, 2], inertia[1, 2]]
    M, x = evaluate(se3.inertia_matrix(masses.sum(), h, i6)), rng.normal(size=(6, 2))
    assert near(se3.inertia_times(masses.sum(), h, i6, x), M @ x)
    w, v = x[:3, 0], x[3:, 0]
    energy = masses @ np.sum((v + np.cross(w, points)) ** 2, axis=1)
    assert np.isclose(x[:, 0] @ M @ x[:, 0], energy)
