"""The view of another machine: all that a judge writes is read, and nothing that could do more than be a value."""

import pickle
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import numpy as np
import pytest

from tests.fake_tower import published
from truerail.errors import BusMessageError, ViewRefusedError
from truerail.link.codec import expanded, pack, squeezed
from truerail.link.messages import KindRows
from truerail.model.plan import Port
from truerail.outputs.metrics import Exposition
from truerail.viewfile.copying import ViewChanges, ViewCopy, changes
from truerail.viewfile.encoding import decoded, encoded
from truerail.viewfile.parts import StoredEvidence
from truerail.viewfile.publishing import Publication, PublicationWriter
from truerail.viewfile.reader import ViewReader
from truerail.viewfile.view_file import NAME
from truerail.views.fabric_map import fabric_map
from truerail.views.lists import finding_lines
from truerail.web.etag import to_bytes


def written(folder: Path, *, faults: bool = True) -> Path:
    """A view with a publication."""
    folder.mkdir(exist_ok=True)
    writer = PublicationWriter(folder / NAME)
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
    copy, reader = ViewCopy(there), ViewReader(there)
    assert not copy.has_content
    assert copy.apply(copied(here)) > 10
    for faults in (True, False):
        if not faults:
            written(tmp_path / "here", faults=False)
            assert 0 < copy.apply(copied(here, since=1)) < len(copied(here).parts)
        found = reader.refresh()
        assert found is not None
        for ask in (finding_lines, fabric_map):
            assert to_bytes(ask(found.publication)) == to_bytes(ask(published(faults)))
    reader.close()
    copy.close()


def test_another_judges_view_writes_only_what_differs(tmp_path: Path) -> None:
    copy = ViewCopy(tmp_path / NAME)
    copy.apply(copied(written(tmp_path / "one")))
    assert copy.apply(copied(written(tmp_path / "two"))) < 3
    copy.close()
    again = ViewCopy(tmp_path / NAME)
    assert again.has_content
    assert again.apply(copied(written(tmp_path / "two"))) == 0
    again.close()


def test_a_view_that_is_not_written_has_no_changes(tmp_path: Path) -> None:
    assert changes(tmp_path / NAME, 0) is None
    PublicationWriter(tmp_path / NAME).close()
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
    copy.close()
    with closing(sqlite3.connect(tmp_path / "copy")) as database, database:
        assert database.execute("SELECT count(*) FROM part").fetchone() == (0,)


@pytest.mark.parametrize(
    ("kind", "key", "value"),
    [
        ("state", "", b"hello"),
        ("state", "", [1]),
        ("cables", "0", [[["gpu-1", "a"], "leaf-1"]]),
        ("causes", "x", {"id": "C1", "kind": "no such kind", "subjects": [], "summary": "", "action": ""}),
        ("readings", "0", [["gpu-1", "lldp_host", "no time", "", 0.0, "", 0.0]]),
        ("columns", "partner", ["O", [1], b"12345678"]),
        ("columns", "partner", ["<i8", [1 << 40], b"12345678"]),
        ("columns", "partner", ["<i8", b"1", "x"]),
        ("columns", "partner", [["<i8"], [1]]),
        ("columns", "partner", 7),
        ("columns", "no column", 7),
        ("no kind", "", 7),
        ("metrics", "contents", {"pods": 7}),
    ],
)
def test_what_is_no_part_of_a_view_is_refused(tmp_path: Path, kind: str, key: str, value: object) -> None:
    copy = ViewCopy(tmp_path / NAME)
    with pytest.raises(ViewRefusedError, match=f"part {kind} {key} cannot be read"):
        copy.apply(ViewChanges(1, 1, [(kind, key, pack(value))], {kind: [key]}))
    assert not copy.has_content
    copy.close()


def test_a_part_that_is_cut_or_is_a_pickle_is_refused(tmp_path: Path) -> None:
    whole = copied(written(tmp_path / "judge"))
    for kind, key, body in whole.parts:
        if kind != "metrics":
            for spoiled in (b"", body[:-1], body + b"\x00", pickle.dumps(print)):
                with pytest.raises(ViewRefusedError):
                    decoded(kind, key, spoiled)


def test_evidence_of_unknown_facts_is_refused_when_it_comes(tmp_path: Path) -> None:
    rows = [KindRows("Quark", msgspec.Raw(pack([["up"]])))]
    part = ("evidence", "x", pack(StoredEvidence([("gpu-1", "lldp_host", None)], rows)))
    refused = pytest.raises(ViewRefusedError, match="part evidence x cannot be read: facts of an unknown kind 'Quark'")
    with closing(ViewCopy(tmp_path / NAME)) as copy, refused:
        copy.apply(ViewChanges(1, 1, [part], {"evidence": ["x"]}))


def test_arrays_come_back_as_they_were() -> None:
    for array in (np.arange(6), np.array([True, False]), np.array([], dtype=np.int64)):
        found = decoded("columns", "partner", encoded(array))
        assert found.dtype == array.dtype
        assert (found == array).all()
        assert found.flags.writeable
    with pytest.raises(NotImplementedError, match="no part of a view"):
        encoded(np.array([Port("a", "b")], dtype=object))


def test_a_body_that_is_cut_short_is_no_body() -> None:
    whole = squeezed(ViewChanges(1, 1, [("state", "", b"1234")], {}))
    for data in (whole[:-4], b"", b"no zlib"):
        with pytest.raises(BusMessageError):
            expanded(ViewChanges, data)
