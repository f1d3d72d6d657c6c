"""NCCL's topology file of a kind of host: the tree that NCCL would build itself, and nothing that was not read."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from typer.testing import CliRunner

from collector import collectors
from tests.oncall_fabrics import RAIL_ONLY, shown, simulated
from truerail.analysis.published import Published
from truerail.analysis.round import Round
from truerail.cli.app import app
from truerail.errors import QueryError
from truerail.model import Device, PciDevice, Reading, Snapshot
from truerail.questions.answers.capture import publication_of
from truerail.questions.answers.topology_text import topology

RECORDED = Path(__file__).with_name("recordings") / "pci_tree"
SIMULATION = simulated(RAIL_ONLY)
HOSTS = [name for name, device in SIMULATION.plan.devices.items() if device.role.tier == 0]

TWO_SWITCHES = """\
<system version="1">
  <cpu numaid="0">
    <pci busid="0000:16:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0000:18:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16">
        <gpu/>
      </pci>
      <pci busid="0000:19:00.0" class="0x020700" link_speed="32.0 GT/s PCIe" link_width="16">
        <nic>
          <net name="mlx5_0"/>
        </nic>
      </pci>
    </pci>
  </cpu>
  <cpu numaid="1">
    <pci busid="0000:98:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0000:9a:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16">
        <gpu/>
      </pci>
      <pci busid="0000:9b:00.0" class="0x020700" link_speed="32.0 GT/s PCIe" link_width="16">
        <nic>
          <net name="mlx5_1"/>
        </nic>
      </pci>
    </pci>
    <pci busid="0000:a1:00.0" class="0x020000" link_speed="16.0 GT/s PCIe" link_width="8">
      <nic>
        <net name="mlx5_2"/>
        <net name="mlx5_3"/>
      </nic>
    </pci>
  </cpu>
</system>
"""
VIRTUAL = """\
<system version="1">
  <cpu numaid="-1">
    <pci busid="0000:00:05.0" class="0x020700" link_speed="" link_width="">
      <nic>
        <net name="mlx5_0"/>
      </nic>
    </pci>
  </cpu>
  <cpu numaid="0">
    <pci busid="0001:00:00.0" class="0x030200" link_speed="" link_width="">
      <gpu/>
    </pci>
  </cpu>
</system>
"""


def tree(recording: str) -> tuple[PciDevice, ...]:
    answer = (RECORDED / recording / "answer.txt").read_text()
    return tuple(one for one in collectors()["pci_tree"].read(answer, Device("gpu-1")) if isinstance(one, PciDevice))


def with_trees(of: dict[str, tuple[PciDevice, ...]]) -> Published:
    seen = SIMULATION.snapshot()
    more = [Reading(host, "pci_tree", seen.at, facts) for host, facts in of.items()]
    return publication_of(Round(SIMULATION.plan, Snapshot(seen.at, [*seen.readings, *more])))


def body(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("<!--"))


def test_the_file_is_the_tree_that_nccl_builds_and_names_what_is_not_known() -> None:
    found = with_trees(dict.fromkeys(HOSTS, tree("two_switches")))
    text = topology(found, "nccl-xml").text
    assert body(text) == TWO_SWITCHES
    ET.fromstring(text)
    assert "<!-- for gpu-[001-008] -->" in text
    assert "not known" not in text
    assert text == topology(found, "nccl-xml", hosts="gpu-[001-008]").text
    some = topology(with_trees(dict.fromkeys(HOSTS[:6], tree("virtual_machine"))), "nccl-xml").text
    assert body(some) == VIRTUAL
    assert "<!-- not known, no PCI tree: gpu-[007-008] -->" in some
    assert "<!-- not in it: the RDMA devices of rails 1-3 -->" in some


def test_a_file_is_for_one_kind_of_host_and_for_none_that_reports_no_tree() -> None:
    two = with_trees(dict.fromkeys(HOSTS[:4], tree("two_switches")) | dict.fromkeys(HOSTS[4:], tree("virtual_machine")))
    with pytest.raises(QueryError, match=r"of 2 kinds, and a file is right for one: gpu-\[001-004\]; gpu-\[005-008\]"):
        topology(two, "nccl-xml")
    assert body(topology(two, "nccl-xml", hosts="gpu-007").text) == VIRTUAL
    with pytest.raises(QueryError, match=r"not known: gpu-\[001-008\] report no PCI tree"):
        topology(shown(SIMULATION), "nccl-xml")
    with pytest.raises(QueryError, match="not a host in the plan: leaf-1"):
        topology(two, "nccl-xml", hosts="leaf-1")
    with pytest.raises(QueryError, match="hosts go with the format nccl-xml, not with slurm"):
        topology(two, "slurm", hosts="gpu-001")
    each = {host: (PciDevice(f"0000:0{at}:00.0", None, "0x020000", "mlx5_0"),) for at, host in enumerate(HOSTS)}
    with pytest.raises(QueryError, match=r"of 8 kinds.*; and 3 more"):
        topology(with_trees(each), "nccl-xml")


def test_the_order_of_devices_names_the_file_where_it_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    known = with_trees(dict.fromkeys(HOSTS, tree("two_switches")))
    ask = "# NCCL_TOPO_FILE: truerail export topology --format nccl-xml --hosts 'gpu-[001-008]'"
    assert ask in topology(known, "nccl").text
    assert "NCCL_TOPO_FILE" not in topology(shown(SIMULATION), "nccl").text
    monkeypatch.setattr("truerail.cli.oncall_source._publication", lambda source: (known, None))
    words = ["export", "topology", "--format", "nccl-xml", "--hosts", "gpu-001", "--from", "x"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0
    assert body(done.stdout) == TWO_SWITCHES
