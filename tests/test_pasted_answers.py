"""What people do to an answer before it is in a capture changes no fact: terminals, pagers, editors, tickets.

Each recording that can be read is put through every such change. A change either leaves the facts as they are, or the
answer is refused: it never silently loses or alters a neighbour, a link or a counter.
"""

from collections.abc import Callable

import pytest

from collector import collectors
from tests.each import each
from tests.test_cut_answers import ANY, CASES, RECORDINGS, outcome, recorded
from truerail.errors import UnreadableError
from truerail.model import Fact
from truerail.model.nccl_facts import NcclTorn

CHANGES_NOTHING: dict[str, Callable[[str], str]] = {
    "carriage returns": lambda answer: answer.replace("\r\n", "\n").replace("\n", "\r\n"),
    "a byte order mark": lambda answer: "\ufeff" + answer,
    "escapes around it": lambda answer: f"\x1b[?2004l\x1b[0m{answer}\x1b[0m",
}
CHANGES_NOTHING_OR_IS_REFUSED: dict[str, Callable[[str], str]] = {
    "indented": lambda answer: "".join("    " + line for line in answer.splitlines(keepends=True)),
    "every other line empty": lambda answer: answer.replace("\n", "\n\n"),
    "quoted": lambda answer: "".join("> " + line for line in answer.splitlines(keepends=True)),
    "below a prompt": lambda answer: "user@device:~$ show it\n" + answer,
}
PAGERS = (
    "--More--",
    " --More-- \b\b\b\b\b\b\b\b\b        \b\b\b\b\b\b\b\b\b",
    "\x1b[7m--More--\x1b[27m\r        \r",
    "---(more 45%)---\r                \r",
    "---- More ----\x1b[16D                \x1b[16D",
    "<--- More --->\r              \r",
)


def lost_aloud(seen: tuple[Fact, ...] | None, whole: tuple[Fact, ...] | None) -> bool:
    """Whether the lines that were left out of a log are counted, and nothing else is said than before."""
    counted = any(isinstance(fact, NcclTorn) for fact in seen or ())
    return counted and all(fact in (whole or ()) for fact in seen or () if not isinstance(fact, NcclTorn))


@pytest.mark.parametrize("change", CHANGES_NOTHING)
def test_a_terminal_and_an_editor_change_no_fact(change: str) -> None:
    for case in CASES:
        answer, whole = recorded(case)
        assert outcome(case.parent.name, CHANGES_NOTHING[change](answer)) == whole, case


@pytest.mark.parametrize("change", CHANGES_NOTHING_OR_IS_REFUSED)
def test_a_paste_changes_no_fact_or_is_refused(change: str) -> None:
    kept = 0
    for case in CASES:
        answer, whole = recorded(case)
        seen = outcome(case.parent.name, CHANGES_NOTHING_OR_IS_REFUSED[change](answer))
        assert seen in (None, whole) or lost_aloud(seen, whole), case
        kept += seen == whole
    assert kept > len(CASES) // 3


@each("pager", PAGERS)
@each("case", ["nxos-table", "nxos-detail-text", "ios-table-crlf", "junos-table", "eos-detail-text"])
def test_a_pager_that_stops_before_any_line_changes_no_fact(case: str, pager: str) -> None:
    answer, whole = recorded(RECORDINGS / "lldp_switch" / case)
    lines = answer.splitlines(keepends=True)
    for at in range(1, len(lines)):
        if not lines[at][0].isspace():
            assert outcome("lldp_switch", "".join((*lines[:at], pager, *lines[at:]))) == whole, at


def test_a_fence_of_markdown_is_no_line_of_the_answer() -> None:
    for case in CASES:
        answer, whole = recorded(case)
        if answer.endswith("\n"):
            seen = outcome(case.parent.name, f"```text\n{answer}```\n")
            assert seen in (None, whole) or lost_aloud(seen, whole), case


def test_no_report_of_rdma_core_that_is_cut_is_one_of_no_device() -> None:
    for case in ("ibstat", "ibstatus", "ibv_devinfo_verbose"):
        lines = recorded(RECORDINGS / "rdma_link" / case)[0].splitlines(keepends=True)
        assert all(outcome("rdma_link", "".join(lines[:end])) != () for end in range(len(lines)))


def test_line_numbers_are_those_of_the_answer_as_it_came() -> None:
    answer = "```\n\x1b[0m--More--\nlink mlx5_0/1 state ACTIVE\nlink mlx5_1/1 state NEVER\n"
    with pytest.raises(UnreadableError, match=r"^line 4: not a port state: 'NEVER'"):
        collectors()["rdma_link"].read(answer, ANY)
