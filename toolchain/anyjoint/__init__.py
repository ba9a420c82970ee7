"""anyjoint: a compiler for mechanisms. Model file in, dynamics as CasADi functions and
as a C library out."""

from __future__ import annotations

from anyjoint.api import check, compile, load, loads, open
from anyjoint.errors import (
    AnyjointError,
    ArtifactError,
    CompileError,
    FormulaError,
    InputError,
    ModelError,
)

__all__ = ["AnyjointError", "ArtifactError", "CompileError", "FormulaError", "InputError",
           "ModelError", "check", "compile", "load", "loads", "open"]
