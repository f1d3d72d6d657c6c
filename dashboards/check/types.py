"""Dashboards checked by TypeScript's compiler against the types that Grafana publishes (npm @grafana/schema)."""

import json
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from dashboards.check.boards import ROOT, Board, Panel

NODE: Final = ROOT / ".venv-deploy"
"""Where `requirements/setup.sh deploy` puts node, tsc and the types."""
OF_PROMETHEUS: Final = frozenset(("expr", "step", "tagKeys", "textFormat", "titleFormat", "useValueForTime"))
"""https://grafana.com/docs/grafana/latest/datasources/prometheus/annotations/"""
_RAW: Final = "@grafana/schema/dist/types/raw"
_HEAD: Final = """\
// Grafana's types name strings by enums; a file holds their values.
type AsWritten<T> = T extends string ? `${T}` : T extends object ? { [K in keyof T]: AsWritten<T[K]> } : T;
type Some<T> = T extends object ? { [K in keyof T]?: Some<T[K]> } : T;
"""


class NoTypes(RuntimeError):  # noqa: N818 - what is the matter
    """The compiler or the types are not installed."""


def complaints(boards: Sequence[Board], folder: Path) -> list[str]:
    """What the compiler says against the dashboards, each with the file and the line in `folder`, which it fills.

    Raises NoTypes where node, tsc or the types are missing.
    """
    modules, node = NODE / "node/node_modules", NODE / "bin/node"
    compiler = modules / "typescript/bin/tsc"
    if not (compiler.exists() and node.exists() and (modules / "@grafana/schema").is_dir()):
        raise NoTypes("npm @grafana/schema is not installed: requirements/setup.sh deploy")
    (folder / "node_modules").symlink_to(modules)
    sources = [_write(folder / f"{board.file}.ts", board, modules) for board in boards]
    options = ["--noEmit", "--strict", "--skipLibCheck", "--module", "esnext", "--moduleResolution", "bundler"]
    done = subprocess.run(  # noqa: S603 - our own compiler on files that we wrote
        [node, compiler, *options, *sources], cwd=folder, capture_output=True, text=True, check=False
    )
    said = done.stdout + done.stderr
    if done.returncode and not said.strip():
        raise NoTypes(f"tsc ended with {done.returncode} and said nothing")
    return [line for line in said.splitlines() if re.match(r"\S", line)] if done.returncode else []


def _write(path: Path, board: Board, modules: Path) -> str:
    path.write_text("\n".join(source(board, modules)), encoding="utf-8")
    return path.name


def source(board: Board, modules: Path) -> Iterator[str]:
    """A dashboard as TypeScript: the whole, and the options and fields of each panel whose types are published."""
    yield _HEAD
    yield f'import type {{ Dashboard }} from "./node_modules/{_RAW}/dashboard/x/types.gen";'
    yield f"export const dashboard: AsWritten<Dashboard> = {json.dumps(_typed(board.json), indent=1)};"
    for number, panel in enumerate(board.panels):
        yield from _panel(number, panel, modules)


def _typed(board: Mapping[str, Any]) -> dict[str, Any]:
    """A dashboard without the fields of annotations that Prometheus alone has: their types are not published."""
    marks = [{key: value for key, value in one.items() if key not in OF_PROMETHEUS}
             for one in board["annotations"]["list"]]  # fmt: skip
    return {**board, "annotations": {"list": marks}}


def _panel(number: int, panel: Panel, modules: Path) -> Iterator[str]:
    module = f"{_RAW}/composable/{panel.type.replace('-', '')}/panelcfg/x/types.gen"
    published = modules / f"{module}.d.ts"
    if not published.exists():
        return
    names = set(re.findall(r"^export (?:interface|type) (Options|FieldConfig)\b", published.read_text(), re.MULTILINE))
    values: dict[str, Any] = {
        "Options": panel.json.get("options", {}),
        "FieldConfig": panel.json.get("fieldConfig", {}).get("defaults", {}).get("custom", {}),
    }
    for name in sorted(names):
        yield f'import type {{ {name} as {name}{number} }} from "./node_modules/{module}";'
        text = json.dumps(values[name], indent=1)
        yield f"// {panel.title}\nexport const {name.lower()}{number}: Some<AsWritten<{name}{number}>> = {text};"
