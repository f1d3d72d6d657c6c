"""NetBox: the real pynetbox against a server on loopback that answers as NetBox's REST API does."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from tests.loopback import Silent, threaded
from truerail.inventory import Inventory, InventoryError, dump_yaml, load_inventory
from truerail.model import Cable, Panel, Port, Role, Transport

TOKEN = "hunter2hunter2"
PANELS = Port("pp-2", "port 4"), Port("pp-4", "port 4")
Object = dict[str, Any]


@dataclass
class Fake:
    """What the server holds, and what it was asked."""

    devices: list[Object] = field(default_factory=list)
    interfaces: list[Object] = field(default_factory=list)
    cables: list[Object] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    page: int = 3
    url: str = ""
    next_from: str = ""
    answer: tuple[int, str] | None = None

    def device(self, name: str, role: str, **more: object) -> int:
        number = len(self.devices) + 1
        address = {"id": number, "address": f"10.0.0.{number}/24", "family": {"value": 4, "label": "IPv4"}}
        self.devices.append(
            {
                "id": number,
                "url": f"{self.url}/api/dcim/devices/{number}/",
                "name": name,
                "role": {"id": 1, "url": f"{self.url}/api/dcim/device-roles/1/", "name": role, "slug": role},
                "site": {"id": 1, "url": f"{self.url}/api/dcim/sites/1/", "name": "DC 1", "slug": "dc1"},
                "rack": {"id": 1, "url": f"{self.url}/api/dcim/racks/1/", "name": "R01"},
                "position": 10.0 + number,
                "platform": None,
                "primary_ip": address,
                "primary_ip4": address,
                "oob_ip": {"id": 99, "address": "10.9.9.9/24"},
                "tags": [],
                "custom_fields": {},
                **more,
            }
        )
        return number

    def cable(self, one: tuple[int, str], other: tuple[int, str], **more: Any) -> None:
        """A cable between two interfaces, straight or (with `panel`) by way of a patch panel: two cables."""
        first = len(self.cables) + 1
        second = first + more.get("panel", 0)
        for number in sorted({first, second}):
            extra = more.get("on_cable", {}) if number == first else {}
            self.cables.append({"id": number, "label": f"c{number}", "tags": [], "custom_fields": {}, **extra})
        ids = len(self.interfaces) + 1
        for at, (mine, theirs, cable) in enumerate(((one, other, first), (other, one, second))):
            far = {
                "id": ids + 1 - at,
                "url": f"{self.url}/api/dcim/interfaces/{ids + 1 - at}/",
                "name": theirs[1],
                "device": {"id": theirs[0], "name": self.devices[theirs[0] - 1]["name"]},
            }
            self.interfaces.append(
                {
                    "id": ids + at,
                    "url": f"{self.url}/api/dcim/interfaces/{ids + at}/",
                    "name": mine[1],
                    "device": {"id": mine[0], "name": self.devices[mine[0] - 1]["name"]},
                    "type": {"value": "400gbase-x-osfp", "label": "OSFP"},
                    "speed": None,
                    "mgmt_only": False,
                    "cable": {"id": cable, "url": f"{self.url}/api/dcim/cables/{cable}/", "label": f"c{cable}"},
                    "connected_endpoints": [far],
                    "connected_endpoints_type": "dcim.interface",
                    "connected_endpoints_reachable": True,
                    "tags": [],
                    "custom_fields": {},
                    "link_peers_type": "dcim.frontport" if first != second else "dcim.interface",
                    "link_peers": [{"id": 1, "device": {"id": 900, "name": f"pp-{mine[0]}"}, "name": f"port {first}"}],
                    **(more.get("near", {}) if not at else more.get("far", {})),
                }
            )

    def rows(self, what: str, query: dict[str, list[str]]) -> list[Object]:
        wanted = {int(number) for number in query.get("device_id", [])}
        if what == "interfaces":
            return [row for row in self.interfaces if row["device"]["id"] in wanted]
        if what == "cables":
            used = {row["cable"]["id"] for row in self.interfaces if row["device"]["id"] in wanted}
            return [row for row in self.cables if row["id"] in used]
        return [row for row in self.devices if row["site"]["slug"] in query.get("site", ["dc1"])]


@pytest.fixture
def netbox(monkeypatch: pytest.MonkeyPatch) -> Iterator[Fake]:
    fake = Fake()

    class Handler(Silent):
        def do_GET(self) -> None:
            fake.asked.append(self.path)
            parts = urlsplit(self.path)
            query = parse_qs(parts.query)
            what = parts.path.removeprefix("/api/dcim/").strip("/")
            if self.headers["Authorization"] != f"Token {TOKEN}":
                self._send(403, '{"detail": "Invalid token"}')
            elif fake.answer:
                self._send(*fake.answer)
            elif what not in ("devices", "interfaces", "cables"):
                self._send(404, "{}")
            else:
                self._send(200, json.dumps(self._page(parts.path, query, fake.rows(what, query))))

        def _page(self, path: str, query: dict[str, list[str]], rows: list[Object]) -> Object:
            """One page, with the link to the next as NetBox gives it."""
            offset = int(query.pop("offset", ["0"])[0])
            more = offset + fake.page < len(rows)
            again = urlencode({**query, "limit": fake.page, "offset": offset + fake.page}, doseq=True)
            link = f"{fake.next_from or fake.url}{path}?{again}" if more else None
            return {"count": len(rows), "next": link, "previous": None, "results": rows[offset : offset + fake.page]}

        def _send(self, status: int, body: str) -> None:
            self.say(body.encode(), status=status)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    fake.url = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("NETBOX_TOKEN", TOKEN)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with threaded(server):
        yield fake


def written(tmp_path: Path, fake: Fake, more: str = "", defaults: str = "{user: truerail}") -> Path:
    path = tmp_path / "netbox.yaml"
    path.write_text(f"defaults: {defaults}\nnetbox: {{url: {fake.url}, token: {{env: NETBOX_TOKEN}}{more}}}\n")
    return path


def loaded(tmp_path: Path, fake: Fake, more: str = "") -> Inventory:
    inventory = load_inventory(written(tmp_path, fake, more))
    assert TOKEN not in repr(inventory) + dump_yaml(inventory) + "".join(fake.asked)
    return inventory


def fault(tmp_path: Path, fake: Fake, more: str = "") -> str:
    with pytest.raises(InventoryError) as caught:
        load_inventory(written(tmp_path, fake, more))
    assert TOKEN not in str(caught.value) + repr(caught.value.problems)
    return str(caught.value).removeprefix(f"{tmp_path}/")


def fabric(fake: Fake) -> None:
    """Two hosts, two leaves, a spine: rails set by custom field, interface tag, cable tag or leaf tag."""
    one, two = fake.device("gpu-1", "gpu-server"), fake.device("gpu-2", "gpu-server")
    tag = {"id": 1, "name": "Rail 1", "slug": "rail-1"}
    leaves = fake.device("leaf-0", "leaf-switch"), fake.device("leaf-1", "tor", tags=[tag])
    spine = fake.device("spine-0", "spine", platform={"id": 1, "name": "EOS", "slug": "arista-eos"})
    fake.cable((one, "nic0"), (leaves[0], "swp1"), near={"custom_fields": {"rail": 0}})
    fake.cable((leaves[1], "swp1"), (one, "nic1"), far={"speed": 200_000_000})
    on_cable = {"tags": [{**tag, "slug": "rail-0"}], "length": 3.0, "length_unit": {"value": "m", "label": "Meters"}}
    fake.cable((two, "nic0"), (leaves[0], "swp2"), on_cable=on_cable)
    fake.cable((two, "nic1"), (leaves[1], "swp2"), panel=1, near={"tags": [tag]})
    fake.cable((spine, "Et1"), (leaves[0], "swp3"))


def test_devices_become_targets(tmp_path: Path, netbox: Fake) -> None:
    fabric(netbox)
    inventory = loaded(tmp_path, netbox, ", filter: {site: dc1, status: [active, planned]}")
    assert [(target.name, target.role, target.platform) for target in inventory.targets] == [
        ("gpu-1", Role.HOST, ""),
        ("gpu-2", Role.HOST, ""),
        ("leaf-0", Role.LEAF, ""),
        ("leaf-1", Role.LEAF, ""),
        ("spine-0", Role.SPINE, "eos"),
    ]
    first = inventory.targets[0]
    assert (first.address, first.pod, first.rack, first.unit, first.line) == ("10.0.0.1", "dc1", "R01", 11, 2)
    assert first.ssh.user == "truerail"
    assert inventory.notes == ()
    assert "status=active&status=planned" in netbox.asked[0]
    assert all(path.startswith("/api/dcim/") for path in netbox.asked), "no request but these three"


def test_cables_become_the_plan(tmp_path: Path, netbox: Fake) -> None:
    fabric(netbox)
    netbox.device("pp-2", "patch-panel")
    plan = loaded(tmp_path, netbox).plan
    assert plan
    assert plan.cables == (
        Cable(Port("gpu-1", "nic0"), Port("leaf-0", "swp1"), 0, None, 400.0, "c1"),
        Cable(Port("gpu-1", "nic1"), Port("leaf-1", "swp1"), 1, None, 200.0, "c2"),
        Cable(Port("gpu-2", "nic0"), Port("leaf-0", "swp2"), 0, None, 400.0, "c3", 3.0),
        Cable(Port("gpu-2", "nic1"), Port("leaf-1", "swp2"), 1, None, 400.0, "c4", via=PANELS),
        Cable(Port("leaf-0", "swp3"), Port("spine-0", "Et1"), None, None, 400.0, "c6"),
    )
    assert (sorted(plan.rails), plan.transport, plan.devices["leaf-1"].role) == ([0, 1], Transport.ROCE, Role.LEAF)
    assert plan.panels == {"pp-2": Panel("R01", 16)}


def test_what_is_no_cable_of_the_fabric_is_noted(tmp_path: Path, netbox: Fake) -> None:
    host, leaf, storage = netbox.device("gpu-1", "gpu"), netbox.device("leaf-0", "leaf"), netbox.device("st", "storage")
    netbox.cable((host, "nic0"), (leaf, "swp1"))
    netbox.cable((host, "nic1"), (storage, "e0"))
    netbox.cable((host, "nic2"), (leaf, "swp3"), near={"connected_endpoints": [{"id": 2}, {"id": 4}]}, far={"id": 99})
    netbox.cable((host, "nic3"), (leaf, "swp4"), near={"connected_endpoints": None}, far={"mgmt_only": True})
    inventory = loaded(tmp_path, netbox)
    assert inventory.plan
    assert [str(cable.a) for cable in inventory.plan.cables][:1] == ["gpu-1/nic0"]
    notes = "\n".join(inventory.notes)
    assert "st: left out, its role 'storage' is unknown; map it with `roles:`" in notes
    assert "gpu-1/nic1: not in the plan, its other end is not in this inventory" in notes
    assert "gpu-1/nic2: not in the plan, it connects several ports (a breakout)" in notes
    assert "gpu-1/nic3: not in the plan, its path ends in a patch panel" in notes
    assert "gpu-1/nic0" in notes.rpartition("\n")[2]
    assert "no rail in NetBox" in notes


def test_slugs_are_mapped_and_pods_chosen(tmp_path: Path, netbox: Fake) -> None:
    netbox.device("a", "worker", custom_fields={"pod": 7}, platform={"id": 1, "slug": "house-os"}, primary_ip=None)
    netbox.device("b", "worker", primary_ip=None)
    netbox.devices[0]["primary_ip4"] = netbox.devices[1]["name"] = None
    more = ", roles: {worker: host}, platforms: {house-os: linux}, pod: 'cf:pod'"
    inventory = loaded(tmp_path, netbox, more)
    (target,) = inventory.targets
    assert (target.role, target.platform, target.pod, target.address) == (Role.HOST, "linux", "7", "a")
    assert inventory.plan is None
    assert "device 2: left out, it has no name in NetBox" in inventory.notes
    assert "a: no primary IP address in NetBox, reached by name" in inventory.notes


def test_infiniband_is_reported_by_the_interfaces(tmp_path: Path, netbox: Fake) -> None:
    host, leaf = netbox.device("gpu-1", "gpu"), netbox.device("leaf-0", "leaf")
    kind = {"type": {"value": "infiniband-ndr", "label": "NDR"}}
    netbox.cable((host, "mlx5_0"), (leaf, "1"), near=kind, far=kind)
    plan = loaded(tmp_path, netbox).plan
    assert plan
    assert (plan.transport, plan.cables[0].speed_gbps) == (Transport.INFINIBAND, 400.0)


def test_many_devices_are_asked_in_pages_and_parts(tmp_path: Path, netbox: Fake) -> None:
    netbox.page = 50
    for number in range(230):
        netbox.device(f"gpu-{number:03}", "gpu")
    assert len(loaded(tmp_path, netbox).targets) == 230
    assert all(path.count("device_id=") <= 100 for path in netbox.asked)
    assert all(len(path) < 4000 for path in netbox.asked)


def test_a_wrong_token_is_reported_without_it(
    tmp_path: Path, netbox: Fake, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    monkeypatch.setenv("NETBOX_TOKEN", f"wrong-{TOKEN}")
    assert "netbox.yaml:2: NetBox: devices: 403 Forbidden" in fault(tmp_path, netbox)
    monkeypatch.delenv("NETBOX_TOKEN")
    assert "token: environment variable NETBOX_TOKEN is not set" in fault(tmp_path, netbox)
    assert TOKEN not in caplog.text


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ((500, f'{{"detail": "token {TOKEN}"}}'), "500 Internal Server Error"),
        ((200, "<html>"), "the answer is not JSON; is this NetBox's address?"),
        ((302, ""), "the answer is not JSON"),
        ((200, '{"count": 0, "next": null, "previous": null, "results": []}'), "no device for this filter"),
    ],
)
def test_a_server_that_does_not_answer_as_netbox(
    tmp_path: Path, netbox: Fake, answer: tuple[int, str], expected: str
) -> None:
    netbox.answer = answer
    assert expected in fault(tmp_path, netbox)


def test_the_token_goes_to_no_other_server(tmp_path: Path, netbox: Fake) -> None:
    for number in range(20):
        netbox.device(f"gpu-{number}", "gpu")
    netbox.next_from = "http://127.0.0.2:9"
    assert "a link to another server" in fault(tmp_path, netbox)


def test_a_server_that_is_not_there(tmp_path: Path, netbox: Fake) -> None:
    netbox.url = "http://127.0.0.1:1"
    assert "devices: ConnectionError" in fault(tmp_path, netbox)


def test_a_machine_that_tells_the_fabric_needs_no_role_and_is_not_in_the_plan(tmp_path: Path, netbox: Fake) -> None:
    host, leaf = (
        netbox.device("gpu-1", "gpu"),
        netbox.device("leaf-0", "leaf", platform={"id": 2, "slug": "infiniband"}),
    )
    ufm = netbox.device("ufm-1", "server", platform={"id": 1, "slug": "ufm-appliance"})
    netbox.cable((host, "mlx5_0"), (leaf, "1"))
    netbox.cable((ufm, "mlx5_0"), (leaf, "40"))
    inventory = loaded(tmp_path, netbox, ", platforms: {ufm-appliance: infiniband}")
    found = {target.name: (target.role, target.platform) for target in inventory.targets}
    assert found == {"gpu-1": (Role.HOST, ""), "leaf-0": (Role.LEAF, ""), "ufm-1": (None, "infiniband")}
    assert inventory.plan
    assert set(inventory.plan.devices) == {"gpu-1", "leaf-0"}
    assert [str(cable.a) for cable in inventory.plan.cables] == ["gpu-1/mlx5_0"]
    assert "leaf-0/40: not in the plan, its other end is not in this inventory" in inventory.notes
