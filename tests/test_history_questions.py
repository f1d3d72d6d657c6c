"""The ready-made questions of the history, each over a few rows written by hand."""

from pathlib import Path

import pytest

from tests.history_rows import HOUR, NOW, ago, answer, cable, hour, store_of
from truerail.errors import NotFoundError, QueryError
from truerail.history.ready.ready_question import ParameterType, ready_question, ready_questions

NICS = [cable("gpu-1", 200, None, "leaf-0", "right"), cable("gpu-2", 200, None, "leaf-0", "right")]


def test_every_question_is_complete() -> None:
    assert len(ready_questions()) == 13
    for name, question in ready_questions().items():
        assert name == question.name
        assert question.title
        assert question.no_data.endswith(".")
        assert bool(question.coverage) == bool(question.coverage_of)
        assert all(f"${one.name}" in question.sql for one in question.parameters)
        assert all(field.meaning for field in question.columns)


def test_no_question_reads_a_store_without_rows_as_fine(tmp_path: Path) -> None:
    store = store_of(tmp_path, cables=[])
    for name, question in ready_questions().items():
        given = {one.name: one.example for one in question.parameters if one.needed}
        rows, report = answer(store, name, **given)
        assert (rows, report.rows) == ([], 0)
        assert all(day is None for day in report.begins.values())


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("rail-load", {"rial": "1"}, "has no parameter 'rial', did you mean 'rail'?"),
        ("rail-load", {"rail": "one"}, "rail: 'one' is not a number from 0"),
        ("rail-load", {"step": "1y"}, "step: '1y' is not 1m, 1h or 1d"),
        ("rail-load", {"since": "never"}, "'never' is not a time"),
        ("rail-load", {"since": "1h", "until": "2h"}, "is not before until"),
        ("rail-load-between", {}, "rail-load-between needs rail"),
        ("flapping-ports", {"least": "0"}, "is not a number from 1"),
        ("flapping-ports", {"device": "x" * 301}, "301 characters"),
        ("busiest-ports", {"idlest": "perhaps"}, "is not true or false"),
    ],
)
def test_a_wrong_parameter_is_named(tmp_path: Path, name: str, given: dict[str, str], words: str) -> None:
    with pytest.raises(QueryError) as caught:
        answer(tmp_path, name, **given)
    assert words in str(caught.value.args[0])


def test_an_unknown_question_names_the_nearest() -> None:
    with pytest.raises(NotFoundError, match="did you mean 'rail-load'"):
        ready_question("rail-laod")


def test_parameters_are_bound_and_never_become_sql(tmp_path: Path) -> None:
    hostile = "x' OR true; COPY (SELECT 1) TO '/tmp/stolen.csv' --"
    store = store_of(tmp_path, cables=NICS, counters_hours=[hour("gpu-1", "nic0", 5, link_downs=3.0)])
    for name, question in ready_questions().items():
        names = {one.name: hostile for one in question.parameters if one.type is ParameterType.NAME}
        if names:
            assert answer(store, name, **names)[0] == []


def test_link_downs_are_those_of_the_module_that_was_in_the_port(tmp_path: Path) -> None:
    modules = [
        {
            "device": "gpu-1",
            "port": "nic0",
            "rail": 0,
            "vendor": "Old",
            "part": "A",
            "began": ago(200),
            "ended": ago(50),
        },
        {"device": "gpu-1", "port": "nic0", "rail": 0, "vendor": "New", "part": "B", "began": ago(50), "ended": None},
    ]
    counters = [hour("gpu-1", "nic0", 60, link_downs=7.0), hour("gpu-1", "nic0", 5, link_downs=2.0)]
    host = [{"device": "gpu-1", "role": "host", "began": ago(200), "ended": None}]
    store = store_of(tmp_path, optics=modules, counters_hours=counters, cables=NICS, devices=host)
    rows, report = answer(store, "link-downs-by-vendor")
    assert [(row["vendor"], row["link_downs"], row["vendor_nics"]) for row in rows] == [("Old", 7, 1), ("New", 2, 1)]
    assert report.coverage == (1, 2)
    assert [row["vendor"] for row in answer(store, "link-downs-by-vendor", least="5")[0]] == ["Old"]


def test_flapping_ports_have_their_other_end(tmp_path: Path) -> None:
    counters = [hour("gpu-1", "nic0", n, link_downs=float(n % 2)) for n in (1, 2, 3)]
    counters.append({**hour("leaf-0", "swp1", 1, link_downs=5.0), "role": "leaf"})
    rows, report = answer(store_of(tmp_path, counters_hours=counters, cables=NICS[:1]), "flapping-ports")
    assert [(row["device"], row["link_downs"], row["other_end"]) for row in rows] == [
        ("leaf-0", 5, "gpu-1/nic0"),
        ("gpu-1", 2, "leaf-0/swp1"),
    ]
    assert rows[1]["last_hour"] == ago(1).isoformat()
    assert report.coverage == (2, 2)


