"""PFC that is missing on one host whose settings were not read: its counters beside its peers'.

The names are those of mlx5 (Linux `en_stats.c`; kernel documentation, mlx5 counters.rst): `rx_prioN_bytes` for all
eight priorities, `rx_prioN_pause` only for those that have PFC.
"""

from datetime import timedelta

import pytest

from collector import collectors
from truerail.analysis.counters.window import Window
from truerail.analysis.round import Round
from truerail.analysis.rule import Case
from truerail.model import Device, Reading, Role, Snapshot, Status
from truerail.rounds import evaluate
from truerail.testing.cases import AT, plan_of

PLAN = plan_of(Case(plan="\n".join(f"gpu-{host}/nic0 leaf-0/swp{host} rail=0" for host in (1, 2, 3, 4, 5))))


def ethtool(pfc: tuple[int, ...], sample: int, driver: str = "mlx5") -> str:
    lines = ["# ethtool -S nic0", "NIC statistics:", f"     rx_bytes_phy: {10**9 * (sample + 1)}"]
    if driver == "mlx5":
        lines += [f"     rx_prio{priority}_bytes: {10**6 * (sample + 1)}" for priority in range(8)]
        lines += [f"     rx_prio{priority}_pause: {sample}" for priority in pfc]
        lines += [f"     rx_prio{priority}_pause_duration: {sample}" for priority in pfc]
    return "\n".join(lines) + "\n"


def round_of(texts: dict[str, tuple[tuple[int, ...], str]]) -> Round:
    window = Window()
    for sample in range(4):
        at = AT + timedelta(seconds=10 * sample)
        readings = [
            Reading(host, "nic_counters", at,
                    tuple(collectors()["nic_counters"].read(ethtool(pfc, sample, driver), Device(host, Role.HOST))))
            for host, (pfc, driver) in texts.items()
        ]  # fmt: skip
        window.put(readings)
    return Round(PLAN, Snapshot(at, readings), window.view())


@pytest.mark.parametrize(
    ("odd", "summary"),
    [((), "gpu-5/nic0 has PFC off instead of PFC on 3 (4 of 5 peers)"),
     ((4,), "gpu-5/nic0 has PFC on 4 instead of PFC on 3 (4 of 5 peers)")],
)  # fmt: skip
def test_one_host_counts_no_pauses_where_its_peers_do(odd: tuple[int, ...], summary: str) -> None:
    texts = {f"gpu-{host}": ((3,) if host < 5 else odd, "mlx5") for host in (1, 2, 3, 4, 5)}
    findings = [finding for finding in evaluate(round_of(texts)).findings if finding.rule == "CFG001"]
    assert [finding.subject for finding in findings] == ["gpu-5/nic0"]
    assert findings[0].summary.startswith(summary)
    assert findings[0].summary.endswith("(its settings were not read)")


def test_hosts_that_agree_and_drivers_that_show_nothing_are_no_finding() -> None:
    texts = {f"gpu-{host}": ((3,), "mlx5" if host < 5 else "other") for host in (1, 2, 3, 4, 5)}
    evaluation = evaluate(round_of(texts))
    assert not [finding for finding in evaluation.findings if finding.rule == "CFG001"]
    (verdict,) = [verdict for verdict in evaluation.verdicts if verdict.rule == "CFG001"]
    (part,) = verdict.not_evaluated
    assert (verdict.status, part.count, part.of, part.subjects) == (Status.UNKNOWN, 6, 10, ("gpu-5", "leaf-0"))
