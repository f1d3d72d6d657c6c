"""Answers that end early, are printed twice, or come with their numbers as text: no fact is made up of what is left.

Each recording that is read is put through every such change; what is read of it then was there before. A port, a name
or a counter that lost its end would be another one, and a cable that is right would be ordered to be moved.
"""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collector import collectors
from tests.draws import draws
from tests.each import each
from tests.test_recordings import EXCERPTS
from truerail.errors import UnreadableError
from truerail.model import Device, Fact, LinkSpeed, Neighbor, PortCounters, PortIdentity, RdmaLink

RECORDINGS = Path(__file__).parent / "recordings"
CASES = sorted(path.parent for path in RECORDINGS.glob("*/*/facts.json") if not path.parent.name.startswith(EXCERPTS))
"""Cases of whole answers; the others lack what shows that an answer is cut or doubled."""
ANY = Device("any")
REPORTS_OF_TWO_RUNS = frozenset(("pfc_watchdog/two-runs",))
"""The second run counts: cut before it, the first does."""
SUMS = frozenset(("port_counters/nxos-text", "port_counters/ethtool"))
"""Packets that are the sum of what stands in several tables or lines."""
WIDENED = frozenset(("ib_counters/ibdiagnet_pm",))
"""A port's counter of 64 bits follows that of 16 bits, which counts where the answer ends between them."""
WRAPPED = frozenset(("lldp_switch/comware-list", "lldp_switch/comware-7-list"))
"""A table that breaks cells over lines and announces nothing: cut between two lines of a row it looks whole."""
PARTIAL = frozenset(("gpu_nic_topology", "lldp_snmp", "rdma_flows"))
"""Collectors whose answers end with what names things: NICs without the legend have no device, ports of a walk without
IF-MIB go by their numbers. Queue pairs are counted, and nothing says how many lines there are.
"""


def outcome(name: str, answer: str) -> tuple[Fact, ...] | None:
    try:
        return collectors()[name].read(answer, ANY)
    except UnreadableError:
        return None


@cache
def recorded(case: Path) -> tuple[str, tuple[Fact, ...]]:
    answer = (case / "answer.txt").read_bytes().decode()
    return answer, outcome(case.parent.name, answer) or ()


def claims(facts: tuple[Fact, ...]) -> set[tuple[object, ...]]:
    """What facts say that decides where a cable is or how it does, each apart, so that less of it is less. The netdev
    of an RDMA link is left out: it ends its line, and captures that were trimmed have no end of it.
    """
    said: set[tuple[object, ...]] = set()
    for fact in facts:
        if isinstance(fact, PortCounters):
            said.update((fact.port, *counter, value) for counter, value in zip(fact.counters, fact.values, strict=True))
        elif isinstance(fact, Neighbor):
            said.update((fact.port, key, getattr(fact, key)) for key in ("chassis_id", "system_name", "port_id"))
        elif isinstance(fact, LinkSpeed | PortIdentity):
            said.add(tuple(fact))
        elif isinstance(fact, RdmaLink):
            said.update((fact.device, fact.port, key, getattr(fact, key)) for key in ("state", "guid"))
    return {one for one in said if one[-1] is not None}


def label(case: Path) -> str:
    return f"{case.parent.name}/{case.name}"


@settings(max_examples=draws(300, 6000), deadline=None)
@given(data=st.data())
def test_what_is_left_of_a_cut_answer_was_in_the_whole(data: st.DataObject) -> None:
    case = data.draw(st.sampled_from(CASES))
    answer, whole = recorded(case)
    if label(case) in REPORTS_OF_TWO_RUNS | SUMS | WIDENED or case.parent.name in PARTIAL or len(answer) < 2:
        return
    at = data.draw(st.integers(1, len(answer) - 1))
    if label(case) in WRAPPED and answer[:at].rstrip(" ").endswith("\n"):
        return
    left = outcome(case.parent.name, answer[:at])
    assert left is None or claims(left) <= claims(whole), (label(case), answer[max(0, at - 60) : at])