def test_load_is_of_what_the_links_can_carry_and_unknown_without_bytes(tmp_path: Path) -> None:
    half = 400e9 / 8 * 3600 / 2
    counters = [
        hour("gpu-1", "nic0", 30, tx_bytes=half, rx_bytes=0.0),
        hour("gpu-2", "nic0", 30, tx_bytes=None, rx_bytes=None),
    ]
    store = store_of(tmp_path, counters_hours=counters, cables=NICS)
    rows, report = answer(store, "rail-load")
    assert [(row["rail"], row["sent_share"], row["received_share"], row["nic_hours"]) for row in rows] == [
        (0, 0.5, 0, 1)
    ]
    assert report.coverage == (1, 2)
    assert answer(store, "rail-load", rail="3")[0] == []
    rows, report = answer(store, "busiest-ports")
    assert [(row["device"], row["sent_share"], row["busiest_hour_share"]) for row in rows] == [("gpu-1", 0.5, 0.5)]
    assert report.coverage == (1, 2)


def test_the_idlest_port_comes_first_on_request(tmp_path: Path) -> None:
    counters = [hour(f"gpu-{n}", "nic0", 5, tx_bytes=n * 1e12, rx_bytes=n * 1e12) for n in (1, 2)]
    store = store_of(tmp_path, counters_hours=counters)
    assert [row["device"] for row in answer(store, "busiest-ports")[0]] == ["gpu-2", "gpu-1"]
    assert [row["device"] for row in answer(store, "busiest-ports", idlest="true")[0]] == ["gpu-1", "gpu-2"]


def test_hours_stand_in_where_minutes_are_not_stored(tmp_path: Path) -> None:
    minute = 400e9 / 8 * 60
    minutes = [
        {**hour(f"gpu-{n}", "nic0", 1 - m / 60, tx_bytes=n * minute / 4), "seconds": 60.0}
        for n in (1, 2)
        for m in (0, 1)
    ]
    hours = [hour("gpu-1", "nic0", n, tx_bytes=minute * 60) for n in (1, 2)]
    store = store_of(tmp_path, counters_minutes=minutes, counters_hours=hours, cables=NICS)
    rows, report = answer(store, "rail-load-between", rail="0", since="3h")
    found = [(row["bucket"], row["sent_share"], row["busiest"], row["nics"], row["seconds"]) for row in rows]
    assert found == [
        (ago(2).isoformat(), 1, "gpu-1/nic0", 1, 3600),
        (ago(1).isoformat(), 0.375, "gpu-2/nic0", 2, 60),
        ((NOW - HOUR * 59 / 60).isoformat(), 0.375, "gpu-2/nic0", 2, 60),
    ]
    assert report.coverage == (2, 2)


def test_a_cable_moves_when_another_end_is_found(tmp_path: Path) -> None:
    moved = [
        cable("gpu-1", 100, 90, "leaf-0", "right"),
        cable("gpu-1", 90, 80, "leaf-1", "wrong"),
        cable("gpu-1", 80, 70, None, "unknown"),
        cable("gpu-1", 70, 60, "leaf-1", "wrong"),
        cable("gpu-1", 60, None, "leaf-0", "right"),
        cable("gpu-2", 100, 50, "leaf-0", "right"),
        cable("gpu-2", 50, 40, None, "missing"),
        cable("gpu-2", 40, None, "leaf-0", "right"),
    ]
    rows, _ = answer(store_of(tmp_path, cables=moved), "cables-moved")
    assert [(row["device"], row["moves"], row["last_move"]) for row in rows] == [("gpu-1", 2, ago(60).isoformat())]
    assert rows[0]["actual_ends"] == ["leaf-0/swp1", "leaf-1/swp1", "leaf-0/swp1"]


def test_wrong_time_counts_within_the_window_and_unknown_is_no_wrong(tmp_path: Path) -> None:
    states = [
        cable("gpu-1", 300, 100, "leaf-1", "wrong"),
        cable("gpu-1", 100, 10, None, "unknown"),
        cable("gpu-1", 10, None, "leaf-1", "wrong"),
        cable("gpu-2", 300, None, None, "unknown"),
    ]
    rows, report = answer(store_of(tmp_path, cables=states), "cables-wrong", since="120h")
    assert [(row["device"], row["wrong_seconds"], row["unknown_seconds"], row["episodes"]) for row in rows] == [
        ("gpu-1", 30 * 3600, 90 * 3600, 2)
    ]
    assert rows[0]["state_at_end"] == "wrong"
    assert report.coverage == (1, 2)


