"""The options of a report."""

from dataclasses import dataclass

from truerail.model import Severity


@dataclass(frozen=True, slots=True)
class Options:
    """`width` in columns and `color` apply to the text report, `details` to text and HTML; `ascii` draws it in ASCII
    only.
    """

    width: int = 100
    color: bool = False
    details: bool = False
    ascii: bool = False
    fail_on: Severity = Severity.WARNING
    """The lowest severity that is a failed test in the JUnit report."""
    next_step: str = ""
    """The command that shows more, named where the text report leaves something out."""