@pytest.mark.parametrize(
    "name", ["lldp_switch/os10-table-labels-again", "lldp_local/junos_text_twice", "lldp_switch/eos-detail-text"]
)
def test_an_answer_is_cut_anywhere(name: str) -> None:
    """With labels that come again, and with values between quotes."""
    case = RECORDINGS / name
    answer, whole = recorded(case)
    for at in range(1, len(answer)):
        left = outcome(case.parent.name, answer[:at])
        assert left is None or claims(left) <= claims(whole), answer[max(0, at - 60) : at]


NOT_ENDED = {
    # the last value, which no end of line follows, is left out, but for one that another answer follows
    "ib_counters/ibdiagnet_pm_cut",
    "ib_counters/perfquery_last_value_cut",
    "link_speed/eos-status-text-cut",
    "lldp_local/sonic_cut_alias",
    "lldp_switch/junos-table-cut-in-an-id",
    "pfc_counters/eos-text",
    "pfc_counters/sonic-cli-unfinished",
    "pfc_counters/sonic-tables-without-line-feed",
    "rdma_counters/files_below_their_names_cut",
    "rdma_counters/statistic_bnxt_quoted",
    "rdma_counters/sysfs_with_states_unfinished",
    "lldp_host/lldptool",  # ends with the prompt of the command that asks about another port
}


@each("case", CASES, ids=label)
def test_an_answer_printed_twice_says_it_once_or_is_refused(case: Path) -> None:
    answer, whole = recorded(case)
    between = ("", "user@leaf-1:~$ show it again\n", "\n\n")
    for twice in (outcome(case.parent.name, f"{answer.rstrip(chr(10))}\n{words}{answer}") for words in between):
        assert twice is None or claims(twice) == claims(whole) or label(case) in NOT_ENDED


def _text(value: Any) -> Any:
    """The document with its numbers as text."""
    if isinstance(value, dict):
        return {key: _text(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_text(one) for one in value]
    return value if value is None or isinstance(value, bool | str) else str(value)


def documents() -> Iterator[Any]:
    for case in CASES:
        with suppress(json.JSONDecodeError):
            yield pytest.param(case, json.loads(recorded(case)[0]), id=label(case))


@each("case, document", documents)
def test_json_with_numbers_as_text_below_a_prompt_or_twice(case: Path, document: Any) -> None:
    name, whole = case.parent.name, recorded(case)[1]
    text = outcome(name, json.dumps(_text(document)))
    assert text is None or text == whole
    answer = recorded(case)[0]
    assert outcome(name, f"leaf-1# show it | json\n{answer}\nleaf-1# ") == whole
    assert outcome(name, f"{answer}\n{answer}") in (None, whole)


@each("case", [case for case in CASES if label(case) not in NOT_ENDED], ids=label)
def test_separators_of_thousands_change_no_value_or_the_answer_is_refused(case: Path) -> None:
    answer, whole = recorded(case)
    if case.parent.name in ("port_counters", "port_errors", "pfc_counters", "queue_counters", "link_speed"):
        commas = re.sub(r"(?<![\w.:/,-])([1-9]\d{3,11})(?![\w.:/,-])", lambda found: f"{int(found[1]):,}", answer)
        found = outcome(case.parent.name, commas)
        assert found is None or claims(found) <= claims(whole)


HEADER_ALONE = {"nxos-table": "Port ID", "ios-table-crlf": "Port ID", "sonic-plain": "LLDP neighbors:"}


@pytest.mark.parametrize("case", HEADER_ALONE)
def test_labels_without_rows_and_total_are_no_answer_of_no_neighbour(case: str) -> None:
    answer = recorded(RECORDINGS / "lldp_switch" / case)[0]
    at = answer.index("\n", answer.index(HEADER_ALONE[case])) + 1
    assert outcome("lldp_switch", answer[:at]) is None
