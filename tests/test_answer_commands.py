"""An answer's file is shown as the command for which a capture names it."""

import pytest

from collector import collectors
from tests.view_fabrics import faulty
from truerail.model.names import answer_file
from truerail.views.commands import command_of
from truerail.views.device import device_view


def test_each_command_of_each_collector_is_found_by_its_file_and_by_itself() -> None:
    for name, collector in collectors().items():
        for command in collector.ask:
            text = command.text.replace("{port}", "eth0").replace("{job}", "1234")
            assert answer_file(command_of(name, f"gpu-001/{answer_file(text)}")) == answer_file(text)
            assert answer_file(command_of(name, text)) == answer_file(text)


@pytest.mark.parametrize(("collector", "source"), [("lldp_host", "notes.txt"), ("none", "lldpctl"), ("lldp_host", "")])
def test_another_file_has_no_command(collector: str, source: str) -> None:
    assert command_of(collector, source) == ""


def test_a_devices_page_names_the_commands() -> None:
    lines = device_view(faulty(), "gpu-001").readings
    assert {line.collector: line.command for line in lines}["gpu_nic_topology"] == "nvidia-smi topo -m"
