"""The rules on the logs of jobs, beside the examples in their files: reasons, fused, replaced and unknown NICs."""

from collections.abc import Sequence

import pytest

from rules import rules
from rules._examples import hears
from truerail.analysis.nccl import NcclJob
from truerail.analysis.round import Round
from truerail.analysis.rule import Case, Evaluated
from truerail.model import Fact, Finding, RdmaLink, Severity, Status
from truerail.model.nccl_facts import NcclHop, NcclNetwork, NcclNic, NcclOverride, NcclRank, NcclSetting
from truerail.rounds import evaluate
from truerail.testing.cases import scene

PLAN = "\n".join(
    f"gpu-{host}/mlx5_{rail} leaf-{rail}/p{host} rail={rail}" for host in (1, 2, 3) for rail in (0, 1, 2, 3)
)
SPINE = PLAN + "".join(f"\nleaf-{rail}/u1 spine-1/p{rail}" for rail in (0, 1, 2, 3))


def nics(host: str, order: Sequence[int] = (0, 1, 2, 3), process: str | None = None) -> list[NcclNic]:
    return [NcclNic(host, index, (f"mlx5_{nic}",), "RoCE", process) for index, nic in enumerate(order)]


def pair(
    send: int, receive: int, *, hosts: tuple[str, str] = ("gpu-1", "gpu-2"), channel: int = 0, **more: object
) -> list[Fact]:
    """Both ends of a connection of rank 0 to rank 4."""
    hop = NcclHop(hosts[0], channel, 0, 0, 4, "send", "IB", send, None, gdr=True, from_gpu="0", to_gpu="0")
    hop = hop._replace(**more)  # type: ignore[arg-type]
    return [hop, hop._replace(host=hosts[1], direction="receive", nic=receive, proxy_rank=None)]


def round_of(facts: Sequence[Fact], plan: str = SPINE, at: str = "gpu-1", **of: Sequence[Fact]) -> Round:
    seen: dict[str, Sequence[Fact]] = {at: facts} | {name.replace("_", "-"): found for name, found in of.items()}
    return scene(Case(seen, plan=plan))


def evaluated(code: str, round: Round) -> Evaluated:
    return rules()[code].look(round)


def the_finding(code: str, round: Round) -> Finding:
    (found,) = evaluated(code, round).findings
    return found


def job(round: Round) -> NcclJob:
    assert round.nccl is not None
    return round.nccl


LISTS = [*nics("gpu-1"), *nics("gpu-2"), *nics("gpu-3")]


def test_without_a_log_no_rule_on_jobs_applies() -> None:
    verdicts = {one.rule: one.status for one in evaluate(scene(Case({"gpu-1": []}, plan=PLAN))).verdicts}
    assert {verdicts[code] for code in ("JOB002", "JOB003", "JOB004", "JOB005", "JOB006", "JOB010")} == {
        Status.NOT_APPLICABLE
    }


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ([*LISTS, *pair(0, 1), NcclSetting("gpu-1", "NCCL_CROSS_NIC", "2")], "NCCL_CROSS_NIC=2"),
        ([*nics("gpu-1"), *nics("gpu-2", (1, 0, 2, 3)), *pair(0, 0)], "index 0 is mlx5_0 here and mlx5_1 on gpu-2"),
        ([*LISTS, *pair(0, 1, to_gpu="1")], "ranks on different GPUs, 0 and 1"),
        ([*LISTS, *pair(0, 1)], "the log shows no reason"),
        ([*LISTS, *pair(0, 1, to_gpu="1", proxy_rank=1)], "the log shows no reason"),
    ],
)
def test_a_crossing_has_its_reason(facts: list[Fact], words: str) -> None:
    found = the_finding("JOB002", round_of(facts))
    assert words in found.summary
    assert found.severity is Severity.WARNING
    assert "Move no cable" in found.action
    assert len(found.evidence) == 2


