"""A failing test with a `case` prints its model text and seed."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Generator[None, Any, Any]:
    report = yield
    case = getattr(getattr(item, "callspec", None), "params", {}).get("case")
    if report.failed and hasattr(case, "text"):
        report.sections.append((f"model {case.id}, seed {case.seed}", case.text))
    return report
