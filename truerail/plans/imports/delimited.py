"""Delimited text as a table: comma, semicolon or tab."""

import csv
import io

from truerail.files.problems import Problem
from truerail.plans.csv_columns import unguarded
from truerail.plans.imports.tables import Table
from truerail.plans.plan_error import PlanError

_DELIMITERS = (",", ";", "\t")


def table_of(text: str, file: str) -> Table:
    """The lines of a file. Raises `PlanError` with the line that is not CSV."""
    head = text[: text.find("\n") + 1 or 4096]
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=max(_DELIMITERS, key=head.count), strict=True)
    try:
        rows = [(lines.line_num, [unguarded(cell.strip()) for cell in cells]) for cells in lines]
    except csv.Error as error:
        raise PlanError([Problem(file, lines.line_num, "", f"not CSV: {error}")]) from error
    return Table("", rows)
