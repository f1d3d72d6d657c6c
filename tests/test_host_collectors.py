"""What the collectors of a host declare, and how each refuses what is not, or not all of, the answer to its question.

What they read is in `recordings/`.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from collector import collectors
from collector.formats.lldpd import neighbors_from_keyvalue, neighbors_from_plain
from tests.each import each
from truerail.errors import NoAnswerError, UnreadableError
from truerail.model import EVERYWHERE, Device, Fact, GpuNicPath, LinkSpeed, Neighbor, NetLink, RdmaLink, Role

HOST = Device("gpu-001")
LINE = "link mlx5_{0}/1 state ACTIVE physical_state LINK_UP netdev ens{0} \n"
TABLE = "LINK CHASSIS-ID SYSTEM-NAME CAPS PORT-ID PORT-DESCRIPTION\n"
LEGEND = "\nNIC Legend:\n\n  NIC0: mlx5_0\n"
MATRIX = "\tGPU0\tGPU1\tNIC0\tCPU Affinity\nGPU0\t X \tNV4\tPIX\t0-3\nGPU1\tNV4\t X \tSYS\t0-3\nNIC0\tPIX\tSYS\t X \t\n"
CHASSIS = {"leaf-0": {"id": {"type": "mac", "value": "02:00:00:00:00:03"}}}
PORT = {"id": {"type": "ifname", "value": "swp1"}}


def read(name: str, answer: str) -> tuple[Fact, ...]:
    return collectors()[name].read(answer, HOST)


def lldp_json(chassis: Any, port: Any) -> str:
    return json.dumps({"lldp": {"interface": {"ens1": {"via": "LLDP", "rid": "1", "chassis": chassis, "port": port}}}})


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


@pytest.mark.parametrize("name", ["gpu_nic_topology", "rdma_link", "lldp_host", "net_link", "net_address"])
def test_a_command_stands_once_in_the_list(name: str) -> None:
    files = [command.file for command in collectors()[name].ask]
    assert sorted(set(files)) == sorted(files)


def test_what_equal_servers_answer_alike_is_read_once_and_everything_else_is_not() -> None:
    shared = {name for name, found in collectors().items() if found.shared}
    assert shared == {"gpu_nic_topology", "link_speed", "port_state", "rdma_link"}


def test_the_matrix_is_found_behind_lines_that_speak_of_gpus() -> None:
    listing = "GPU 0: NVIDIA H100\nGPU0 is busy\nGPU1 NVIDIA H100\n\n"
    assert read("gpu_nic_topology", listing + MATRIX) == read("gpu_nic_topology", MATRIX)


DIRECT = """\tGPU0\tGPU1\tNIC0\tNIC1\tDD0\tDD1\tCPU Affinity
GPU0\t X \tNV18\tNODE\tSYS\tPXB\tSYS\t0-71
GPU1\tNV18\t X \tSYS\tNODE\tSYS\tPXB\t72-143
NIC0\tNODE\tSYS\t X \tSYS\tNODE\tSYS
NIC1\tSYS\tNODE\tSYS\t X \tSYS\tNODE
DD0\tPXB\tSYS\tNODE\tSYS\t X \tSYS
DD1\tSYS\tPXB\tSYS\tNODE\tSYS\t X

NIC Legend:

  NIC0: roce_vf_r0
  NIC1: roce_vf_r1
  DD0: roce_vf_r0 data-direct function
  DD1: roce_vf_r1 data-direct function
