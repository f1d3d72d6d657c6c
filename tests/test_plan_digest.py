"""The digest of a plan: what makes it another version."""

from dataclasses import replace

from truerail.analysis.rule import Case
from truerail.model import QosProfile
from truerail.testing.cases import plan_of


def test_the_digest_of_a_plan_covers_serials_and_qos() -> None:
    plan = plan_of(Case(plan="gpu-1/nic0 leaf-0/p1 rail=0"))
    known = {**plan.devices, "gpu-1": replace(plan.devices["gpu-1"], serials=("SN1",))}
    changed = (replace(plan, devices=known), replace(plan, qos=QosProfile(trust="dscp")))
    assert len({plan.digest, *(one.digest for one in changed)}) == 3
