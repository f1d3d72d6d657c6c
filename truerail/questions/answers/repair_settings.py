"""Settings that repair findings: MTU, lossless traffic, hash seeds and descriptions, by device."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from truerail.model.finding import Finding
from truerail.model.plan import Role
from truerail.outputs.port_settings import Setting, setting_commands
from truerail.questions.repair_diff import SettingChange
from truerail.views.view import View

USUAL_MTU: Final[Mapping[str, int]] = {"eos": 9214}
"""The largest MTU of a port by platform, else `LARGE_MTU`: LNK002 names it as usual on switches."""
LARGE_MTU: Final = 9216
SEEDS: Final[Mapping[Role, int]] = {Role.LEAF: 101, Role.SPINE: 202, Role.SUPERSPINE: 303}
"""A hash seed for each tier: any numbers that differ."""
_REHASHED: Final = (
    "all flows are rehashed, and on some platforms and releases all ports reset (Cumulus Linux restarts switchd): "
    "in a maintenance window; check that no other tier has this seed"
)


class _Wanted(NamedTuple):
    """Settings of one device, and what has none."""

    device: str
    settings: Sequence[Setting]
    no_diff: tuple[str, ...] = ()
    warning: str = ""


def setting_changes(view: View, findings: Iterable[Finding]) -> tuple[SettingChange, ...]:
    """The changes that repair findings of `RULES`, in their order."""
    return tuple(_change(view, one, wanted) for one in findings for wanted in RULES[one.rule](view, one))


def _change(view: View, finding: Finding, wanted: _Wanted) -> SettingChange:
    device = view.plan.devices.get(wanted.device)
    if device is None:
        reason = "the plan does not have this device"
        return SettingChange(wanted.device, finding.id, finding.summary, "", {}, (*wanted.no_diff, reason))
    made = setting_commands(device, wanted.settings)
    warning = wanted.warning if made.lines else ""
    none = (*wanted.no_diff, *made.no_diff)
    return SettingChange(device.name, finding.id, finding.summary, warning, made.lines, none)


def _mtu(view: View, finding: Finding) -> Iterator[_Wanted]:
    """The NIC as most of its rail, and its switch port large enough."""
    detail = dict(finding.detail)
    own, usual, taken = (detail.get(name) for name in ("mtu", "rail_mtu", "partner_mtu"))
    needed = own or 0
    if usual and usual != own:
        needed = usual
        yield _Wanted(finding.device, [Setting("mtu", usual, own, finding.subject.partition("/")[2])])
    switch, _, port = str(detail.get("partner", "")).partition("/")
    if taken and taken < needed:
        known = view.plan.devices.get(switch)
        largest = USUAL_MTU.get(known.platform if known else "", LARGE_MTU)
        if needed <= largest:
            yield _Wanted(switch, [Setting("mtu", largest, taken, port)])
        else:
            yield _Wanted(switch, (), (f"MTU of {port}: no port takes {needed}, {largest} at most",))


def _qos(view: View, finding: Finding) -> Iterator[_Wanted]:
    """The ports as the plan declares, or as most of their peers, device by device."""
    detail: Mapping[str, Any] = dict(finding.detail)
    wanted, actual = detail.get("wanted", {}), detail.get("actual", {})
    open_ = tuple(
        f"{field.replace('_', ' ')}: the two ends differ, and no majority shows which is right"
        for field in detail.get("settings", ())
        if field not in wanted
    )
    ports: dict[str, list[str]] = {}
    for name in detail.get("differing_ports", ()):
        device, _, port = str(name).partition("/")
        ports.setdefault(device, []).append(port)
    for device, names in ports.items():
        values = {field: _large_enough(view, device, field, value) for field, value in wanted.items()}
        settings = [Setting(field, values[field], actual.get(field), port) for port in names for field in values]
        yield _Wanted(device, settings, open_)


def _large_enough(view: View, device: str, field: str, value: Any) -> Any:
    """The value itself; of a switch port's MTU the usual one, where the declared MTU of NICs fits."""
    known = view.plan.devices.get(device)
    if field != "mtu" or known is None or known.role is Role.HOST:
        return value
    return max(value, USUAL_MTU.get(known.platform, LARGE_MTU))


def _pauses(view: View, finding: Finding) -> Iterator[_Wanted]:
    """Global pause off; which priorities are lossless is not known here."""
    detail = dict(finding.detail)
    port = finding.subject.partition("/")[2]
    settings = [Setting("global_pause", False, True, port)] if detail.get("global_pause") else []
    open_ = ("PFC priorities: pauses show what is sent, not what is set; CFG001 compares the settings",)
    yield _Wanted(finding.device, settings, open_ if detail.get("priorities") else ())


def _subnet(view: View, finding: Finding) -> Iterator[_Wanted]:
    yield _Wanted(finding.device, (), ("address: the plan has the subnet of the rail, and no address of each NIC",))


def _descriptions(view: View, finding: Finding) -> Iterator[_Wanted]:
    """Each port described as the other end of its cable."""
    wanted = dict(finding.detail).get("descriptions", {})
    yield _Wanted(finding.device, [Setting("description", text, port=port) for port, text in wanted.items()])


def _seed(view: View, finding: Finding) -> Iterator[_Wanted]:
    """Another hash seed than the other tiers have."""
    device = view.plan.devices.get(finding.device)
    seed = SEEDS.get(device.role) if device else None
    settings = [Setting("hash_seed", seed)] if seed else []
    yield _Wanted(finding.device, settings, () if settings else ("hash seed: it is no switch of a tier",), _REHASHED)


RULES: Final[Mapping[str, Callable[[View, Finding], Iterator[_Wanted]]]] = {
    "LNK002": _mtu,
    "CFG001": _qos,
    "CFG002": _subnet,
    "PFC005": _pauses,
    "LBL001": _seed,
    "CAB010": _descriptions,
}
"""What settings repair a rule's findings."""
