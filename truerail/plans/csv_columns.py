"""The columns of native CSV, its cells, and those that a spreadsheet cannot take for formulas."""

import csv
import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _csv import Reader

NEEDED = ("a_device", "a_role", "a_port", "b_device", "b_role", "b_port", "rail")
"""Columns that a file must have."""
DEVICE_FIELDS = (
    *("device", "role", "rack", "unit", "pod", "gpus", "platform", "address"),
    *("aliases", "chassis_ids", "serials"),
)
"""Columns for the device at each end, as `a_...` and `b_...`; names after `address` are lists, split at blanks."""
PANEL = "panel"
"""In place of a role, where a cable ends in a patch panel because its path has a gap."""
LINK_COLUMNS = (
    *("rail", "plane", "speed_gbps", "length_m"),
    *("fabric", "transport", "load_balancing", "rail_name", "rail_vlans", "rail_subnets"),
)
"""Columns for the cable, the fabric and its rail, besides the ends' names and the label."""
FRONT = (*NEEDED, "plane", "speed_gbps")
"""The columns that every written file has, in this order."""
BACK = (
    *("label", "a_rack", "a_unit", "b_rack", "b_unit", "length_m", "via", "via_places", "a_pod", "b_pod", "a_gpus"),
    *("a_platform", "b_platform"),
    *("a_address", "b_address", "a_aliases", "b_aliases", "a_chassis_ids", "b_chassis_ids"),
    *("a_serials", "b_serials"),
    *("fabric", "transport", "load_balancing", "rail_name", "rail_vlans", "rail_subnets"),
)
"""The columns that are written if any line has a value in them."""
COLUMNS = (*FRONT, *BACK, "b_gpus")

DELIMITERS = (",", ";", "\t")
_RISKY = tuple("=+-@\t\r'")


def guarded(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula: an apostrophe before what would start one."""
    return f"'{cell}" if cell.startswith(_RISKY) else cell


def unguarded(cell: str) -> str:
    """The cell without the apostrophe that `guarded` put there."""
    return cell[1:] if cell[:1] == "'" and cell[1:].startswith(_RISKY) else cell


def cells_of(text: str) -> "Reader":
    """The lines of delimited text as cells, their delimiter the one that the first line with any has most. Iterating
    raises `csv.Error`.
    """
    head = next((line for line in text[:4096].split("\n") if any(sign in line for sign in DELIMITERS)), "")
    delimiter = max(DELIMITERS, key=head.count)
    return csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=delimiter, strict=True)
