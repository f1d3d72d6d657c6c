"""Plan files: which reader a file gets, and what is refused before reading."""

from pathlib import Path

from truerail.files.file_text import read_text
from truerail.files.problems import Problem
from truerail.model import Plan
from truerail.model.pause import garbage_collection_paused
from truerail.plans.csv_read import read_csv
from truerail.plans.dot_read import read_dot
from truerail.plans.plan_error import PlanError
from truerail.plans.plan_yaml_read import read_yaml

SUFFIXES = (".yaml", ".yml", ".csv", ".dot", ".gv")
_MOST_BYTES = {".yaml": 64 << 20, ".yml": 64 << 20, ".dot": 64 << 20, ".gv": 64 << 20, ".csv": 512 << 20}


def load(path: Path) -> Plan:
    """The plan in a file, by its suffix: .yaml, .yml, .csv, .dot or .gv. Raises `PlanError` with all problems."""
    file = str(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise PlanError([Problem(file, 0, path.suffix, f"expected a plan file: {', '.join(SUFFIXES)}")])
    return loads(read_text(path, _MOST_BYTES[suffix], PlanError), suffix, file)


@garbage_collection_paused()
def loads(text: str, suffix: str, file: str = "") -> Plan:
    """The plan in `text`; `suffix` determines the format as for `load`, `file` is the name that problems show."""
    if suffix in (".yaml", ".yml"):
        return read_yaml(text, file)
    if suffix == ".csv":
        return read_csv(text, file)
    if suffix in (".dot", ".gv"):
        return read_dot(text, file)
    raise PlanError([Problem(file, 0, suffix, f"expected one of {', '.join(SUFFIXES)}")])
