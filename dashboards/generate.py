"""Writes what is made from the rules and the boards, and committed: dashboards, rules, routes and runbooks.

python -m dashboards.generate             writes it beside the code
python -m dashboards.generate --check     exits with 1 where a file is not current

`truerail monitoring export DIR` writes the same for a site, and all that is derived from it.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from dashboards.grafana.boards import BOARDS
from dashboards.grafana.links import uid
from dashboards.grafana.written import text as board_text
from dashboards.outputs.alertmanager import TEMPLATES, alertmanager, templates
from dashboards.outputs.prometheus import rules_file
from dashboards.outputs.runbooks import NOTE, runbooks
from dashboards.rules import GROUPS
from rules import rules
from truerail.outputs.monitoring import RULES, RUNBOOKS, TRUERAIL, write

ROOT: Final = Path(__file__).resolve().parent.parent
GENERATED: Final = "dashboards/generated"


def files() -> dict[str, str]:
    """Every generated file by its path."""
    made = {
        f"{GENERATED}/{RULES}": rules_file(GROUPS, RUNBOOKS),
        f"{GENERATED}/alertmanager/alertmanager.yml": alertmanager(),
        f"{GENERATED}/alertmanager/{TEMPLATES}": templates(),
    }
    boards = {f"{GENERATED}/grafana/{uid(board.name)}.json": board_text(board, TRUERAIL) for board in BOARDS}
    return made | boards | {f"docs/runbooks/{name}": text for name, text in runbooks(rules()).items()}


def stale(root: Path, made: dict[str, str]) -> list[str]:
    """The files that are missing, differ, or are no longer made. Runbooks that are written by hand are none of them."""
    made_before = [path for path in _below(root / "docs/runbooks") if path.read_text(encoding="utf-8").startswith(NOTE)]
    kept = {str(path.relative_to(root)) for path in (*_below(root / GENERATED), *made_before)}
    return sorted((kept - made.keys()) | {name for name, text in made.items() if _read(root / name) != text})


def main(arguments: Sequence[str]) -> int:
    """Writes or checks. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m dashboards.generate", description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 where a file is not current")
    parser.add_argument("--out", type=Path, default=ROOT, help="where to write (default: beside the code)")
    options = parser.parse_args(arguments)
    made = files()
    differ = stale(options.out, made)
    if options.check:
        sys.stderr.writelines(f"{name} is not current: run `make docs`\n" for name in differ)
        return 1 if differ else 0
    for name in differ:
        if name not in made:
            (options.out / name).unlink()
    write(options.out, {name: made[name] for name in differ if name in made})
    return 0


def _below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