"""


def test_a_function_of_data_direct_is_no_nic_and_its_levels_are_those_of_its_nic() -> None:
    assert read("gpu_nic_topology", DIRECT) == tuple(
        GpuNicPath(gpu, f"NIC{nic}", f"roce_vf_r{nic}", "PXB" if gpu == nic else "SYS")
        for gpu in range(2)
        for nic in range(2)
    )


@pytest.mark.parametrize(
    "answer", [DIRECT.partition("NIC Legend")[0], DIRECT.replace("DD1: roce_vf_r1", "DD1: roce_vf_r2")]
)
def test_a_function_of_data_direct_without_its_nic_is_refused(answer: str) -> None:
    with pytest.raises(UnreadableError, match="no NIC for a column of Data Direct"):
        read("gpu_nic_topology", answer)


def test_a_second_matrix_and_lines_behind_the_legend_are_not_read() -> None:
    facts = read("gpu_nic_topology", MATRIX + LEGEND + "ulimit soft: 1024\n  NIC0: mlx5_7\n\n" + MATRIX)
    assert facts == (GpuNicPath(0, "NIC0", "mlx5_0", "PIX"), GpuNicPath(1, "NIC0", "mlx5_0", "SYS"))


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (MATRIX.partition("\n")[2], "line 1: a row before any header: the head of the matrix is missing"),
        ("GPU 0: NVIDIA H100", "no header of GPUs: not the matrix of `nvidia-smi topo -m`"),
        (MATRIX.partition("\n")[0], "line 1: a header without rows: cut short"),
        (MATRIX.replace("NIC0\tCPU", "NIC0\tWAT\tCPU", 1), "line 1: neither a GPU nor a NIC in the header: 'WAT'"),
        (MATRIX.replace("GPU1\tNIC0\tCPU", "GPU1\tGPU1\tCPU", 1), "line 1: a column stands twice in the header"),
        (MATRIX.replace("GPU1\tNV4", "GPU0\tNV4"), "line 3: a row stands twice"),
        (MATRIX.replace("PIX\t0-3", "PIX\tPIX\t0-3"), "line 2: a row has more than the 3 levels"),
        (MATRIX.replace("PIX\t0-3", "\t0-3"), "row GPU0 holds what is no level: 'X NV4 0-3'"),
        (MATRIX.replace("PIX\t0-3", "SY\t0-3"), "row GPU0 holds what is no level: 'X NV4 SY'"),
        (MATRIX.replace("GPU0\t X \tNV4", "GPU0\tNV4\t X "), "row GPU0 does not have its X in column GPU0"),
        (MATRIX.replace("GPU0\t X \tNV4", "GPU0\t X \t X "), "row GPU0 does not have its X in column GPU0"),
        (
            MATRIX.replace("NIC0\tPIX", "NIC0\tPHB"),
            "the matrix contradicts itself: GPU0 to NIC0 is PIX, back it is PHB",
        ),
        (MATRIX + LEGEND + "  NIC1: mlx5_0\n", "the NIC legend gives two NICs one name: cut short"),
    ],
)
def test_a_matrix_that_is_not_whole_or_not_one_is_refused(answer: str, why: str) -> None:
    with pytest.raises(UnreadableError) as refused:
        read("gpu_nic_topology", answer)
    assert str(refused.value).startswith(why)


def test_what_stands_between_links_is_passed_over() -> None:
    facts = read("rdma_link", LINE.format(0) + "\nsome remark\n" + LINE.format(1))
    assert facts == tuple(RdmaLink(f"mlx5_{n}", 1, "ACTIVE", "LINK_UP", f"ens{n}") for n in range(2))


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ('{"links": []}', "not a list of RDMA links"),
        ('[{"ifname": "mlx5_0", "port": 1}]', "an entry without ifname, port or state: not a list of RDMA links"),
        ('["mlx5_0"]', "an entry without ifname, port or state: not a list of RDMA links"),
        ('[{"ifname": "mlx5_0", "port": 1, "state": "BUSY"}]', "not a port state: 'BUSY'"),
        ('[{"ifname": "mlx5_0", "port": 1, "state": 4}]', "not a port state: '4'"),
        (LINE.format(0).replace("ACTIVE", "ACTI"), "line 1: not a port state: 'ACTI'"),
        (LINE.format(0).replace("LINK_UP", "LINK_U"), "line 1: not a physical state: 'LINK_U'"),
        (LINE.format(0) + "link", "line 2: an RDMA link without its name or its state: cut short: 'link'"),
        ("mlx5_0 port 1 ==> ens1 (U", "line 1: not a line of ibdev2netdev, or cut short: 'mlx5_0 port 1 ==> ens1 (U'"),
        ("CA 'mlx5_", "no device: cut short"),
        ("CA 'mlx5_0'\n\tPort 1:\n\t\tState: Active", "line 2: port 1 of mlx5_0 has no state: cut short"),
        ("CA 'mlx5_0'\n\tPort 1:\n\t\tState: Active\n\t\tRate: fast\n", "line 2: not a rate: 'fast'"),
        ("hca_id:\tmlx5_0\n\tphys_port_cnt:\t1\n", "mlx5_0 promises 1 ports and shows 0: cut short"),
    ],
)
def test_an_answer_about_rdma_that_is_not_whole_is_refused(answer: str, why: str) -> None:
    with pytest.raises(UnreadableError) as refused:
        read("rdma_link", answer)
    assert str(refused.value) == why


def test_a_link_that_alone_is_commented_out_is_read() -> None:
    assert read("rdma_link", "$ rdma link\n# " + LINE.format(0)) == (
        RdmaLink("mlx5_0", 1, "ACTIVE", "LINK_UP", "ens0"),
    )


def test_a_port_before_any_device_is_nobodys() -> None:
    report = "Port 7:\n\tState: Active\nCA 'mlx5_0'\n\tPort 1:\n\t\tState: Active\n"
    assert read("rdma_link", report) == (RdmaLink("mlx5_0", 1, "ACTIVE", None),)


@each(
    "answer, why",
    [
        ("eth0 leaf-0 swp1\n", "line 1: not a list of LLDP neighbours: 'eth0 leaf-0 swp1'"),
        ('{"local-chassis": {}}', "no `lldp` at the top: not lldpd's list of neighbours"),
        ('{"lldp": ["eth0"]}', "lldp is not an object"),
        (lldp_json(CHASSIS, "swp1"), "port on interface ens1 is not an object"),
        (lldp_json({"name": "leaf-0", "ttl": "120"}, PORT), "chassis on interface ens1 carries no id"),
        (lldp_json(CHASSIS, {"id": {"type": "ifname"}}), "id of the port on interface ens1 is incomplete"),
        (lldp_json(CHASSIS, {"descr": "swp1"}), "id of the port on interface ens1 is not an object"),
        (
            "LLDP neighbors:\nInterface:    eth0\n",
            "line 2: an interface without `via`: not a list of neighbours, or cut short: 'Interface:    eth0'",
        ),
        (
            "Interface: eth0, via: LLDP\n ChassisID: mac 02:00:00:00:00:03\n",
            "line 1: the neighbour on interface eth0 has no port id",
        ),
        ("lldp.eth0.via=LLDP\nlldp.eth0.rid=1\n", "line 1: the neighbour on interface eth0 has no chassis id"),
        (
            "lldp.eth0.via=LLDP\nlldp.eth1.rid=1\n",
            "line 2: a value of no neighbour: the neighbour's `via` is missing: 'lldp.eth1.rid=1'",
        ),
        ("lldp.eth0.via=LLDP\nlldp.eth0.chassis.na", "line 1: a key without a value: cut short: 'chassis.na'"),
        (TABLE, "neither a row nor the count of rows below the head of the table: cut short"),
        ("a Chassis ID TLV comes first\n", "no `Chassis ID TLV`: not an answer of lldptool"),
        ("see .via= of lldpd\n", "no `lldp.<interface>.via=`: not lldpd's list of neighbours"),
        (
            "Chassis ID TLV\n\tBad Chassis ID\n",
            "line 1: a neighbour without a chassis id of a known type: 'Bad Chassis ID'",
        ),
        (
            f"{TABLE}enp26s0… 02::03 leaf-0 ..b........ 1 1\n",
            "line 2: not a row of `networkctl lldp`, or its interface is cut: 'enp26s0… 02::03 leaf-0 ..b........ 1 1'",
        ),
        ('{"Neighbors": {}}', "no list of `Neighbors`: not networkctl's list of neighbours"),
        ('{"Neighbors": [{}]}', "a link without InterfaceName: not networkctl's list of neighbours"),
        (
            '{"Neighbors": [{"InterfaceName": "eth0", "Neighbors": [{}]}]}',
            "a neighbour on eth0 without ChassisID or PortID",
        ),
        ('{"lldp": {}}\n{"lldp": {}}\n', "line 2: not JSON at byte 13 (a second document): '{\"lldp\": {}}\\n'"),
    ],
)
def test_a_list_of_neighbours_that_is_not_whole_or_none_is_refused(answer: str, why: str) -> None:
    with pytest.raises(UnreadableError) as refused:
        read("lldp_host", answer)
    assert str(refused.value) == why


def test_a_port_id_that_is_a_number_is_its_digits() -> None:
    """A tool between may write Junos' ports, which are called by a number, without quotes."""
    (found,) = read("lldp_host", lldp_json(CHASSIS, {"id": {"type": "local", "value": 513}}))
    assert isinstance(found, Neighbor)
    assert (found.port_id_type, found.port_id) == ("local", "513")


