"""gNMI against a real gRPC server on loopback, with TLS and a login: answers, and each way to have none."""

import asyncio
import gc
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import grpc
import pytest
from pygnmi.spec.v080 import gnmi_pb2

from collector import collectors
from tests.gnmi_switch import NAME, PASSWORD, USER, Certificates, GnmiSwitch, certificates, gnmi_switch
from tests.patience import ENOUGH, until, waited
from truerail.errors import ConnectError, TransportError, UndeclaredCommandError
from truerail.model import Device, GnmiAccess, LinkSpeed, Neighbor, Role, Secret, Target
from truerail.poller import Gathered, Limits, Poller
from truerail.transport.fleet_transport import Routes
from truerail.transport.framing import Limits as Sizes
from truerail.transport.gnmi_transport import GnmiTransport
from truerail.transport.protocol import Answer

LLDP = "gnmic get --path /lldp/interfaces"
WITH_ORIGIN = "gnmic get --path openconfig:/lldp/interfaces"
ONCE = "gnmic subscribe --mode once --path /lldp/interfaces"
PORTS = "gnmic get --path /interfaces/interface[name=*]/state --path /interfaces/interface[name=*]/ethernet/state"
SHORT = 0.5
"""Seconds for an answer where a test waits for its end."""


def port(name: str, host: str) -> dict[str, object]:
    """What LLDP and the interfaces say of one port."""
    neighbor = {
        "chassis-id": "02:00:00:00:00:01",
        "chassis-id-type": "MAC_ADDRESS",
        "port-id": "ens1f0np0",
        "port-id-type": "INTERFACE_NAME",
        "system-name": host,
        "ttl": 120,
    }
    return {"name": name, "state": {"name": name}, "neighbors": {"neighbor": [{"id": "7", "state": neighbor}]}}


def interface(name: str) -> dict[str, object]:
    """A port of 400 Gb/s."""
    counters = {"in-octets": "5000", "out-octets": "6000", "in-errors": "1"}
    state = {"name": name, "admin-status": "UP", "oper-status": "UP", "counters": counters}
    speed = "openconfig-if-ethernet:SPEED_400GB"
    return {"name": name, "state": state, "ethernet": {"state": {"port-speed": speed, "auto-negotiate": False}}}


NAMES = ("Ethernet1/1", "Ethernet2/1")
TREE = {
    "lldp": {"interfaces": {"interface": [port(name, f"gpu-{at}") for at, name in enumerate(NAMES)]}},
    "interfaces": {"interface": [interface(name) for name in NAMES]},
}


RUNNER = asyncio.Runner()


@pytest.fixture(scope="module", autouse=True)
def _one_loop() -> Iterator[None]:
    """It ends after gRPC's thread, which stays for good where it reports to a loop that is closed."""
    with RUNNER:
        yield
        gc.collect()
        RUNNER.run(until(lambda: not [one for one in threading.enumerate() if "_poll_wrapper" in one.name]))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture
def switch(files: Certificates) -> Iterator[GnmiSwitch]:
    with gnmi_switch(files, TREE) as running:
        yield running


@pytest.fixture(autouse=True)
def secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRUERAIL_TEST_PASSWORD", PASSWORD)
    monkeypatch.setenv("TRUERAIL_TEST_WRONG", "wrong-password-of-tests")


def target(switch: GnmiSwitch, files: Certificates, seconds: float = ENOUGH, **changes: object) -> Target:
    """A leaf on loopback. `changes` are of its access."""
    access = GnmiAccess(str(files.ca), USER, Secret("env", "TRUERAIL_TEST_PASSWORD"), switch.port)
    access = replace(access, **changes)  # type: ignore[arg-type]  # any field, any value
    return Target("leaf-0", "127.0.0.1", Role.LEAF, "gnmi", timeout_seconds=seconds, transport="gnmi", gnmi=access)


async def asked(device: Target, *commands: str, sizes: Sizes | None = None) -> list[Answer]:
    transport = GnmiTransport(limits=sizes or Sizes())
    try:
        return await transport.ask(device, commands or (LLDP,))
    finally:
        await transport.close()


