"""What a check has to say against a dashboard."""

from typing import NamedTuple

from dashboards.check.boards import Board, Panel


class Complaint(NamedTuple):
    """One shortcoming, with the rule that it breaks and where."""

    rule: str
    file: str
    where: str
    summary: str

    def __str__(self) -> str:
        return f"{self.file}: {self.where}: {self.summary} ({self.rule})"


def of_board(rule: str, board: Board, summary: str) -> Complaint:
    """About a dashboard as a whole."""
    return Complaint(rule, board.file, str(board.json.get("title", "no title")), summary)


def of_panel(rule: str, board: Board, panel: Panel, summary: str) -> Complaint:
    """About one panel."""
    return Complaint(rule, board.file, panel.title, summary)
