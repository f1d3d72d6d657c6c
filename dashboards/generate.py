"""Writes everything that is made from the rules and the boards.

python -m dashboards.generate                          writes it beside the code
python -m dashboards.generate --check                  exits with 1 where a file is not current
python -m dashboards.generate --out DIR --runbooks URL --truerail URL
                                       for a site: alerts lead to its runbooks, dashboards to its truerail
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from dashboards.grafana.boards import BOARDS
from dashboards.grafana.links import uid
from dashboards.grafana.variables import TRUERAIL
from dashboards.grafana.written import text as board_text
from dashboards.outputs.alertmanager import alertmanager
from dashboards.outputs.grafana_alerting import provisioning
from dashboards.outputs.kustomization import kustomization
from dashboards.outputs.prometheus import prometheus_rule, rules_file
from dashboards.outputs.promtool import unit_tests
from dashboards.outputs.runbooks import runbooks
from dashboards.rules import CHAPTERS, GROUPS
from rules import rules

ROOT: Final = Path(__file__).resolve().parent.parent
RUNBOOKS: Final = "https://truerail.example.net/docs/runbooks"
"""Where runbooks are read; a site says its own."""
GENERATED: Final = "dashboards/generated"


def files(url: str = RUNBOOKS, truerail: str = TRUERAIL) -> dict[str, str]:
    """Every generated file by its path. `url` leads to the runbooks, `truerail` to truerail's page."""
    quiet = [replace(group, alerts=()) for group in GROUPS if group.records]
    made = {
        f"{GENERATED}/prometheus/truerail.rules.yaml": rules_file(GROUPS, url),
        f"{GENERATED}/prometheus-records/truerail.records.yaml": rules_file(quiet, url),
        f"{GENERATED}/kubernetes/truerail.prometheusrule.yaml": prometheus_rule(GROUPS, url),
        f"{GENERATED}/grafana-alerting/truerail.yaml": provisioning(GROUPS, url),
        f"{GENERATED}/alertmanager/alertmanager.yml": alertmanager(),
    }
    tests = {
        f"{GENERATED}/tests/{chapter.name.removeprefix('truerail.')}.yaml": unit_tests(chapter, url)
        for chapter in CHAPTERS
    }
    pages = {f"docs/runbooks/{name}": text for name, text in runbooks(rules()).items()}
    boards = {f"grafana/{uid(board.name)}.json": board_text(board, truerail) for board in BOARDS}
    together = {"kustomization.yaml": kustomization(boards, ["kubernetes/truerail.prometheusrule.yaml"])}
    return made | tests | pages | {f"{GENERATED}/{name}": text for name, text in (boards | together).items()}


def stale(root: Path, made: dict[str, str]) -> list[str]:
    """The files that are missing, differ, or are no longer made."""
    kept = {str(path.relative_to(root)) for folder in (GENERATED, "docs/runbooks") for path in _below(root / folder)}
    return sorted((kept - made.keys()) | {name for name, text in made.items() if _read(root / name) != text})


def main(arguments: Sequence[str]) -> int:
    """Writes or checks. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m dashboards.generate", description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 where a file is not current")
    parser.add_argument("--out", type=Path, default=ROOT, help="where to write (default: beside the code)")
    parser.add_argument("--runbooks", default=RUNBOOKS, help="address under which docs/runbooks is served")
    parser.add_argument("--truerail", default=TRUERAIL, help="address of truerail's page, for links from dashboards")
    asked = parser.parse_args(arguments)
    made = files(asked.runbooks, asked.truerail.rstrip("/"))
    differ = stale(asked.out, made)
    if asked.check:
        sys.stderr.writelines(f"{name} is not current: run `make docs`\n" for name in differ)
        return 1 if differ else 0
    for name in differ:
        _write(asked.out / name, made.get(name))
    return 0


def _write(path: Path, text: str | None) -> None:
    if text is None:
        path.unlink()
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
