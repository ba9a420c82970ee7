"""Six degrees of freedom: free with quaternions, free_exp with the exponential map."""

from __future__ import annotations

from typing import Any, Literal

import casadi as ca
import numpy as np

from anyjoint.frontend.fields import JointKeys
from anyjoint.geometry import se3, so3
from anyjoint.joints.contract import Joint
from anyjoint.joints.motion import Chart, Motion
from anyjoint.joints.rotation import conjugate


class Free(Joint):
    """G = Trans(t) Rot(quaternion), q = (w, x, y, z, t), v = body twist (ω; v)."""

    class Keys(JointKeys):
        type: Literal["free"]

    examples = ({},)
    q_names = ("qw", "qx", "qy", "qz", "x", "y", "z")
    v_names = ("wx", "wy", "wz", "vx", "vy", "vz")
    rest = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)

    def motion(self, chart: Chart, args: Any) -> Motion:
        return Motion(so3.quat_rotation(chart.q[:4]), chart.q[4:], ca.SX.eye(6))

    def rate_matrix(self, q: Any) -> Any:
        return ca.diagcat(so3.quat_rate_matrix(q[:4]), so3.quat_rotation(q[:4]))

    def integrate(self, q: Any, dq: Any) -> Any:
        """G exp(dq): the screw motion of the constant body twist dq."""
        _, step = se3.exp_se3(dq)
        turned = so3.quat_multiply(q[:4], so3.exp_quat(dq[:3]))
        return ca.vertcat(turned, q[4:] + so3.quat_rotation(q[:4]) @ step)

    def difference(self, q0: Any, q1: Any) -> Any:
        turn = so3.quat_multiply(conjugate(q0[:4]), q1[:4])
        return se3.log_se3(turn, so3.quat_rotation(q0[:4]).T @ (q1[4:] - q0[4:]))

    def normalize(self, q: Any) -> Any:
        return np.concatenate([q[:4] / np.linalg.norm(q[:4]), q[4:]])


class FreeExp(Joint):
    """G = Trans(t) exp[r], q = (r, t), v = q̇."""

    class Keys(JointKeys):
        type: Literal["free_exp"]

    examples = ({},)
    q_names = ("rx", "ry", "rz", "x", "y", "z")

    def motion(self, chart: Chart, args: Any) -> Motion:
        return chart.shift(chart.q[3:]) @ chart.exp(chart.q[:3])
