"""The command line. Heavy imports stay inside the commands, so that --help is quick."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from anyjoint.cli_errors import OutputFormat, reporting
from anyjoint.errors import listed

app = typer.Typer(
    name="anyjoint", no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False,
    help="A compiler for mechanisms: model file in, dynamics as a C library out.")


Model = Annotated[Path, typer.Argument(help="Model file (.yaml).", show_default=False)]
Format = Annotated[OutputFormat, typer.Option("--output-format", help="json is for editors.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show tracebacks.")]


_DEFAULT = ["fd,id"]
_NONE: list[str] = []


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib import metadata

        print(f"anyjoint {metadata.version('anyjoint')}")
        raise typer.Exit


@app.callback()
def options(version: Annotated[bool, typer.Option(
        "--version", callback=_print_version, is_eager=True, help="Show the version.")] = False,
) -> None:
    """A compiler for mechanisms: model file in, dynamics as a C library out."""


@app.command()
def check(
    model: Model,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as errors.")] = False,
    output_format: Format = OutputFormat.text,
    debug: Debug = False,
) -> None:
    """Check a model file: every problem with its place; warnings about joints and constraints."""
    with reporting(debug, output_format):
        from anyjoint import api

        m = api.load(model)
        warnings = api.check(m)
        ok = not (strict and warnings)
        if output_format is OutputFormat.json:
            print(json.dumps({"ok": ok, "problems": [p.data() for p in warnings]}, indent=2))
        else:
            if warnings:
                print(listed(warnings), file=sys.stderr)
            count = f", warnings: {len(warnings)}" if warnings else ""
            print(f"{model}: {'ok' if ok else 'not ok'}, bodies: {len(m.bodies)}, nq = {m.nq}, "
                  f"nv = {m.nv}, np = {m.np}{count}")
        if not ok:
            raise typer.Exit(2)


def _warn_of_states(m: Any, output: OutputFormat) -> None:
    """Rest or states that are singular or out of range; `check` says more."""
    from anyjoint import api

    warnings = api.check(m, ranges=False) if output is OutputFormat.text else []
    if warnings:
        print(listed(warnings), file=sys.stderr)


@app.command()
def show(model: Model, output_format: Format = OutputFormat.text, debug: Debug = False) -> None:
    """Draw the tree with degrees of freedom, coordinates, parameters, operation counts."""
    with reporting(debug, output_format):
        from anyjoint import api, report

        m = api.load(model)
        _warn_of_states(m, output_format)
        if output_format is OutputFormat.json:
            print(json.dumps(report.summary(m), indent=2))
        else:
            report.show(m)


@app.command()
def compile(
    model: Model,
    out: Annotated[Path | None, typer.Option(
        "-o", "--out", help="Folder; default generated/NAME.", show_default=False)] = None,
    functions: Annotated[list[str], typer.Option(
        "-f", "--functions", metavar="NAMES",
        help="Comma-separated or repeated; options as in frame_jacobian:frame=tool.")] = _DEFAULT,
    bake: Annotated[bool, typer.Option("--bake", help="Parameters become constants.")] = False,
    native: Annotated[bool, typer.Option("--native", help="For this processor only.")] = False,
    sparse: Annotated[bool, typer.Option(
        "--sparse", help="Matrices keep their structural zeros out.")] = False,
    form: Annotated[str, typer.Option(help="auto, inlined or rolled.")] = "auto",
    algorithm: Annotated[list[str], typer.Option(
        "--algorithm", metavar="NAME=ALGORITHM",
        help="As in fd=crba; comma-separated or repeated. See docs/algorithms.md.")] = _NONE,
    output_format: Format = OutputFormat.text,
    debug: Debug = False,
) -> None:
    """Compile functions of a model into a library with C, header and manifest."""
    with reporting(debug, output_format):
        from anyjoint import api, report, requests

        names = [name for text in functions for name in text.split(",") if name.strip()]
        with report.working(f"compiling {model}", output_format is OutputFormat.text):
            m = api.load(model)
            _warn_of_states(m, output_format)
            folder, current = api.write(m, out, names, bake=bake, native=native,
                                        sparse=sparse, form=form,
                                        algorithms=requests.settings(algorithm))
        if output_format is OutputFormat.json:
            print(json.dumps({"ok": True, "folder": str(folder), "up_to_date": current,
                              "manifest": str(folder / "manifest.json")}, indent=2))
        else:
            report.artifact(folder, current)


@app.command()
def ops(
    model: Annotated[Path | None, typer.Argument(
        help="Model file; without one, six-joint chains.", show_default=False)] = None,
    output_format: Format = OutputFormat.text,
    debug: Debug = False,
) -> None:
    """Count operations by every algorithm: of a model, or of chains beside published counts."""
    with reporting(debug, output_format):
        from anyjoint import api
        from anyjoint import ops as table

        m = None if model is None else api.load(model)
        if output_format is OutputFormat.json:
            print(json.dumps(table.data() if m is None else table.of_model(m), indent=2))
        elif m is None:
            table.show()
        else:
            table.show_model(m)


@app.command()
def schema(debug: Debug = False) -> None:
    """Print the JSON Schema of model files, for editors."""
    with reporting(debug):
        from anyjoint.frontend.schema import json_schema

        print(json.dumps(json_schema(), indent=1))


@app.command()
def new(
    name: Annotated[str, typer.Argument(help="Name of the mechanism.", show_default=False)],
    model: Annotated[str, typer.Option(
        "--from", metavar="MODEL", help="Start from a model that comes with anyjoint: arm, "
        "satellite, …", show_default=False)] = "",
    debug: Debug = False,
) -> None:
    """Write NAME.yaml, a commented model that compiles, and the schema for editors."""
    with reporting(debug):
        from anyjoint.template import write_template

        file = write_template(name, Path.cwd(), model)
        print(f"wrote {file.name}; next:")
        print(f"  anyjoint show {file.name}\n  anyjoint compile {file.name}")


@app.command()
def demo(debug: Debug = False) -> None:
    """Compile models that come with anyjoint, run them, say what was made and how fast."""
    with reporting(debug):
        from anyjoint.demo import run

        run(Path("generated"))


def main() -> None:
    app()


if __name__ == "__main__":
    main()