def answers(device: Target, *commands: str, sizes: Sizes | None = None) -> list[Answer]:
    return RUNNER.run(asked(device, *commands, sizes=sizes))


def failure(device: Target) -> TransportError:
    with pytest.raises(TransportError) as raised:
        answers(device)
    assert PASSWORD not in str(raised.value)
    assert "wrong-password" not in str(raised.value)
    return raised.value


def facts(collector: str, answer: Answer) -> list[object]:
    assert answer.error == ""
    return list(collectors()[collector].read(answer.text, Device("leaf-0")))


@pytest.mark.parametrize("command", [LLDP, ONCE])
@pytest.mark.parametrize("encoding", [gnmi_pb2.JSON_IETF, gnmi_pb2.JSON])
def test_a_container_and_its_leaves_are_the_same_neighbors(
    switch: GnmiSwitch, files: Certificates, command: str, encoding: int
) -> None:
    switch.ways.encodings = (gnmi_pb2.PROTO, encoding)
    [answer] = answers(target(switch, files), command)
    found = facts("lldp_switch", answer)
    assert [(one.port, one.system_name, one.port_id) for one in found if isinstance(one, Neighbor)] == [
        ("Ethernet1/1", "gpu-0", "ens1f0np0"),
        ("Ethernet2/1", "gpu-1", "ens1f0np0"),
    ]


@pytest.mark.parametrize(
    "command", [PORTS, "gnmic get --path /interfaces", PORTS.replace("get", "subscribe --mode once")]
)
def test_one_request_gives_state_speed_and_counters(switch: GnmiSwitch, files: Certificates, command: str) -> None:
    [answer] = answers(target(switch, files), command)
    assert facts("link_speed", answer) == [LinkSpeed(name, 400.0) for name in NAMES]
    assert [one.operstate for one in facts("port_state", answer)] == ["UP", "UP"]  # type: ignore[attr-defined]
    [first, _] = facts("port_counters", answer)
    assert dict(zip([str(one.counter) for one in first.counters], first.values, strict=True)) == {  # type: ignore[attr-defined]
        "rx_bytes": 5000,
        "tx_bytes": 6000,
        "rx_errors": 1,
    }


def test_nothing_but_capabilities_get_and_subscribe_is_called(switch: GnmiSwitch, files: Certificates) -> None:
    answers(target(switch, files, target="OC-YANG"), LLDP, ONCE)
    path = "/OC-YANG/lldp/interfaces"
    assert switch.ways.asked == ["Capabilities", "Get", path, "Subscribe", path]
    with pytest.raises(UndeclaredCommandError, match=r"not sent: no collector declares 'gnmic set"):
        answers(target(switch, files), "gnmic set --path /interfaces")


def test_an_equal_answer_is_the_same_text(switch: GnmiSwitch, files: Certificates) -> None:
    one, two = answers(target(switch, files), LLDP, LLDP)
    assert one.text == two.text


def test_a_certificate_of_another_ca_is_refused(switch: GnmiSwitch, files: Certificates) -> None:
    error = failure(target(switch, files, ca=str(files.other_ca)))
    assert not isinstance(error, ConnectError)
    assert f"127.0.0.1 port {switch.port}: its certificate is not accepted with {files.other_ca}" in str(error)
    assert switch.ways.asked == []


def test_a_certificate_must_name_the_device(switch: GnmiSwitch, files: Certificates) -> None:
    assert answers(target(switch, files, server_name=NAME))[0].error == ""
    error = failure(target(switch, files, server_name="leaf-1.example"))
    assert str(error).endswith("its certificate does not name leaf-1.example")


def test_a_wrong_password_is_refused_and_never_shown(switch: GnmiSwitch, files: Certificates) -> None:
    error = failure(target(switch, files, password=Secret("env", "TRUERAIL_TEST_WRONG")))
    assert not isinstance(error, ConnectError)  # a retry would lock the account
    assert str(error).endswith(f"port {switch.port}: user 'truerail' is refused: (not shown)")
    assert "no user is refused" in str(failure(target(switch, files, user="", password=None)))


