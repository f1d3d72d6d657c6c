"""Checks the dashboards that were generated: conventions and types. What they answer is checked by the tests.

python -m dashboards.check [DIR]    exits with 1 where something is wrong
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from dashboards.check import types
from dashboards.check.boards import BOARDS, load
from dashboards.check.house import house
from dashboards.check.lint import lint
from dashboards.rules import GROUPS
from truerail.outputs.metrics.declared import CATALOGUE


def main(arguments: Sequence[str]) -> int:
    """Prints every complaint. Returns the exit code."""
    boards = load(Path(arguments[0]) if arguments else BOARDS)
    known = {*CATALOGUE, *(record.name for group in GROUPS for record in group.records)}
    said = [str(complaint) for board in boards for complaint in lint(board)]
    said += [str(complaint) for complaint in house(boards, known)]
    with TemporaryDirectory() as folder:
        said += types.complaints(boards, Path(folder))
    sys.stderr.writelines(f"{line}\n" for line in said)
    sys.stdout.write(f"{len(boards)} dashboards, {len(said)} complaints\n")
    return 1 if said or not boards else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
