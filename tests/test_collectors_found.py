"""How collectors are found."""

import sys
from importlib.machinery import FileFinder
from pkgutil import ModuleInfo
from types import ModuleType

import pytest

import collector


def test_a_file_that_declares_no_collector_is_not_overlooked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "collector.stray", ModuleType("collector.stray"))
    monkeypatch.setattr(collector, "iter_modules", lambda path: [ModuleInfo(FileFinder(""), "stray", False)])
    with pytest.raises(TypeError, match=r"collector/stray\.py declares no collector named stray"):
        collector.collectors.__wrapped__()
