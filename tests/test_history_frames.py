"""`truerail.history(DIR)`: a store's tables as DataFrames."""

import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

import truerail
from tests.history_site import RecordedSite
from truerail.errors import HistoryStoreError
from truerail.history.history_tables import TABLES
from truerail.model import CauseKind
from truerail.simulator import Fault


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> RecordedSite:
    """Some minutes with a swap that is repaired in the middle."""
    site = RecordedSite(tmp_path_factory.mktemp("history") / "store", [Fault(CauseKind.CABLE_SWAP, "one-host")])
    site.rounds(10)
    site.site.fabric.director.fix(1)
    site.site.settle()
    site.rounds(4, seconds=60)
    site.write()
    return site


def test_every_table_is_a_frame_with_times_in_utc_categories_and_missing_values(site: RecordedSite) -> None:
    store = truerail.history(site.folder.path)
    assert repr(store) == f"<history of test in {site.folder.path}>"
    assert list(store.tables["table"].unique()) == list(TABLES)
    for table in TABLES.values():
        frame = getattr(store, table.name)()
        assert tuple(frame.columns) == table.names
        assert str(frame.dtypes.iloc[table.names.index(table.time)]) == "datetime64[us, UTC]"
    cables = store.cables()
    assert cables["state"].value_counts().to_dict() == {"right": 24, "wrong": 2}
    assert str(cables["state"].dtype) == "category"
    assert cables["rail"].isna().sum() == (cables["kind"] == "uplink").sum() == 8
    assert store.counters_minutes()["fec_corrected_codewords"].isna().all()
    assert store.unreadable == ()


def test_intervals_are_found_by_any_moment_and_samples_by_their_time(site: RecordedSite) -> None:
    store = truerail.history(str(site.folder.path))
    (repaired,) = store.causes()["ended"]
    assert len(store.causes(until=repaired)) == 1
    assert len(store.causes(since=repaired + timedelta(seconds=1))) == 0
    assert set(store.cables(since=repaired + timedelta(seconds=1))["state"]) == {"right"}
    minutes = store.counters_minutes(since="2026-11-20 14:18", until="2026-11-20 14:19", device="gpu-001")
    assert {str(one) for one in minutes["bucket"]} == {"2026-11-20 14:18:00+00:00"}
    assert set(minutes["device"]) == {"gpu-001"}
    assert list(store.rounds(columns=["answered", "number"]).columns) == ["answered", "number"]
    ahead = timedelta(days=-36500)
    assert (len(store.rounds(since=ahead)), len(store.rounds(until=ahead))) == (0, 14)
    assert len(store.rounds(since="7000w")) == 14
    assert len(store.optics(device=["gpu-001", "gpu-002"])) == 0


def test_a_name_or_time_that_does_not_exist_is_an_error_with_the_nearest(site: RecordedSite) -> None:
    store = truerail.history(site.folder.path)
    with pytest.raises(HistoryStoreError, match="no table 'cabels', did you mean 'cables'"):
        store.frame("cabels")
    with pytest.raises(HistoryStoreError, match="rounds has no column 'device'"):
        store.rounds(device="leaf-1")
    with pytest.raises(
        HistoryStoreError, match="'last week' is no time: write 2026-11-20 14:00, or 7d for so long ago"
    ):
        store.rounds(since="last week")
    with pytest.raises(HistoryStoreError, match="is no history store"):
        truerail.history(site.folder.path / "cables")
    with pytest.raises(AttributeError, match="has no attribute 'histories'"):
        _ = truerail.histories


def test_the_function_and_the_room_have_one_name_in_either_order(site: RecordedSite) -> None:
    program = f"""
import sys, truerail
assert "pandas" not in sys.modules and "pyarrow" not in sys.modules
assert "history of test" in repr(truerail.history({str(site.folder.path)!r}))
import truerail.history.history_tables
assert truerail.history.history_tables.TABLES and truerail.history({str(site.folder.path)!r})
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_missing_extra_is_named(tmp_path: Path) -> None:
    program = "import sys; sys.modules['pyarrow'] = None; import truerail; truerail.history('.')"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "needs packages that are not installed: pip install 'truerail[history]'" in ended.stderr