def test_a_client_certificate_is_shown_where_the_inventory_has_one(files: Certificates) -> None:
    with gnmi_switch(files, TREE, client_certificates=True) as switch:
        pair = {"certificate": str(files.certificate), "key": str(files.key)}
        assert answers(target(switch, files, **pair))[0].error == ""
        assert f"127.0.0.1 port {switch.port}: no " in str(failure(target(switch, files)))


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"ca": ""}, "the inventory names none"),
        ({"ca": "/no/such/ca.pem"}, "gNMI ca /no/such/ca.pem: No such file or directory"),
        ({"ca": __file__}, "not a PEM file"),
        ({"password": Secret("env", "TRUERAIL_TEST_NONE")}, "environment variable TRUERAIL_TEST_NONE is not set"),
        ({"port": 1}, "127.0.0.1 port 1: no connection: Connection refused"),
    ],
)
def test_what_keeps_a_device_from_being_queried(
    switch: GnmiSwitch, files: Certificates, changes: dict[str, object], why: str
) -> None:
    assert why in str(failure(target(switch, files, **changes)))


def test_a_password_that_metadata_cannot_carry(
    switch: GnmiSwitch, files: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRUERAIL_TEST_PASSWORD", "pässword")
    assert str(failure(target(switch, files))) == "gNMI password: only printable ASCII can be sent as metadata"


def test_a_device_without_access_is_not_queried(switch: GnmiSwitch, files: Certificates) -> None:
    error = failure(replace(target(switch, files), gnmi=None))
    assert str(error) == "the inventory says nothing of gNMI for this device"


def test_a_port_without_tls(files: Certificates) -> None:
    server = grpc.server(__import__("concurrent.futures", fromlist=["x"]).ThreadPoolExecutor(1))
    plain = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        error = failure(target(GnmiSwitch(plain, {}, None), files))  # type: ignore[arg-type]  # no ways
    finally:
        server.stop(None).wait()
    assert f"127.0.0.1 port {plain}: no TLS session: WRONG_VERSION_NUMBER" in str(error)


def test_no_such_path_is_the_answer_of_that_request_alone(switch: GnmiSwitch, files: Certificates) -> None:
    switch.ways.says = "no \x1b[31mpath"
    refused, good = answers(target(switch, files), WITH_ORIGIN, LLDP)
    assert refused.refused
    assert refused.error == f"127.0.0.1 port {switch.port}: NOT_FOUND: no \\x1b[31mpath"
    assert good.error == ""


def test_a_hanging_device_costs_its_own_time_once(switch: GnmiSwitch, files: Certificates) -> None:
    switch.ways.hangs = frozenset({"lldp"})
    ports, hung, behind = answers(target(switch, files, SHORT), PORTS, LLDP, ONCE)
    assert ports.error == ""
    assert hung.error == f"127.0.0.1 port {switch.port}: no answer within 0.5 s"
    assert behind.error == f"not asked: {hung.error}"
    assert not hung.refused
    switch.ways.hangs = frozenset({"Capabilities"})
    assert str(failure(target(switch, files, SHORT))).endswith("no answer within 0.5 s")


@pytest.mark.parametrize("command", [LLDP, ONCE])
def test_a_giant_answer_is_dropped_and_the_next_one_read(switch: GnmiSwitch, files: Certificates, command: str) -> None:
    switch.ways.padding = 40_000
    giant, good = answers(target(switch, files), command, command, sizes=Sizes(30_000, 100_000))
    assert giant.text == good.text == ""
    assert giant.error == good.error == f"127.0.0.1 port {switch.port}: the answer is longer than 30000 bytes"


def test_a_round_has_a_limit_of_its_own(switch: GnmiSwitch, files: Certificates) -> None:
    first, second = answers(target(switch, files), PORTS, LLDP, sizes=Sizes(30_000, 100))
    assert first.text
    assert second.error == "not asked: more than 100 bytes of answers in one round"


def test_a_value_that_is_no_json(switch: GnmiSwitch, files: Certificates) -> None:
    switch.ways.broken = True
    [answer] = answers(target(switch, files))
    assert "its value of lldp/interfaces is not JSON" in answer.error
    assert not answer.refused


def test_a_password_that_changes_is_taken_at_once(
    switch: GnmiSwitch, files: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def rounds() -> list[str]:
        transport, device = GnmiTransport(), target(switch, files)
        said = []
        for password in (PASSWORD, "wrong-password-of-tests", PASSWORD):
            monkeypatch.setenv("TRUERAIL_TEST_PASSWORD", password)
            try:
                said.append((await transport.ask(device, (LLDP,)))[0].error)
            except TransportError as error:
                said.append(str(error))
        await transport.close()
        return said

    good, refused, again = RUNNER.run(rounds())
    assert (good, again) == ("", "")
    assert "is refused" in refused


async def _round(*devices: Target, seconds: float = ENOUGH) -> Gathered:
    transport = Routes()
    try:
        limits = Limits(device_seconds=seconds, retries=0)
        return await Poller(devices, transport, limits=limits).round()
    finally:
        await transport.close()


def test_a_device_that_refuses_get_is_subscribed_to(switch: GnmiSwitch, files: Certificates) -> None:
    switch.ways.get, switch.ways.capabilities = grpc.StatusCode.UNIMPLEMENTED, grpc.StatusCode.UNIMPLEMENTED
    [row] = RUNNER.run(_round(replace(target(switch, files), platform="eos"))).rows
    found = {reading.collector: reading.facts for reading in row.readings if not reading.error}
    assert (row.error, row.platform) == ("", "gnmi")
    assert {"lldp_switch", "link_speed", "port_state", "port_counters"} <= found.keys()
    assert len(found["lldp_switch"]) == 2


def test_a_device_that_knows_paths_by_their_origin_alone(switch: GnmiSwitch, files: Certificates) -> None:
    switch.ways.origin = "openconfig"
    [row] = RUNNER.run(_round(target(switch, files))).rows
    assert [reading.collector for reading in row.readings if reading.error] == []
    assert {"lldp_switch", "link_speed"} <= {reading.collector for reading in row.readings}


def test_a_hanging_device_does_not_hold_the_others(files: Certificates) -> None:
    with gnmi_switch(files, TREE) as hung, gnmi_switch(files, TREE) as good:
        hung.ways.hangs = frozenset({"Capabilities"})
        devices = [replace(target(one, files, 30 * SHORT), name=f"leaf-{at}") for at, one in enumerate((hung, good))]
        gathered, seconds = RUNNER.run(waited(_round(*devices, seconds=SHORT)))
        assert isinstance(gathered, Gathered)
        rows = {row.name: row for row in gathered.rows}
        assert rows["leaf-0"].error == "no answer within 0.5 s"
        assert rows["leaf-1"].error == ""
        assert seconds < 10 * SHORT


def test_grpc_is_imported_with_the_first_device_alone() -> None:
    code = (
        "import sys, truerail.transport.gnmi_transport, truerail.poller, truerail.transport.fleet_transport\n"
        "print([name for name in ('grpc', 'pygnmi', 'google.protobuf') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_without_the_extra_it_is_named(
    switch: GnmiSwitch, files: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pygnmi", None)
    assert str(failure(target(switch, files))) == (
        "gNMI needs packages that are not installed: pip install 'truerail[gnmi]'"
    )


def test_no_repr_shows_a_password_or_a_key(files: Certificates) -> None:
    from truerail.transport.gnmi_login import gnmi_login

    access = GnmiAccess(
        str(files.ca), USER, Secret("env", "TRUERAIL_TEST_PASSWORD"), 1, "", str(files.certificate), str(files.key)
    )
    shown = repr((access, gnmi_login(access)))
    assert PASSWORD not in shown
    assert "PRIVATE" not in shown
    assert Path(files.key).read_text() not in shown