def test_what_stands_before_the_first_interface_is_passed_over() -> None:
    block = "Interface: eth0, via: LLDP\nChassisID: mac 02:00:00:00:00:03\nPortID: ifname swp1\n"
    assert read("lldp_host", f"PortID: ifname swp9\n{block}") == (
        Neighbor("eth0", "02:00:00:00:00:03", "mac", port_id="swp1", port_id_type="ifname", via="LLDP"),
    )


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


def test_a_table_that_counts_no_neighbours_names_nobody() -> None:
    assert read("lldp_host", f"{TABLE}\n0 neighbors listed.\n") == ()


@pytest.mark.parametrize(
    ("name", "answer", "why"),
    [
        ("net_link", "[{}]", "no interface in it, not even loopback"),
        ("net_link", '{"ifname": "eth0"}', "not a list of interfaces"),
        ("net_link", '["eth0"]', "an interface is not an object: 'eth0'"),
        ("net_link", '[{"ifname": "eth0", "flags": 7}]', "not understood (TypeError: 'int' object is not iterable)"),
        (
            "net_address",
            '[{"ifname": "eth0", "addr_info": [{"local": "10.0.0.1"}]}]',
            "an address of eth0 without `local` or `prefixlen`",
        ),
    ],
)
def test_an_answer_that_is_not_of_interfaces_is_refused(name: str, answer: str, why: str) -> None:
    with pytest.raises(UnreadableError) as refused:
        read(name, answer)
    assert str(refused.value) == why


