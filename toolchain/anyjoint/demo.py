"""`anyjoint demo`: compile, call, compare, time."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from anyjoint import api, report
from anyjoint.compiled import CompiledFunction
from anyjoint.template import models_folder

_MODELS = (("arm", "two links with a run-time payload"),
           ("torus_chain_4", "four rings that touch: contact as a joint"))


def run(out: Path) -> None:
    """Compiles the demo models into `out` and prints what they do."""
    rows = report.table("", "model", "coordinates", "operations fd", "id", "time fd", "id")
    for name, what in _MODELS:
        model = models_folder() / f"{name}.yaml"
        report.console.print(f"[bold]{name}[/bold]: {what}\n  from {_short(model)}",
                             soft_wrap=True)
        m = api.load(model)
        with report.working(f"compiling {name}"):
            folder, _ = api.write(m, out / name)
        lib = api.open(folder)
        q, zero = (m.state("home") if "home" in m.states else m.q0 + 0.2), np.zeros(m.nv)
        a = lib.fd(q, zero, zero, m.p0)
        back = lib.id(q, zero, a, m.p0)
        report.console.print(f"  made {folder}/: " + ", ".join(
            f["name"] for f in lib.manifest["files"].values()), soft_wrap=True)
        shown = ", ".join(f"{x:.3f}" for x in a[:4]) + (", …" if m.nv > 4 else "")
        report.console.print(f"  fd, no motor: a = [{shown}]; id(fd) − tau = "
                             f"{abs(back).max():.0e}\n", soft_wrap=True)
        made = lib.manifest["functions"]
        rows.add_row(name, str(m.nv),
                     *(str(made[f]["budget"]["operations"]["total"]) for f in ("fd", "id")),
                     *(f"{seconds(lib[f]) * 1e6:.2f} µs" for f in ("fd", "id")))
    report.console.print(rows)
    report.console.print("Time of one call from C on this machine.")
    report.console.print("Next: anyjoint new my_robot, then anyjoint show my_robot.yaml")


def _short(path: Path) -> Path:
    try:
        return path.relative_to(Path.cwd())
    except ValueError:
        return path


def seconds(compiled: CompiledFunction, batches: int = 9, batch_seconds: float = 0.02) -> float:
    """Seconds of one call at random inputs, median over batches, CasADi's buffer in between."""
    f: Any = compiled.function
    generator = np.random.default_rng(0)
    buffer, call = f.buffer()
    held = [generator.uniform(0.1, 1.0, max(1, f.nnz_in(i))) for i in range(f.n_in())]
    held += [np.zeros(max(1, f.nnz_out(i))) for i in range(f.n_out())]
    for i in range(f.n_in()):
        buffer.set_arg(i, memoryview(held[i]))
    for i in range(f.n_out()):
        buffer.set_res(i, memoryview(held[f.n_in() + i]))
    times: list[float] = []
    count = 1
    while len(times) < batches:
        start = time.perf_counter()
        for _ in range(count):
            call()
        took = time.perf_counter() - start
        if took < batch_seconds:
            count *= 2
        else:
            times.append(took / count)
    return float(np.median(times))
