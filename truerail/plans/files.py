"""Plan files: which reader a file gets, and what is refused before reading."""

from pathlib import Path

from truerail.model import Plan
from truerail.plans.csv_read import read_csv
from truerail.plans.dot_read import read_dot
from truerail.plans.pause import garbage_collection_paused
from truerail.plans.problems import PlanError, Problem
from truerail.plans.yaml_read import read_yaml

SUFFIXES = (".yaml", ".yml", ".csv", ".dot", ".gv")
_MOST_BYTES = {".yaml": 64 << 20, ".yml": 64 << 20, ".dot": 64 << 20, ".gv": 64 << 20, ".csv": 512 << 20}


def load(path: Path) -> Plan:
    """The plan in a file, by its suffix: .yaml, .yml, .csv, .dot or .gv. Raises `PlanError` with all problems."""
    file = str(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise PlanError([Problem(file, 0, path.suffix, f"expected a plan file: {', '.join(SUFFIXES)}")])
    try:
        size = path.stat().st_size
        if size > _MOST_BYTES[suffix]:
            raise PlanError([Problem(file, 0, f"{size:,} bytes", f"larger than {_MOST_BYTES[suffix]:,} bytes")])
        raw = path.read_bytes()
    except OSError as error:
        raise PlanError([Problem(file, 0, "", f"cannot be read: {error.strerror or error}")]) from error
    return loads(_decoded(raw, file), suffix, file)


def _decoded(raw: bytes, file: str) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        byte = f"0x{raw[error.start]:02x}"
        raise PlanError([Problem(file, line, byte, "not UTF-8; save the file as UTF-8")]) from error


@garbage_collection_paused()
def loads(text: str, suffix: str, file: str = "") -> Plan:
    """The plan in `text`; `suffix` tells the format as for `load`, `file` is the name that problems show."""
    if suffix in (".yaml", ".yml"):
        return read_yaml(text, file)
    if suffix == ".csv":
        return read_csv(text, file)
    if suffix in (".dot", ".gv"):
        return read_dot(text, file)
    raise PlanError([Problem(file, 0, suffix, f"expected one of {', '.join(SUFFIXES)}")])
