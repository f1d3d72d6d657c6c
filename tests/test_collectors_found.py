"""How collectors are found, and what is not theirs."""

import sys
from dataclasses import replace
from importlib.machinery import FileFinder
from pathlib import Path
from pkgutil import ModuleInfo
from types import ModuleType

import pytest

import collector
from collector._questions import naming
from truerail.errors import UnreadableError
from truerail.model import Device, PortCounters

COUNTERS = Path(__file__).parent / "recordings/pfc_counters/sonic-tables/answer.txt"


def test_a_file_that_declares_no_collector_is_not_overlooked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "collector.stray", ModuleType("collector.stray"))
    monkeypatch.setattr(collector, "iter_modules", lambda path: [ModuleInfo(FileFinder(""), "stray", False)])
    with pytest.raises(TypeError, match=r"collector/stray\.py declares no collector named stray"):
        collector.collectors.__wrapped__()


def test_counters_alone_need_two_rounds() -> None:
    names = collector.at_once.__wrapped__()
    assert collector.collectors().keys() - names == {
        name for name, found in collector.collectors().items() if found.yields == (PortCounters,)
    }
    assert "lldp_host" in names
    assert "nic_counters" not in names


def test_nothing_in_an_answer_to_another_question_is_no_answer() -> None:
    """A collector that understood nothing of it would otherwise be one that says that there is nothing."""
    silent = replace(collector.collectors()["pfc_watchdog"], parse=lambda answer, device: ())
    assert naming(silent).read("nothing at all", Device("any")) == ()
    with pytest.raises(UnreadableError, match="the answer of `show pfc counters`, which does not say this"):
        naming(silent).read(COUNTERS.read_text(), Device("any"))
