"""What hosts and switches of a small fabric answer about LLDP, drawn as each kind of device prints it.

Sources of the formats: lldpd's json_writer.c, sonic-utilities' lldpshow and intfutil, Junos' `lldp-mtx` schema as
recorded in netenglabs/suzieq and napalm-automation/napalm, iproute2's ip/ipaddress.c. Sources of what is sent: lldpd's
interfaces.c (a host's port is a MAC, or its name as soon as it has an alias), sonic-buildimage's lldpmgrd and
minigraph.py (a SONiC port is its alias, described by the planned neighbour), Junos' layer 2 documentation (a port is
its SNMP index, described by its configured text).
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from truerail.model.names import answer_file

End = tuple[str, str]
"""A device and one of its ports, by the name that its own system has for it."""


@dataclass(frozen=True)
class Sent:
    """What a port sends: subtype and text of its id, and its description."""

    kind: str
    id: str
    text: str | None


@dataclass
class Fabric:
    """Hosts with one NIC on each rail's leaf, and leaves with uplinks. `wires` is what is plugged in, from the lower
    end; `planned` what should be.

    `nos` is `sonic` or `junos`. `labels` is what switches describe their ports with: `peer` the planned neighbour,
    `old` one of another plan, `none`. `plan_port` names a switch port in the plan.
    """

    hosts: int = 8
    rails: int = 2
    spines: int = 2
    nos: str = "sonic"
    labels: str = "peer"
    lanes: int = 4
    alias: Callable[[int], str] = staticmethod(lambda cage: f"etp{cage}")  # noqa: RUF009 - a function, not a value
    plan_port: Callable[["Fabric", str], str] = staticmethod(lambda fabric, port: port)  # noqa: RUF009 - likewise
    host_alias: bool = False
    called: dict[str, str] = field(default_factory=dict)
    silent: set[str] = field(default_factory=set)
    """Devices that do not answer."""
    switch_form: str = "json"
    wires: dict[End, End | None] = field(default_factory=dict)
    planned: dict[End, End] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for host in range(1, self.hosts + 1):
            for rail in range(self.rails):
                self.planned[f"gpu-{host:03d}", f"ens{rail + 1}f0np0"] = (f"leaf-{rail}", self.port(host))
        for rail in range(self.rails):
            for spine in range(self.spines):
                for link in range(2):
                    up = (f"leaf-{rail}", self.port(self.hosts + 1 + spine * 2 + link))
                    self.planned[up] = (f"spine-{spine}", self.port(1 + rail * 2 + link))
        self.wires = dict(self.planned)

    def port(self, cage: int) -> str:
        """A switch's own name for the port in a cage, counted from 1."""
        return f"Ethernet{(cage - 1) * self.lanes}" if self.nos == "sonic" else f"et-0/0/{cage - 1}"

    def cage(self, port: str) -> int:
        """The cage of a switch's port, counted from 1."""
        number = int(port.removeprefix("Ethernet").rpartition("/")[2])
        return number // self.lanes + 1 if self.nos == "sonic" else number + 1

    def swap(self, one: End, other: End) -> None:
        """Swaps two cables."""
        self.wires[one], self.wires[other] = self.wires[other], self.wires[one]

    def exchange_names(self, one: str, other: str) -> None:
        """Two devices carry each other's names."""
        self.called[one], self.called[other] = other, one

    @property
    def devices(self) -> list[str]:
        """All devices, by what they are and not by what they call themselves."""
        return list(dict.fromkeys(device for wire in self.planned.items() for device, _ in wire))

    def plan(self) -> str:
        """The plan as the native CSV."""
        roles = {"gpu": "host", "leaf": "leaf", "spine": "spine"}
        rows = ["a_device,a_role,a_port,b_device,b_role,b_port,rail,plane,speed_gbps"]
        for (a, a_port), (b, b_port) in self.planned.items():
            rail = str(int(b.removeprefix("leaf-"))) if a.startswith("gpu") else ""
            names = [
                port if d.startswith("gpu") else self.plan_port(self, port) for d, port in ((a, a_port), (b, b_port))
            ]
            rows.append(f"{a},{roles[a.split('-')[0]]},{names[0]},{b},{roles[b.split('-')[0]]},{names[1]},{rail},,400")
        return "\n".join(rows) + "\n"

    def capture(self) -> dict[str, str]:
        """Every answer by its place in a capture tree."""
        found: dict[str, str] = {}
        for device in self.devices:
            if device not in self.silent:
                answers = self._host(device) if device.startswith("gpu") else self._switch(device)
                found |= {f"{device}/{answer_file(command)}": text for command, text in answers.items()}
        return found

    # who hears what

    def heard(self, device: str) -> Iterator[tuple[str, End]]:
        """Each port of a device that has link, and the end of its cable."""
        for a, b in self.wires.items():
            if b is not None:
                for own, far in ((a, b), (b, a)):
                    if own[0] == device:
                        yield own[1], far

    def sent(self, end: End) -> Sent:
        """What a port sends."""
        device, port = end
        if device.startswith("gpu"):
            if self.host_alias:
                leaf, leaf_port = self.planned[end]
                return Sent("ifname", port, f"{leaf}:{leaf_port}")
            return Sent("mac", self.mac(end), port)
        label = self.label(end)
        if self.nos == "sonic":
            return Sent("local", self.alias(self.cage(port)), label or self.alias(self.cage(port)))
        return Sent("local", str(self.index(end)), label or port)

    def index(self, end: End) -> int:
        """The SNMP index of a Junos port: they start elsewhere on each switch."""
        return 500 + 7 * self.devices.index(end[0]) + self.cage(end[1])

    def label(self, end: End) -> str | None:
        """The configured description of a switch's port."""
        peers = {b: a for a, b in self.planned.items()} | self.planned
        if self.labels == "none":
            return None
        if self.labels == "old":  # as the plan was before hosts were numbered from the other side
            device, port = peers[end]
            kind, number = device.split("-")
            return f"{kind}-{(int(number) % self.hosts) + 1:03d}:{port}" if kind == "gpu" else f"spine-9:{port}"
        separator = ":" if self.nos == "sonic" else " "
        return separator.join(peers[end])

    def chassis(self, device: str) -> str:
        """A device's chassis id."""
        return f"0c:42:a1:{self.devices.index(device):02x}:00:01"

    def mac(self, end: End) -> str:
        """A host port's MAC."""
        return f"b8:ce:f6:{self.devices.index(end[0]):02x}:00:{int(end[1][3]) + 15:02x}"

    def name(self, device: str) -> str:
        """What a device calls itself."""
        return self.called.get(device, device)

    def address(self, device: str) -> str:
        """A device's management address."""
        return f"10.9.{self.devices.index(device) // 250}.{self.devices.index(device) % 250 + 1}"

    # answers

    def _host(self, device: str) -> Mapping[str, str]:
        ports = [port for host, port in self.planned if host == device]
        lit = {port for port, _ in self.heard(device)}
        links = [
            {
                "ifname": port,
                "flags": ["BROADCAST", "MULTICAST", "UP", "LOWER_UP"] if port in lit else ["NO-CARRIER", "UP"],
                "mtu": 9000,
                "operstate": "UP" if port in lit else "DOWN",
                "address": self.mac((device, port)),
                **({"ifalias": ":".join(self.planned[device, port])} if self.host_alias else {}),
            }
            for port in ports
        ]
        state = {True: "ACTIVE physical_state LINK_UP", False: "DOWN physical_state DISABLED"}
        rdma = "".join(
            f"link mlx5_{number}/1 state {state[port in lit]} netdev {port} \n" for number, port in enumerate(ports)
        )
        return {"lldpctl -f json0": self._lldpd(device), "ip -j -d link": json.dumps(links), "rdma link": rdma}

    def _lldpd(self, device: str) -> str:
        interfaces = []
        for number, (port, far) in enumerate(self.heard(device), 1):
            sent = self.sent(far)
            interfaces.append(
                {
                    "name": port,
                    "via": "LLDP",
                    "rid": str(number),
                    "age": "3 days, 02:11:40",
                    "chassis": [
                        {
                            "id": [{"type": "mac", "value": self.chassis(far[0])}],
                            "name": [{"value": self.name(far[0])}],
                            "mgmt-ip": [{"value": self.address(far[0])}],
                        }
                    ],
                    "port": [
                        {
                            "id": [{"type": sent.kind, "value": sent.id}],
                            **({"descr": [{"value": sent.text}]} if sent.text else {}),
                            "ttl": [{"value": "120"}],
                        }
                    ],
                }
            )
        return json.dumps({"lldp": [{"interface": interfaces}]})

    def _switch(self, device: str) -> Mapping[str, str]:
        if self.nos == "sonic":
            if self.switch_form == "table":
                return {"show lldp table": self._sonic_table(device)}
            if self.switch_form == "status":
                return {"show lldp table": self._sonic_table(device), "show interfaces status": self._status(device)}
            return {"docker exec lldp lldpctl -f json0": self._lldpd(device)}
        form = {"json": self._junos_json, "xml": self._junos_xml, "text": self._junos_text}[self.switch_form]
        command = "show lldp neighbors" if self.switch_form == "text" else "show lldp neighbors detail"
        return {
            command + {"json": " | display json", "xml": " | display xml", "text": ""}[self.switch_form]: form(device)
        }

    def _sonic_table(self, device: str) -> str:
        rows = [("LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr")]
        for port, far in self.heard(device):
            sent = self.sent(far)
            rows.append((port, self.name(far[0]), sent.id, "BR", sent.text or ""))
        widths = [max(len(row[column]) for row in rows) for column in range(5)]
        shown = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        shown.insert(1, "  ".join("-" * width for width in widths))
        head = "Capability codes: (R) Router, (B) Bridge, (O) Other\n"
        return head + "\n".join(shown) + f"\n{'-' * 50}\nTotal entries displayed:  {len(rows) - 1}\n"

    def _status(self, device: str) -> str:
        """SONiC's table of ports, which has their aliases."""
        ports = dict.fromkeys(port for wire in self.planned.items() for own, port in wire if own == device)
        lit = {port for port, _ in self.heard(device)}
        rows = [("Interface", "Lanes", "Speed", "MTU", "FEC", "Alias", "Vlan", "Oper", "Admin", "Type", "Asym PFC")]
        for port in ports:
            cage, state = self.cage(port), "up" if port in lit else "down"
            lanes = ",".join(str((cage - 1) * self.lanes + lane) for lane in range(self.lanes))
            alias = self.alias(cage)
            rows.append((port, lanes, "400G", "9100", "rs", alias, "routed", state, "up", "OSFP 8X", "N/A"))
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        shown = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        shown.insert(1, "  ".join("-" * width for width in widths))
        return "\n".join(shown) + "\n"

    def _junos_leaves(self, device: str) -> Iterator[dict[str, str]]:
        kinds = {"mac": "Mac address", "ifname": "Interface name", "local": "Locally assigned"}
        for port, far in self.heard(device):
            sent = self.sent(far)
            yield {
                "lldp-ttl": "120",
                "lldp-local-interface": port,
                "lldp-local-parent-interface-name": "-",
                "lldp-local-port-id": str(self.index((device, port))),
                "lldp-remote-chassis-id-subtype": "Mac address",
                "lldp-remote-chassis-id": self.chassis(far[0]),
                "lldp-remote-port-id-subtype": kinds[sent.kind],
                "lldp-remote-port-id": sent.id,
                **({"lldp-remote-port-description": sent.text} if sent.text else {}),
                "lldp-remote-system-name": self.name(far[0]),
            }

    def _junos_json(self, device: str) -> str:
        entries = [{name: [{"data": value}] for name, value in leaves.items()} for leaves in self._junos_leaves(device)]
        return json.dumps({"lldp-neighbors-information": [{"lldp-neighbor-information": entries}]})

    def _junos_xml(self, device: str) -> str:
        entries = "".join(
            "<lldp-neighbor-information>"
            + "".join(f"<{name}>{value}</{name}>" for name, value in leaves.items())
            + "</lldp-neighbor-information>"
            for leaves in self._junos_leaves(device)
        )
        return (
            f'<rpc-reply><lldp-neighbors-information style="detail">{entries}</lldp-neighbors-information></rpc-reply>'
        )

    def _junos_text(self, device: str) -> str:
        """The brief form, in which the column `Port info` has the description where there is one."""
        rows = ["Local Interface    Parent Interface    Chassis Id          Port info          System Name"]
        for port, far in self.heard(device):
            sent = self.sent(far)
            info = sent.text or sent.id
            rows.append(f"{port:<19}{'-':<20}{self.chassis(far[0]):<20}{info:<18} {self.name(far[0])}")
        return "\n".join(rows) + "\n"
