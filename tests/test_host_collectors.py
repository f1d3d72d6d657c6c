"""What the collectors of a host declare, and how each refuses what is not, or not all of, the answer to its question.

What they read is in `recordings/`.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from collector import collectors
from collector.formats.documents import root_of
from collector.formats.lldpd import neighbors_from_keyvalue, neighbors_from_plain
from tests.each import each
from truerail.errors import UnreadableError
from truerail.model import EVERYWHERE, Device, Neighbor, Role


@pytest.mark.parametrize(
    ("name", "roles", "first", "file"),
    [
        ("gpu_nic_topology", (Role.HOST,), "nvidia-smi topo -m", "nvidia-smi_topo_-m"),
        ("rdma_link", (Role.HOST,), "rdma link", "rdma_link"),
        ("lldp_host", (Role.HOST,), "lldpctl -f json0", "lldpctl_-f_json0"),
        ("net_link", EVERYWHERE, "ip -j -d link", "ip_-j_-d_link"),
        ("net_address", EVERYWHERE, "ip -j addr", "ip_-j_addr"),
    ],
)
def test_what_is_asked_first_of_whom(name: str, roles: tuple[Role, ...], first: str, file: str) -> None:
    asked = collectors()[name]
    assert (asked.on, asked.ask[0].text, asked.ask[0].file) == (roles, first, file)


@each("name", collectors)
def test_a_command_stands_once_in_the_list_and_names_a_file(name: str) -> None:
    files = [command.file for command in collectors()[name].ask]
    assert len(set(files)) == len(files)
    assert max(map(len, files)) < 200


def test_what_equal_servers_answer_alike_is_read_once_and_everything_else_is_not() -> None:
    shared = {name for name, found in collectors().items() if found.shared}
    assert shared == {"gpu_nic_topology", "link_speed", "port_state", "rdma_link"}


@pytest.mark.parametrize(
    ("read_form", "why"),
    [
        (neighbors_from_plain, "neither `LLDP neighbors:` nor an interface: not lldpd's list of neighbours"),
        (neighbors_from_keyvalue, "no `lldp.<interface>.via=`: not lldpd's list of neighbours"),
    ],
)
def test_a_form_of_lldpd_refuses_what_is_none(read_form: Callable[[str], Iterator[Neighbor]], why: str) -> None:
    with pytest.raises(UnreadableError) as refused:
        list(read_form("swp1 leaf-0\n"))
    assert str(refused.value) == why


def test_xml_of_lldpd_that_is_cut_is_refused_with_its_line() -> None:
    recorded = Path(__file__).parent / "recordings" / "lldp_switch" / "public-sonic-utilities-lldpds-xml" / "answer.txt"
    lines = recorded.read_text().splitlines(keepends=True)
    for end in range(3, len(lines)):
        with pytest.raises(UnreadableError, match=r"^line \d+: not whole XML"):
            collectors()["lldp_host"].read("".join(lines[:end]), Device("any"))


def test_text_is_no_xml() -> None:
    with pytest.raises(UnreadableError, match="no XML in it"):
        root_of("5 < 6")