def test_a_cable_in_another_place_is_the_reason_where_the_plan_has_one_rail() -> None:
    swapped = {f"leaf_{leaf}": [hears("p1", f"gpu-1/mlx5_{nic}")] for leaf, nic in ((0, 1), (1, 0))}
    found = the_finding("JOB002", round_of([*LISTS, *pair(0, 0)], **swapped))
    assert "a cable is in another place than planned: gpu-1/mlx5_0" in found.summary
    assert "its moves are there" in found.action
    received = round_of([*LISTS, *pair(0, 0, hosts=("gpu-2", "gpu-1"))], **swapped)
    assert "in another place than planned: gpu-1/mlx5_0" in the_finding("JOB002", received).summary


def test_many_crossings_are_counted_and_some_are_shown() -> None:
    facts = [*LISTS, *(end for channel in range(6) for end in pair(0, 1, channel=channel))]
    found = the_finding("JOB002", round_of(facts, PLAN))
    assert "6 of 6 connections of the job cross rails, on 6 channels" in found.summary
    assert ", and 2 more" in found.summary
    assert found.severity is Severity.CRITICAL


def test_no_crossing_is_claimed_from_one_end_nor_of_unclear_ones() -> None:
    send, receive = pair(0, 1)
    other = receive._replace(nic=2)  # type: ignore[call-arg]
    for facts in ([send], [receive], [send, receive, other]):
        round = round_of([*LISTS, *facts])
        assert job(round).crossings == ()
        assert evaluated("JOB002", round) == Evaluated(())


def test_the_other_end_by_symmetry_is_said_to_be_so() -> None:
    """gpu-2 printed nothing: its GPU 1 receives as GPU 1 of gpu-1 does."""
    send = NcclHop("gpu-1", 0, 0, 0, 5, "send", "IB", 0, None, gdr=True, from_gpu="0", to_gpu="1")
    receive = NcclHop("gpu-1", 0, 0, 4, 1, "receive", "IB", 1, None, gdr=True, from_gpu="0", to_gpu="1")
    round = round_of([*nics("gpu-1"), send, receive])
    first, second = job(round).symmetric_crossings
    assert (first.rails, first.other_rails, first.by_symmetry, first.other) == ((0,), (1,), True, None)
    assert (second.send.hop, second.other_rails) == (receive, (0,))
    assert not job(round).crossings


def test_fused_overridden_and_second_ports() -> None:
    links = [RdmaLink("mlx5_0", port, "ACTIVE", "LINK_UP", f"mlx5_{port - 1}") for port in (1, 2)]
    fused = NcclNic("gpu-1", 0, ("mlx5_0", "mlx5_0:2"), "RoCE")
    seen = job(round_of([*links, fused, *nics("gpu-2"), *pair(0, 1)]))
    (nic,) = (nic for nic in seen.used if nic.host == seen.hosts[0])
    assert (nic.rails, len(nic.ports)) == ({0, 1}, 2)
    assert not seen.crossings
    replaced = job(round_of([*LISTS, *pair(0, 1), NcclOverride("gpu-1", 0, 1)]))
    (nic,) = (nic for nic in replaced.used if nic.overridden)
    assert (nic.rails, len(nic.ports)) == (frozenset(), 2)
    assert not replaced.crossings
    unlisted = job(round_of([*LISTS, *pair(0, 1), NcclOverride("gpu-1", 0, 9)]))
    assert [nic.ports for nic in unlisted.used if nic.overridden] == [()]


def test_nics_that_cannot_be_joined_are_not_evaluated() -> None:
    unread = evaluated("JOB002", round_of(pair(0, 1)))
    assert "2 of 2 NICs that the job uses are unknown: the log does not list them" in unread.not_evaluated[0].why
    outside = [NcclNic(host, 0, ("mlx5_0",), "RoCE") for host in ("node-1", "node-2")]
    foreign = evaluated("JOB005", round_of([*outside, *pair(0, 0, hosts=("node-1", "node-2"))], at="log"))
    assert "the plan has no host node-1, node-2" in foreign.not_evaluated[0].why
    odd = NcclNic("gpu-1", 0, ("mlx5_9",), "RoCE")
    assert evaluated("JOB003", round_of([odd, *pair(0, 0)[:1]])).not_evaluated


