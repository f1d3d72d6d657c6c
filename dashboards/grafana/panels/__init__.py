"""Panels, each with a title, a description that says what is normal and what to do, a unit and a scale of colours."""

from dashboards.grafana.panels.figures import bars, stat
from dashboards.grafana.panels.lines import lines
from dashboards.grafana.panels.states import heat, history, matrix
from dashboards.grafana.panels.tables import Column, table

__all__ = ["Column", "bars", "heat", "history", "lines", "matrix", "stat", "table"]