def test_what_an_interface_does_not_say_is_none() -> None:
    assert read("net_link", '[{"ifname": "eth0"}]') == (NetLink("eth0"),)


SPEEDS = (
    "/sys/class/infiniband/mlx5_0/ports/1/rate:400 Gb/sec (4X NDR)\n"
    "/sys/class/infiniband/mlx5_1/ports/1/rate:2.5 Gb/sec (1X SDR)\n"
    "/sys/class/infiniband/mlx5_2/ports/2/rate:100 Gb/sec (4X EDR)\n"
    "/sys/class/net/ens1np0/speed:200000\n"
    "/sys/class/net/ens2np0/speed:-1\n"
    "/sys/class/net/eno1/speed:1000\n"
    "/sys/class/net/eno1/mtu:1500\n"
)


def test_speeds_come_in_gigabits_and_what_has_no_link_tells_none() -> None:
    assert read("link_speed", SPEEDS) == (
        LinkSpeed("mlx5_0", 400.0),
        LinkSpeed("mlx5_1", 2.5),
        LinkSpeed("ens1np0", 200.0),
        LinkSpeed("eno1", 1.0),
    )


def test_a_speed_that_may_be_cut_is_left_out() -> None:
    assert read("link_speed", SPEEDS.removesuffix("eno1/mtu:1500\n") + "eno2/speed:4000") == read("link_speed", SPEEDS)


@pytest.mark.parametrize("answer", ["/sys/class/net/eno1/speed:-1\n", "/sys/class/net/eno1/speed:fast\n", "x:1\n"])
def test_no_speed_at_all_is_not_reported(answer: str) -> None:
    with pytest.raises(NoAnswerError, match="no port's speed"):
        read("link_speed", answer)