def test_lines_without_a_host_are_of_the_host_in_whose_folder_they_are() -> None:
    facts = [*nics("gpu-1"), *pair(0, 0)[:1]]
    nameless = [fact._replace(host=None) for fact in facts]  # type: ignore[call-arg]
    assert job(round_of(nameless)).hosts == job(round_of(facts)).hosts
    assert job(round_of(nameless, at="log")).hosts == ()


def test_processes_with_lists_of_their_own_have_no_order() -> None:
    facts = [*LISTS[4:], *nics("gpu-1", (0, 1), "gpu-1:1"), *nics("gpu-1", (1, 0), "gpu-1:2")]
    assert not evaluated("JOB003", round_of(facts)).findings
    sends = [hop._replace(process="gpu-1:2", to_gpu="1") for hop in pair(0, 1)[:1]]  # type: ignore[call-arg]
    (end,) = job(round_of([*facts, *sends])).ends
    assert end.nic.devices == ("mlx5_1",)


def test_a_rank_that_sends_for_another_one_uses_its_own_list() -> None:
    ranks = [NcclRank("gpu-1", rank, 8, rank, "1b000", None, f"gpu-1:{rank}") for rank in (0, 1)]
    lists = [*nics("gpu-1", (0,), "gpu-1:0"), *nics("gpu-1", (1,), "gpu-1:1")]
    sends = pair(0, 1, proxy_rank=1, process="gpu-1:0")[:1]
    (end,) = job(round_of([*ranks, *lists, *sends])).ends
    assert end.nic.devices == ("mlx5_1",)
    assert end.rank == 0
    assert job(round_of([*ranks, *lists, *sends])).ranks_on == {0: 2}


def test_a_bus_id_in_brackets_is_no_gpu() -> None:
    round = round_of([*LISTS, *pair(3, 3, from_gpu="1b000", to_gpu="3b000")])
    assert evaluated("JOB003", round) == Evaluated(())


def test_gpudirect_off_on_a_fused_nic_is_of_the_host() -> None:
    fused = NcclNic("gpu-3", 0, ("mlx5_0", "mlx5_1"), "RoCE")
    off = NcclHop("gpu-3", 0, 0, 8, 0, "send", "IB", 0)
    facts = [*LISTS[:8], fused, *pair(0, 0), off, NcclSetting("gpu-3", "NCCL_NET_GDR_LEVEL", "PIX")]
    found = the_finding("JOB004", round_of(facts))
    assert found.subject == "gpu-3"
    assert "mlx5_0+mlx5_1 of gpu-3 (rails 0/1)" in found.summary
    assert "NCCL_NET_GDR_LEVEL is PIX" in found.summary
    unlisted = the_finding("JOB004", round_of([*LISTS[:8], *pair(0, 0), off]))
    assert "device 0 of gpu-3 carries" in unlisted.summary


def test_an_unused_nic_without_a_list_and_with_a_filter() -> None:
    def used(host: str, rail: int) -> NcclHop:
        return NcclHop(host, rail, 0, rail, 9, "send", "IB", rail, None, gdr=True)

    others = [used(host, rail) for host in ("gpu-1", "gpu-2") for rail in range(4)]
    here = [used("gpu-3", rail)._replace(nic=min(rail, 2)) for rail in range(4)]
    filtered = [*LISTS[:8], *nics("gpu-3")[:3], *others, *here, NcclSetting("gpu-3", "NCCL_IB_HCA", "mlx5_0,mlx5_1")]
    found = the_finding("JOB005", round_of(filtered))
    assert (found.subject, found.rail) == ("gpu-3/mlx5_3", 3)
    assert "NCCL does not list it; NCCL_IB_HCA is mlx5_0,mlx5_1" in found.summary
    thinned = evaluated("JOB005", round_of([*filtered, NcclSetting(None, "RAY_DEDUP_LOGS", "1")]))
    assert not thinned.findings
    assert "Ray left out lines" in thinned.not_evaluated[0].why
    sockets = [*filtered, NcclNetwork("gpu-3", "Socket")]
    assert not evaluated("JOB005", round_of(sockets)).findings
    assert the_finding("JOB006", round_of(sockets)).subject == "gpu-3"
