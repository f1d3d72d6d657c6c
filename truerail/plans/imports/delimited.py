"""Delimited text as a table: comma, semicolon or tab."""

import csv

from truerail.files.problems import Problem
from truerail.plans.csv_columns import cells_of, unguarded
from truerail.plans.imports.tables import Table
from truerail.plans.plan_error import PlanError


def table_of(text: str, file: str) -> Table:
    """The lines of a file. Raises `PlanError` with the line that is not CSV."""
    lines = cells_of(text)
    try:
        rows = [(lines.line_num, [unguarded(cell.strip()) for cell in cells]) for cells in lines]
    except csv.Error as error:
        raise PlanError([Problem(file, lines.line_num, "", f"not CSV: {error}")]) from error
    return Table("", rows)
