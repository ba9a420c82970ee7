"""What the command line says when something fails, as text or as JSON."""

from __future__ import annotations

import contextlib
import enum
import json
import os
import sys
from collections.abc import Iterator
from typing import Any

import typer

from anyjoint.errors import AnyjointError, ModelError


class OutputFormat(str, enum.Enum):
    text = "text"
    json = "json"


@contextlib.contextmanager
def reporting(debug: bool, output: OutputFormat = OutputFormat.text) -> Iterator[None]:
    """Errors as text or JSON with exit status 2; a traceback only with --debug."""
    try:
        yield
    except AnyjointError as e:
        if debug:
            raise
        if output is OutputFormat.json:
            print(json.dumps({"ok": False, "problems": _problems(e)}, indent=2))
        else:
            print(str(e) if isinstance(e, ModelError) else f"error: {e}", file=sys.stderr)
        raise typer.Exit(2) from None
    except (typer.Exit, typer.Abort):
        raise
    except BrokenPipeError:  # the reader, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None
    except Exception as e:
        if debug:
            raise
        message = (f"internal error: {type(e).__name__}: {str(e)[:500]}\n"
                   "This is a bug in anyjoint; --debug shows where.")
        if output is OutputFormat.json:
            print(json.dumps({"ok": False, "problems": [
                {"severity": "error", "message": message}]}, indent=2))
        else:
            print(message, file=sys.stderr)
        raise typer.Exit(1) from None


def _problems(e: AnyjointError) -> list[dict[str, Any]]:
    if not isinstance(e, ModelError):
        return [{"severity": "error", "message": str(e)}]
    return [p.data() for p in e.problems]
