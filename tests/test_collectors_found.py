"""How collectors are found."""

import sys
from importlib.machinery import FileFinder
from pkgutil import ModuleInfo
from types import ModuleType

import pytest

import collector
from truerail.model import PortCounters


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
