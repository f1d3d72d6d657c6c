"""A network namespace of its own for a run, with nothing but the loopback; and the page that a run is written to."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.sections import Section

_INSIDE = "TRUERAIL_BENCH_NAMESPACE"


def enter_namespace(module: str, arguments: Sequence[str] | None) -> None:
    """Runs the module again in a namespace, unless this is that run. Needs root."""
    if os.environ.get(_INSIDE):
        return
    again = [sys.executable, "-m", module, *(arguments if arguments is not None else sys.argv[1:])]
    limits = 'ip link set lo up && ulimit -n "$(ulimit -Hn)" && exec "$@"'
    os.environ[_INSIDE] = "1"
    os.execvp("unshare", ["unshare", "--net", "sh", "-c", limits, "sh", *again])  # noqa: S606, S607 - util-linux


def write(text: str, page: Path | None, name: str, title: str) -> None:
    """Prints a section, and places it in a page, if one is given."""
    if page:
        at = Section(name)
        known = page.read_text() if page.exists() else f"# {title}\n"
        page.write_text(at.placed(known, at.marked(text)))
    sys.stdout.write(text)