def test_names_that_a_device_ever_had(tmp_path: Path) -> None:
    def named(begin: float, end: float | None, name: str | None, **more: object) -> dict[str, object]:
        return {"device": "leaf-0", "reported_name": name, "began": ago(begin), "ended": end and ago(end), **more}

    rows = [
        named(90, 80, "leaf-0", read=True),
        named(80, 70, "leaf-0", read=False),
        named(70, 60, "leaf-7.example.net"),
        named(60, 50, None),
        named(50, None, "leaf-0"),
    ]
    store = store_of(tmp_path, devices=rows)
    found = [
        (row["reported_name"], row["as_planned"], row["began"], row["ended"])
        for row in answer(store, "device-names")[0]
    ]
    assert found == [
        ("leaf-0", True, ago(90).isoformat(), ago(70).isoformat()),
        ("leaf-7.example.net", False, ago(70).isoformat(), ago(60).isoformat()),
        ("leaf-0", True, ago(50).isoformat(), None),
    ]
    assert [row["began"] for row in answer(store, "device-names", lldp_name="LEAF-7")[0]] == [ago(70).isoformat()]
    assert answer(store, "device-names", device="leaf-1")[0] == []


def test_light_drifts_by_vendor_and_an_exchanged_module_is_two(tmp_path: Path) -> None:
    lights, modules = [], []
    for name, slope, vendor in (("gpu-1", -0.1, "Fading"), ("gpu-2", 0.0, "Steady")):
        modules.append(
            {"device": name, "port": "nic0", "vendor": vendor, "part": "X", "began": ago(300), "ended": None}
        )
        lights += [
            {"device": name, "port": "nic0", "rail": 0, "role": "host", "bucket": ago(24 * (10 - day)),
             "rx_power_dbm_min": -1 + slope * day, "tx_power_dbm_min": 1.0,
             "pre_fec_ber_max": 1e-8 * 10 ** (-slope * day)}
            for day in range(10)
        ]  # fmt: skip
    modules[1]["began"] = ago(100)
    modules.append({**modules[1], "vendor": "Before", "began": ago(300), "ended": ago(100)})
    store = store_of(tmp_path, lights=lights, optics=modules)
    rows, report = answer(store, "light-drift")
    found = {row["vendor"]: (row["modules"], round(row["rx_db_per_30_days"], 6), row["worst_port"]) for row in rows}
    assert found == {
        "Fading": (1, -3.0, "gpu-1/nic0"),
        "Steady": (1, 0.0, "gpu-2/nic0"),
        "Before": (1, 0.0, "gpu-2/nic0"),
    }
    assert report.coverage == (2, 2)
    rows, _ = answer(store, "ber-drift")
    assert [(row["device"], row["vendor"], round(row["decades_per_30_days"], 6)) for row in rows] == [
        ("gpu-1", "Fading", 3.0),
        ("gpu-2", "Steady", 0.0),
    ]


def test_a_slow_receiver_is_seen_from_both_ends_where_the_cable_is_right(tmp_path: Path) -> None:
    counters = [
        hour("gpu-1", "nic0", 5, pause_sent_seconds=36.0, pause_received_seconds=1.0),
        hour("gpu-2", "nic0", 5, pause_sent_seconds=None, pause_received_seconds=None),
        {**hour("leaf-0", "swp1", 5, pause_received_seconds=40.0), "role": "leaf"},
    ]
    other = cable("gpu-2", 200, None, "leaf-9", "wrong", planned_port="swp2")
    store = store_of(tmp_path, counters_hours=counters, cables=[NICS[0], other])
    rows, report = answer(store, "slow-receivers")
    assert [(row["device"], row["pause_sent_seconds"], row["pause_sent_share"]) for row in rows] == [
        ("gpu-1", 36, 0.01)
    ]
    assert rows[0]["leaf_pause_received_seconds"] == 40
    assert report.coverage == (1, 2)


def test_mean_time_to_repair_is_that_of_resolved_causes(tmp_path: Path) -> None:
    times = ((50, 48), (49, 45), (20, None))
    rows = [
        {"key": f"c{n}", "kind": "cable-swap", "subjects": ["x"], "moves": 2, "affected_gpus": n, "began": ago(begin),
         "ended": end and ago(end)}
        for n, (begin, end) in enumerate(times)
    ]  # fmt: skip
    found, _ = answer(store_of(tmp_path, causes=rows), "causes-by-kind")
    assert [(row["causes"], row["repaired"], row["open"], row["mean_repair_seconds"]) for row in found] == [
        (3, 2, 1, 3 * 3600)
    ]
    assert (found[0]["longest_seconds"], found[0]["most_affected_gpus"]) == (20 * 3600, 2)


def test_unread_time_counts_within_the_window(tmp_path: Path) -> None:
    rows = [
        {"device": "gpu-1", "role": "host", "read": False, "began": ago(300), "ended": ago(40)},
        {"device": "gpu-1", "role": "host", "read": True, "began": ago(40), "ended": None},
        {"device": "gpu-2", "role": "host", "read": True, "began": ago(300), "ended": None},
    ]
    found, _ = answer(store_of(tmp_path, devices=rows), "unread-devices", since="50h")
    assert [(row["device"], row["unread_seconds"], row["unread_share"], row["unread_at_end"]) for row in found] == [
        ("gpu-1", 10 * 3600, 0.2, False)
    ]
