"""Plan files: which reader a file gets, and what is refused before reading.

A file in a format of its own (`a_device` in the header of CSV, the keys of `docs/plan.md` in YAML, DOT) has its reader;
everything else is a cable list of another tool, see `truerail.plans.imports`: so is CSV with `a_device` and no role.

Ports that a plan does not name: `?1`, `?2`, ... where a file names only the devices of its cables.
"""

import re
from pathlib import Path

from truerail.files.file_text import read_text
from truerail.files.problems import PlanError, Problem, nearest
from truerail.model import Plan
from truerail.model.pause import garbage_collection_paused
from truerail.plans import imports
from truerail.plans.csv_plans import read_csv
from truerail.plans.dot import read_dot
from truerail.plans.imports.import_row import UNNAMED
from truerail.plans.plan_yaml_read import read_yaml


def check_named(plan: Plan) -> Plan:
    """The plan itself. Raises `PlanError` if nothing can be evaluated against it, because ports have no names."""
    if unnamed := [end for cable in plan.cables for end in cable[:2] if end.name.startswith(UNNAMED)]:
        first = f"{len(unnamed):,} ports have no name, the first is {unnamed[0]}"
        raise PlanError([Problem(plan.source, 0, "", f"{first}: name them in the output of `truerail plan convert`")])
    return plan


_READERS = {".yaml": read_yaml, ".yml": read_yaml, ".csv": read_csv, ".dot": read_dot, ".gv": read_dot}
"""By suffix, what reads a format of this project."""
OWN = tuple(_READERS)
_OWN_CSV = tuple(re.compile(rf"(?:^|[,;\t\"\ufeff])\s*[ab]_{word}\b", re.IGNORECASE) for word in ("device", "role"))
_OWN_YAML = re.compile(r"^(?:hosts|leaves|spines|superspines|host_links|uplinks|rails)\s*:", re.MULTILINE)
_IN_TABLES = ("p2p", "ndt", "netbox", "apstra", "shcd", "sonic")
"""Formats of which some are tables."""
_FOREIGN_YAML = re.compile(r"^(?:nodes|topology)\s*:", re.MULTILINE)
"""Keys of other tools' files, which may have hosts too."""
_MOST_BYTES = {**dict.fromkeys(OWN, 64 << 20), ".csv": 512 << 20}


def load(path: Path, *, out_of_band: bool = False, unnamed: bool = False, form: str = "") -> Plan:
    """The plan in a file, its format by suffix and content, or `form`. `out_of_band` keeps the cables of the management
    network that a cable list of another tool has; `unnamed` takes a plan with ports that have no name, which nothing
    can be evaluated against. Raises `PlanError` with all problems.
    """
    plan = _load_as(path, form, out_of_band=out_of_band) if form else _load(path, out_of_band=out_of_band)
    return plan if unnamed else check_named(plan)


def _load_as(path: Path, form: str, *, out_of_band: bool) -> Plan:
    """The plan in a file of one format, whatever its suffix."""
    file = str(path)
    if f".{form}" in OWN:
        return loads(read_text(path, _MOST_BYTES[f".{form}"], PlanError), f".{form}", file)
    names = {name.lower().replace(" ", "-"): name for name in imports.NAMES}
    wanted = [name for word, name in names.items() if form.lower() in word]
    wanted += ["workbook", "cable list"] if form.lower() in _IN_TABLES else []
    if not wanted:
        known = (*(suffix.removeprefix(".") for suffix in OWN), *names)
        raise PlanError([Problem(file, 0, form, f"no such format{nearest(form, known)}")])
    found = imports.import_plan(path, out_of_band=out_of_band)
    if found.format not in wanted:
        raise PlanError([Problem(file, 0, "", f"expected {' or '.join(wanted)}, recognized is {found.format}")])
    return found.plan


def _load(path: Path, *, out_of_band: bool) -> Plan:
    file = str(path)
    suffix = path.suffix.lower()
    if suffix in imports.SUFFIXES:
        return imports.import_plan(path, out_of_band=out_of_band).plan
    if suffix not in OWN:
        known = ", ".join((*OWN, *imports.SUFFIXES))
        raise PlanError([Problem(file, 0, path.suffix, f"expected a plan file: {known}")])
    text = read_text(path, _MOST_BYTES[suffix], PlanError)
    imported = None if _is_own(text, suffix) else imports.import_text(text, file, out_of_band=out_of_band)
    return imported.plan if imported else loads(text, suffix, file)


def _is_own(text: str, suffix: str) -> bool:
    """Whether a file says that it is in a format of this project. One of no known format is read as that, whose errors
    name lines and columns.
    """
    if suffix == ".csv":
        header = text[:4096].partition("\n")[0]
        return all(word.search(header) for word in _OWN_CSV)
    own = _OWN_YAML.search(text) is not None and _FOREIGN_YAML.search(text) is None
    return own or suffix in (".dot", ".gv")


@garbage_collection_paused()
def loads(text: str, suffix: str, file: str = "") -> Plan:
    """The plan in `text`; `suffix` determines the format as for `load`, `file` is the name that problems show."""
    if suffix not in _READERS:
        raise PlanError([Problem(file, 0, suffix, f"expected one of {', '.join(OWN)}")])
    return _READERS[suffix](text, file)
