"""The view of another machine: all that a judge writes is read, and nothing that could do more than be a value."""

import datetime as dt
import os
import pickle
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.fake_tower import published
from truerail.bus.front_messages import expanded, squeezed
from truerail.errors import BusMessageError, ViewRefusedError
from truerail.model.facts import Neighbor
from truerail.model.finding import Evidence, Finding, Severity
from truerail.model.plan import Device, Plan, Port
from truerail.outputs.metrics import Exposition
from truerail.viewfile import admission
from truerail.viewfile.admission import admit, view_format
from truerail.viewfile.copying import ViewChanges, ViewCopy, changes
from truerail.viewfile.divided import Publication
from truerail.viewfile.encoding import array_of, decoded, encoded
from truerail.viewfile.reader import ViewReader
from truerail.viewfile.view_file import NAME
from truerail.viewfile.writer import ViewWriter
from truerail.views.fabric_map import fabric_map
from truerail.views.lists import finding_lines
from truerail.web.body import to_bytes


class Naming:
    """An object whose pickle calls `function` with `given`."""

    def __init__(self, function: Callable[..., Any], *given: Any) -> None:
        self.function, self.given = function, given

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return self.function, self.given


def written(folder: Path, *, faults: bool = True) -> Path:
    """A view with a publication."""
    folder.mkdir(exist_ok=True)
    writer = ViewWriter(folder / NAME)
    publication = published(faults)
    writer.write(Publication(publication), Exposition().page_of(publication))
    writer.close()
    return folder / NAME


def copied(path: Path, since: int = 0) -> ViewChanges:
    """What changed, as it arrives over a bus."""
    found = changes(path, since)
    assert found is not None
    return expanded(ViewChanges, squeezed(found))


def test_a_copy_answers_what_the_view_answers(tmp_path: Path) -> None:
    here, there = written(tmp_path / "here"), tmp_path / NAME
    copy = ViewCopy(there)
    assert not copy.has_content
    assert copy.apply(copied(here)) > 10
    reader = ViewReader(there)
    for faults in (True, False):
        if not faults:
            written(tmp_path / "here", faults=False)
            assert 0 < copy.apply(copied(here, since=1)) < len(copied(here).parts)
        found = reader.refresh()
        assert found is not None
        for ask in (finding_lines, fabric_map):
            assert to_bytes(ask(found.publication)) == to_bytes(ask(published(faults)))
    reader.close()


def test_another_judges_view_writes_only_what_differs(tmp_path: Path) -> None:
    copy = ViewCopy(tmp_path / NAME)
    copy.apply(copied(written(tmp_path / "one")))
    assert copy.apply(copied(written(tmp_path / "two"))) < 3
    copy.close()
    again = ViewCopy(tmp_path / NAME)
    assert again.has_content
    assert again.apply(copied(written(tmp_path / "two"))) == 0


def test_a_view_that_is_not_written_has_no_changes(tmp_path: Path) -> None:
    assert changes(tmp_path / NAME, 0) is None
    ViewWriter(tmp_path / NAME).close()
    assert changes(tmp_path / NAME, 0) is None


def test_an_incomplete_view_changes_nothing(tmp_path: Path) -> None:
    copy = ViewCopy(tmp_path / "copy")
    whole = copied(written(tmp_path / "one"))
    for broken in (
        ViewChanges(whole.written, whole.published, whole.parts[:-1], whole.keys),
        ViewChanges(whole.written, whole.published, whole.parts, {"state": [""]}),
    ):
        with pytest.raises(ViewRefusedError, match="it is incomplete"):
            copy.apply(broken)
    with closing(sqlite3.connect(tmp_path / "copy")) as database, database:
        assert database.execute("SELECT count(*) FROM part").fetchone() == (0,)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(Naming(os.system, "false"), id="a command"),
        pytest.param(Naming(eval, "1"), id="an expression"),
        pytest.param(Naming(getattr, Port, "__init__"), id="an attribute"),
        pytest.param(Naming(dt.datetime.fromisoformat, "2026-01-01"), id="a method, by a dotted name"),
        pytest.param(Naming(published, True), id="a function of another module"),
        pytest.param(np.array([Port("a", "b")], dtype=object), id="an array of objects"),
        pytest.param(np.dtype("O"), id="numpy's own types"),
        pytest.param(Path("/etc/passwd"), id="a class that is no part of a view"),
        pytest.param(Naming(array_of, "O", (1,), b"12345678"), id="an array of references"),
        pytest.param(Naming(array_of, "i8", (1 << 40,), b"12345678"), id="an array larger than its bytes"),
    ],
)
def test_what_is_no_part_of_a_view_is_refused(value: object) -> None:
    with pytest.raises(ViewRefusedError, match="part state x"):
        admit([("state", "x", pickle.dumps(value) if isinstance(value, Naming) else encoded(value))])


def test_bytes_that_are_no_part_are_refused() -> None:
    for body in (b"", b"hello", encoded([1])[:-2], b"\x80\x05\x8c\x02os\x8c\x06system\x93."):
        with pytest.raises(ViewRefusedError):
            admit([("state", "", body)])
    admit([("metrics", "0", b"text of a metric"), ("state", "", encoded([Port("a", "b"), Severity.CRITICAL]))])


def test_a_part_that_alters_a_class_is_refused() -> None:
    """Slots' state is set attribute by attribute, on whatever the bytes name: here on a class."""
    body = b"\x80\x05ctruerail.viewfile.stored_round\nStoredMacs\nN}X\x05\x00\x00\x00extraK\x01s\x86b."
    whole = admission._as_imported()
    with pytest.raises(ViewRefusedError, match="a part of it alters a class"):
        admit([("macs", "", body)])
    altered = next(one for one in whole if one.__name__ == "StoredMacs")
    assert vars(altered)["extra"] == 1
    delattr(altered, "extra")


@dataclass(frozen=True, slots=True)
class _Further:
    """With a field that is not given."""

    name: str
    length: int = field(init=False, default=0)


@pytest.mark.parametrize(
    "value",
    [
        Finding("CAB001", "swapped", Severity.CRITICAL, "gpu-1/nic0", "summary", "action", rail=3, detail=(("a", 1),)),
        Evidence("gpu-1", "lldp_host", dt.datetime(2026, 1, 2, tzinfo=dt.UTC), Neighbor("eth0", "leaf-1", "swp1")),
        Plan({"gpu-1": Device("gpu-1")}, ()),
        _Further("a"),
        dt.datetime(2026, 1, 2, tzinfo=dt.UTC),
        Severity.CRITICAL,
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_come_back_as_they_were(value: object) -> None:
    found = decoded(encoded([value, value]))
    assert found == [value, value]
    assert type(found[0]) is type(value)
    assert found[0] is found[1]


def test_arrays_come_back_as_they_were() -> None:
    for array in (np.arange(6).reshape(2, 3), np.array([True, False]), np.array([b"ab", b"c"]), np.zeros((0, 2))):
        found = decoded(encoded({"a": array}))["a"]
        assert found.dtype == array.dtype
        assert (found == array).all()
        assert found.flags.writeable


def test_the_format_follows_from_the_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    known = view_format()
    assert len(known) == 16
    monkeypatch.setattr(admission, "COLUMN_NAMES", ("another",))
    assert view_format.__wrapped__() != known


def test_a_body_that_is_cut_short_is_no_body() -> None:
    whole = squeezed(ViewChanges(1, 1, [("state", "", b"1234")], {}))
    for data in (whole[:-4], b"", b"no zlib"):
        with pytest.raises(BusMessageError):
            expanded(ViewChanges, data)
