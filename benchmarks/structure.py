"""The size of the house: the table of CONTRIBUTING.md is its budget, which only falls.

python -m benchmarks.structure            prints the figures of now, each with its budget
python -m benchmarks.structure --lower    writes what is less than its budget into the table
"""

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "CONTRIBUTING.md"
PRODUCT = ("truerail", "collector", "rules")
GENERATED = (
    *("dashboards/generated/", "docs/runbooks/", "docs/asked.md", "docs/metrics.md", "rules/README.md"),
    *("collector/README.md", "deploy/ansible/roles/truerail_device/files/"),
)
COMPLEX = 20
"""Cyclomatic complexity above which a function is of class D or worse."""
ROW = re.compile(r"^\| (?P<name>[^|]+?) \| (?P<most>[\d,]+) \| (?P<goal>[\d,]*) \|$", re.MULTILINE)
"""A figure in the table, the most that it may be, and where it is to go."""


def main(arguments: list[str]) -> int:
    """Prints one figure a line. Returns the exit code: 1 if one is over its budget."""
    figures, most = measured(), budgets()
    if "--lower" in arguments:
        text = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(ROW.sub(lambda row: _lowered(row, figures), text), encoding="utf-8")
    else:
        for name, figure in figures.items():
            sys.stdout.write(f"{figure:>8,} of {most.get(name, 0):>8,}  {name}\n")
    return int(any(figure > most.get(name, 0) for name, figure in figures.items()))


def budgets() -> dict[str, int]:
    """The most that each figure may be, by its name in the table of CONTRIBUTING.md."""
    rows = ROW.finditer(PAGE.read_text(encoding="utf-8"))
    return {row["name"]: int(row["most"].replace(",", "")) for row in rows}


def measured() -> dict[str, int]:
    """The figures of this tree, by the names that the table of CONTRIBUTING.md uses.

    A source line is a line with code: no docstring, comment or blank.
    """
    product = [path for folder in PRODUCT for path in (ROOT / folder).rglob("*.py")]
    rooms: Counter[str] = Counter()
    for path in (*product, *(ROOT / "tests").rglob("*.py")):
        rooms[_room(path)] += source_lines(path)
    names = Counter(path.name for path in product if path.name != "__init__.py")
    return {
        **{name: rooms[name] for name in sorted(rooms, key=lambda name: -rooms[name]) if name != "tests"},
        "product, source lines": sum(count for name, count in rooms.items() if name != "tests"),
        "product, files": len(product),
        "module names used more than once": sum(count > 1 for count in names.values()),
        "functions of complexity D or worse": _complex(),
        "tests, source lines": rooms["tests"],
        "generated lines that are committed": sum(map(_lines, _generated())),
    }


def _room(path: Path) -> str:
    """`truerail/plans`, `collector`, or `truerail` for the files that are in no room."""
    parts = path.relative_to(ROOT).parts
    return "/".join(parts[:2]) if parts[0] == "truerail" and len(parts) > 2 else parts[0]


def _lowered(row: re.Match[str], figures: dict[str, int]) -> str:
    """A row of the table, as it is where its figure is not below it; 0 where its room is gone."""
    most = min(int(row["most"].replace(",", "")), figures.get(row["name"], 0))
    return f"| {row['name']} | {most:,} | {row['goal']} |"


def source_lines(path: Path) -> int:
    """Lines with code: without blank lines, comments and texts that are statements, as docstrings are."""
    text = path.read_text(encoding="utf-8")
    code = {number for number, line in enumerate(text.splitlines(), 1) if line.lstrip()[:1] not in ("", "#")}
    for first, last in _docstrings(ast.parse(text)):
        code.difference_update(range(first, last + 1))
    return len(code)


def _docstrings(tree: ast.AST) -> Iterator[tuple[int, int]]:
    """The first and the last line of each; only statements are walked, which is four times as fast as everything."""
    for part in ("body", "orelse", "finalbody", "handlers"):
        for node in getattr(tree, part, ()):
            if (
                isinstance(node, ast.Expr)
                and isinstance(node.value, ast.Constant)
                and isinstance(node.value.value, str)
            ):
                yield node.lineno, node.end_lineno or node.lineno
            elif isinstance(node, ast.stmt | ast.ExceptHandler):
                yield from _docstrings(node)


def _complex() -> int:
    """Functions that ruff counts as more complex than COMPLEX."""
    options = f"--select C901 --config lint.mccabe.max-complexity={COMPLEX} --output-format concise".split()
    command = [sys.executable, "-m", "ruff", "check", *options, *PRODUCT]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - ruff on this tree
    return done.stdout.count("C901")


def _generated() -> Iterator[Path]:
    for name in GENERATED:
        yield from filter(Path.is_file, (ROOT / name).rglob("*") if name.endswith("/") else [ROOT / name])


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
