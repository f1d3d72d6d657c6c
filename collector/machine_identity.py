"""The serial numbers of a machine itself: of a server's system, chassis and board, and of a switch.

Question: which machine answers under this name and address?
Needs: root on hosts, since the kernel shows serial numbers to root alone; a read-only login on switches.

| | answers |
|---|---|
| hosts | `path:value` lines of `grep -H .` over `/sys/class/dmi/id`; `dmidecode`; `ipmitool fru print` |
| SONiC, Cumulus Linux | the table of `show platform syseeprom` or `decode-syseeprom` (ONIE's TLV 0x23) |
| Arista EOS | `show version \\| json` |

Sources: the kernel's `drivers/firmware/dmi-id.c`; dmidecode(8); ipmitool(1); Open Compute's ONIE specification of the
system EEPROM; recorded answers in sonic-utilities' tests and in public tests of EOS.

Traps:

- Makers leave placeholders in: `To be filled by O.E.M.`, `SYS-1234567890`, zeros. They identify nothing.
- `dmidecode` and `ipmitool` label serial numbers of modules and power supplies alike: FRU 0 alone is the machine's.
- `product_uuid` is in lower case from the kernel, else in upper. The last line counts only if a line feed ends it.
"""

import re
from collections.abc import Iterator
from itertools import takewhile

from collector.formats.documents import unwrapped
from collector.formats.sysfs import files
from collector.formats.text import is_json, lines
from truerail.errors import NoAnswerError, UnreadableError
from truerail.model import EVERYWHERE, Command, Device, collector, minutes, saved_as
from truerail.model.witness_facts import MachineIdentity

_DMI = {"product_serial": "system", "chassis_serial": "chassis", "board_serial": "board", "product_uuid": "uuid"}
_DMIDECODE = re.compile(r"\s*(Serial Number|UUID):\s*(\S.*?)\s*")
_HEADING = re.compile(r"\s*(?:Handle 0x[0-9A-Fa-f]+,.*|[A-Z][\w /-]*)")
_OF_PART = re.compile(
    r"\s*(?:Device Model|Model (?:Number|Family)|(?:Bank )?Locator|Size|(?:Total|Data) Width|Form Factor|Slot|"
    r"Socket Designation|Part Number) *:"
)
"""What no block of a system, board or chassis has: the excerpt is a drive's (smartctl, hdparm) or a module's."""
_OF_MACHINE = {"System Information": "system", "Base Board Information": "board", "Chassis Information": "chassis"}
_FRU = re.compile(
    r"\s*FRU (?:Device Description|Inventory Device|Information) *: "
    r".*?(?:\((?:LUN 0 |FRU)?ID ([0-9A-Fa-f]+)h?\b[^()]*\))?\s*"
)
"""Whose serial numbers follow: `(ID 0)` and `(LUN 0 ID 0)` of ipmitool, `(ID 00h)` of FreeIPMI, `(ID 0, MainBoard)` of
openUBMC, a name alone of OpenBMC's `fruid-util`.
"""
_FRU_SERIAL = re.compile(r"\s*(?:FRU )?(Product|Board|Chassis) Serial(?: Number)? *: *(\S.*?)\s*")
_OF_FRU = {"Product": "system", "Board": "board", "Chassis": "chassis"}
_ONIE = re.compile(r"\s*Serial Number\s+0x23\s+\d+\s+(\S+)\s*")
_PLACEHOLDERS = frozenset(
    (
        *("none", "n/a", "na", "not specified", "not available", "default string", "default"),
        *("system serial number", "chassis serial number", "base board serial number", "serial number xxxxxx"),
        *("unknown", "unknow", "invalid", "empty", "not settable", "not applicable", "(null string)", "eval"),
        *("not present", "oem_serial", "systemserialnumb", "iatpass", "type2 - board serial number"),
        *("03000200-0400-0500-0006-000700080009", "00020003-0004-0005-0006-000700080009"),
        *("6ab5b300-538d-1014-9fb5-b0684d007b53", "12345678-1234-5678-90ab-cddeefaabbcc"),
        *("01010101-0101-0101-0101-010101010101", "ffffff00-ffff-ffff-ffff-ffffffffffff"),
    )
)
"""What makers leave in place of a serial number (dmidecode(8); public reports; GLPI's list of invalid ones)."""
_COUNTED = re.compile(r"(?:(?:bss|sys|mb|sn)-)?(\w{5,40})", re.IGNORECASE)
_COUNTING = ("0123456789abcdef", "9876543210", 4 * "1234567890")
"""A placeholder counts up: `123456789`, `SYS-1234567890`, `0123456789ABCDEF`."""


ASK = (
    Command("grep -sH . /sys/class/dmi/id/*_serial /sys/class/dmi/id/product_uuid", ("linux",)),
    Command("show platform syseeprom", ("sonic",)),
    Command("decode-syseeprom", ("cumulus",)),
    Command("show version | json", ("eos",)),
    *saved_as("dmidecode -t system", "dmidecode", "ipmitool fru print"),
)


@collector(on=EVERYWHERE, ask=ASK, every=minutes(60), yields=[MachineIdentity], optional=True)
def machine_identity(answer: str, device: Device) -> list[MachineIdentity]:
    """One `MachineIdentity` for each serial number. Raises `UnreadableError`."""
    found = [one for one in _reported(answer) if _identifies(one.serial)]
    systems = {one.serial for one in found if one.component == "system"}
    if len(systems) > 1:
        raise UnreadableError("serial numbers of two systems: answers of two machines", text=", ".join(sorted(systems)))
    if not found:
        raise NoAnswerError("no serial number of the machine in it", line=1, text=answer.strip().split("\n")[0])
    return list(dict.fromkeys(found))


def _reported(answer: str) -> Iterator[MachineIdentity]:
    if is_json(answer):
        document = unwrapped(answer)
        if isinstance(document, dict) and isinstance(document.get("serialNumber"), str):
            yield MachineIdentity("system", document["serialNumber"])
        return
    for path, value in files(answer):
        if part := _DMI.get(path.rpartition("/")[2]):
            yield MachineIdentity(part, value.strip())
    excerpt = takewhile(lambda line: not _HEADING.fullmatch(line), lines(answer))
    component = None if any(map(_OF_PART.match, excerpt)) else "system"
    of_machine = True  # FRU 0, or an excerpt
    for line in lines(answer)[:-1]:
        onie, dmi, named = _ONIE.fullmatch(line), _DMIDECODE.fullmatch(line), _FRU.fullmatch(line)
        of_fru = _FRU_SERIAL.fullmatch(line)
        if onie:
            yield MachineIdentity("system", onie[1])
        elif dmi and component:
            yield MachineIdentity("uuid" if dmi[1] == "UUID" else component, dmi[2])
        elif named:
            of_machine = named[1] is not None and not named[1].strip("0")
        elif of_fru and of_machine:
            yield MachineIdentity(_OF_FRU[of_fru[1]], of_fru[2])
        elif _HEADING.fullmatch(line):
            component = _OF_MACHINE.get(line.strip())


def _identifies(serial: str) -> bool:
    """Whether a text can be a serial number: no placeholder, no counted digits, and not one character repeated."""
    counted = _COUNTED.fullmatch(serial)
    if counted and any(row.startswith(counted[1].lower()) for row in _COUNTING):
        return False
    if serial.lower().startswith(("to be filled", "filled by")):
        return False
    return serial.lower() not in _PLACEHOLDERS and len(set(serial.lower()) - set(" -.")) > 1
