"""Reports of evaluations for people and machines. They contain no analysis of their own."""

from enum import StrEnum


class Format(StrEnum):
    """The formats of a report."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"
    XLSX = "xlsx"
    JUNIT = "junit"
    HTML = "html"
