"""Small fabrics for the stories of cables: what truerail shows of them while a cable is right, and while it is not."""

from dataclasses import dataclass

from dashboards.rules.declared import Series, labels


@dataclass(frozen=True, slots=True)
class Cable:
    """A fabric whose cables of `hosts` hosts on `rails` rails go bad. `state` is that of `truerail_link_state`."""

    fabric: str
    rule: str
    state: int
    severity: str = "critical"
    muted: str = "no"
    plane: str = ""
    in_use: bool = True
    hosts: int = 1
    rails: int = 1
    action: str = "move"

    def link(self, host: int = 0, rail: int = 0) -> dict[str, str]:
        """The labels that identify a cable."""
        names = {"pod": "p1", "host": f"gpu-{host + 1:03}", "rail": str(rail)}
        return {**names, **({"plane": self.plane} if self.plane else {}), "nic": f"nic{rail}"}

    def place(self, host: int = 0, rail: int = 0) -> dict[str, str]:
        """All labels of a cable, with where it belongs."""
        leaf = {"switch": f"leaf-{rail}", "switch_port": f"swp{host + 1}"}
        return {**self.link(host, rail), **leaf, "rack": "r01", "switch_rack": "net"}


def cables(cable: Cable) -> tuple[Series, ...]:
    """What truerail shows: the bad cables, and of each leaf as many right ones as make the bad a minority, but for
    fabrics of which all hosts are meant.
    """
    fabric = cable.fabric
    reported = [
        Series("truerail_evaluation_number", labels(fabric=fabric), 7, 8),
        *(_ratio(cable, rail) for rail in range(cable.rails)),
    ]
    hosts = cable.hosts if cable.hosts > 1 else 4
    for host in range(hosts):
        for rail in range(cable.rails):
            reported += _link(cable, host, rail, bad=host < cable.hosts)
    return tuple(reported)


def _ratio(cable: Cable, rail: int) -> Series:
    value = 1.0 if cable.in_use else 0.1
    return Series("truerail_rail_right_ratio", labels(fabric=cable.fabric, pod="p1", rail=str(rail)), value, value / 2)


def _link(cable: Cable, host: int, rail: int, *, bad: bool) -> list[Series]:
    link = {"fabric": cable.fabric, **cable.link(host, rail)}
    info = {"fabric": cable.fabric, **cable.place(host, rail), "netdev": f"eth{rail}"}
    reported = [
        Series("truerail_link_state", labels(**link), 0, cable.state if bad else 0),
        Series("truerail_link_info", labels(**info), 1, 1),
    ]
    if not bad:
        return reported
    if cable.state == 3:
        seen = {"actual_switch": "leaf-6", "actual_switch_port": f"swp{host + 1}", "action": cable.action}
        reported.append(Series("truerail_link_actual_info", labels(**link, **seen), None, 1))
    found = {"fabric": cable.fabric, "pod": "p1", "host": link["host"], "rail": link["rail"], "rule": cable.rule}
    reported.append(
        Series("truerail_device_findings", labels(**found, severity=cable.severity, muted=cable.muted), None, 1)
    )
    return reported
