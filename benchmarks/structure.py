"""The size and the language of the house, as figures: a compass, not limits.

python benchmarks/structure.py
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PRODUCT = ("truerail", "collector", "rules")
DIALECT = re.compile(r"\b(told|anew|whom|nobody|whoever|lets go|stands for)\b", re.IGNORECASE)
"""Words for which the field has others (report, again, no device, releases, means)."""
GENERATED = ("dashboards/generated/", "docs/runbooks/", "rules/README.md", "collector/README.md", "deploy/ansible/")
COMPLEX = 20
"""Cyclomatic complexity above which a function is of class D or worse."""


def main() -> int:
    """Prints one figure a line."""
    tracked = [ROOT / name for name in _git("ls-files").splitlines()]
    product = [path for path in tracked if path.suffix == ".py" and _top(path) in PRODUCT]
    truerail = [path for path in product if _top(path) == "truerail"]
    names = Counter(path.name for path in truerail if path.name != "__init__.py")
    words = [
        path for path in tracked if _top(path) in (*PRODUCT, "docs") or path.name in ("README.md", "CONTRIBUTING.md")
    ]
    for what, figure in (
        ("source lines of product Python", sum(map(source_lines, product))),
        ("committed generated lines", sum(map(_lines, filter(_is_generated, tracked)))),
        ("files under truerail", len(truerail)),
        ("module names used more than once", sum(count > 1 for count in names.values())),
        ("caches in __dict__", sum(path.read_text().count("__dict__") for path in product)),
        (
            "functions that keep results with @kept",
            sum(len(re.findall(r"@kept\b", path.read_text())) for path in product),
        ),
        ("words of the old dialect", sum(map(dialect_words, words))),
        ("functions of complexity D or worse", _complex()),
    ):
        sys.stdout.write(f"{figure:>8,}  {what}\n")
    return 0


def source_lines(path: Path) -> int:
    """Lines with code: without blank lines, comments and docstrings."""
    text = path.read_text(encoding="utf-8")
    found: set[int] = set()
    skipped = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in skipped:
            found.update(range(token.start[0], token.end[0] + 1))
    for first, last in _docstrings(ast.parse(text)):
        found.difference_update(range(first, last + 1))
    return len(found)


def dialect_words(path: Path) -> int:
    """How often a text uses the old words."""
    return len(DIALECT.findall(path.read_text(encoding="utf-8", errors="replace")))


def _docstrings(tree: ast.AST) -> Iterator[tuple[int, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.end_lineno or node.lineno


def _complex() -> int:
    limit = f"lint.mccabe.max-complexity={COMPLEX}"
    command = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--select",
        "C901",
        "--config",
        limit,
        "--output-format",
        "concise",
    ]
    found = subprocess.run([*command, *PRODUCT], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - ruff on this tree
    return found.stdout.count("C901")


def _git(*arguments: str) -> str:
    command = ["git", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout  # noqa: S603 - as above


def _is_generated(path: Path) -> bool:
    return path.relative_to(ROOT).as_posix().startswith(GENERATED)


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n")


def _top(path: Path) -> str:
    return path.relative_to(ROOT).parts[0]


if __name__ == "__main__":
    sys.exit(main())
