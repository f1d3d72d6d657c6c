"""The bit error rate of each port before FEC and after it, as the device itself computed it.

Question: how many of the bits that each port receives are wrong, before and after forward error correction?
Needs: a read-only login on a switch; on a host root and NVIDIA's `mlxlink`, which is read from captures only: polled,
`ethtool -S` reports the same bits as counters.

| system | answers |
|---|---|
| SONiC | `show interfaces counters fec-stats`, `portstat -f`, also `-j`, from release 202411 on |
| Arista EOS | `show interfaces phy detail`, as JSON |
| mlxlink | `mlxlink -c` of each port, the command above it, text and `--json` |

Sources: sonic-swss `port_rates.lua`, sonic-utilities `portstat.py`, its tests and pull requests 3607, 4054 and 4124;
ANTA's VerifyInterfacesBER and its recorded answers; mstflint `mlxlink_commander.cpp`, recorded answers. Traps:

- SONiC computes its rate from one poll to the next, a second by default, and prints no time: it is not reported. The
  first rate after its start is all errors since boot over one poll, and `FEC_PRE_BER_MAX` keeps that: it is skipped.
- `FEC_POST_BER` is no measurement: lost frames times 1e-8 over all bits, 2.4e-14 at a million lost frames a second. It
  is skipped; `FEC_UNCORR` counts the same frames.
- After a restart of the counters SONiC prints a negative rate, for a port whose speed it does not know `inf` or `nan`,
  for a platform without the counters `N/A`: none of them is a rate.
- `FEC_CORR` is the difference to a cache that each user's `sonic-clear` fills: what a port corrected, or less.
- EOS lists each chip on the way with a `line` and a `system` side. Only the last chip's line side faces the cable: the
  others are inside the switch. The answer does not say which time the rate covers.
- `mlxlink` writes a coefficient and an exponent, `15E-255` where no error was counted. Its rates cover the time since
  the counters were cleared, so a link that is clean now may look bad, and a link that has just become bad clean.
- `mlxlink` prints what FEC left as `Effective Physical BER`; `Symbol BER` is what InfiniBand's retries left of that.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from collector.formats.counts import count
from collector.formats.documents import unwrapped
from collector.formats.table import rows, tables
from collector.formats.text import Section, asks, is_json, lines, sections
from truerail.errors import NoAnswerError, UnreadableError
from truerail.model import EVERYWHERE, BitErrorRate, Command, Device, collector, minutes, saved_as

_FEC_STATS = "fec_pre_ber"
_WITHOUT_LINK = ("d", "x")
"""SONiC's state of a port that is down, and of one that is switched off."""
_NUMBER = re.compile(r"\d{1,20}(?:\.\d{1,30})?(?:[eE][-+]?\d{1,4})?")
_HIGHEST = 0.5
"""As many wrong bits as right ones: a higher rate is no rate of errors."""
_NO_ERROR = "15E-255"
_MLXLINK, _BEFORE_FEC = "Physical Counters and BER Info", "Raw Physical BER"
_ASKED = asks("mlxlink", "(?:-d|--device)")


ASK = (
    Command("show interfaces counters fec-stats", ("sonic",)),
    Command("show interfaces phy detail | json", ("eos",)),
    *saved_as("portstat -f", "portstat -f -j", "mlxlink -c", "mlxlink -c -d {port}", "mlxlink --json -c -d {port}"),
)


@collector(on=EVERYWHERE, ask=ASK, every=minutes(5), yields=[BitErrorRate], optional=True)
def bit_error_rates(answer: str, device: Device) -> list[BitErrorRate]:
    """One `BitErrorRate` for each port with a rate. Raises `UnreadableError`, also if there is none."""
    text = lines(answer)
    if _MLXLINK in answer:
        found = [rate for section in sections(text, "mlxlink", _ASKED) for rate in _of_section(section, text)]
    elif is_json(answer):
        found = _from_json(unwrapped(answer))
    else:
        cells = rows(tables(answer), "iface", "state", "fec_corr", _FEC_STATS)
        found = [rate for line, of_port in cells for rate in _of_sonic(*of_port, line=line)]
    if not found:
        raise NoAnswerError("no bit error rate in it", line=1, text=text[0])
    return found


def _from_json(found: Any) -> list[BitErrorRate]:
    """A document of EOS or of SONiC. Raises `UnreadableError`."""
    ports = found.get("interfacePhyStatuses", found) if isinstance(found, dict) else None
    if not isinstance(ports, dict):
        raise UnreadableError("JSON that does not speak of bit error rates")
    cells = {port: value for port, value in ports.items() if isinstance(value, dict)}
    if ports is not found:
        return [rate for port, value in cells.items() for rate in _of_eos(port, value)]
    labels = ("STATE", "FEC_CORR", "FEC_PRE_BER")
    return [rate for port, value in cells.items() for rate in _of_sonic(port, *(value.get(of) for of in labels))]


def _of_sonic(port: str, state: Any, corrected: Any, before_fec: Any, *, line: int = 0) -> Iterator[BitErrorRate]:
    rate = _rate(before_fec)
    if rate is not None and str(state).lower() not in _WITHOUT_LINK:
        yield BitErrorRate(port, rate, corrected=count(corrected, line=line))


def _of_eos(port: str, reported: Mapping[str, Any]) -> Iterator[BitErrorRate]:
    """The rate at the cable: the line side of the last chip."""
    sides = [one for one in reported.get("phyStatuses", ()) if one.get("description", {}).get("location") == "line"]
    side = sides[-1] if sides else {}
    if (rate := _rate(side.get("preFecBer", {}).get("value"))) is not None:
        corrected = side.get("fec", {}).get("correctedCodewords", {}).get("value")
        yield BitErrorRate(port, rate, corrected=count(corrected))


def _of_section(section: Section, text: list[str]) -> Iterator[BitErrorRate]:
    body = "\n".join(section.lines)
    if is_json(body):
        reported = unwrapped(body)
        return _of_mlxlink(section.port, reported.get(_MLXLINK, {}))
    own = list(section.lines)
    if own and own[-1] is text[-1]:
        own.pop()  # without a line feed it may be cut
    pairs = [(label.strip(), value.strip()) for label, _, value in (line.partition(":") for line in own)]
    if [label for label, _ in pairs].count(_BEFORE_FEC) > 1:
        raise UnreadableError("a second port's rates, which no line names", line=section.line)
    return _of_mlxlink(section.port, dict(pairs))


def _of_mlxlink(port: str, reported: Mapping[str, Any]) -> Iterator[BitErrorRate]:
    before, effective, symbol = (
        _rate(reported.get(label)) for label in (_BEFORE_FEC, "Effective Physical BER", "Symbol BER")
    )
    after = effective if symbol is None else symbol
    since = str(reported.get("Time Since Last Clear [Min]", ""))
    if before is not None or after is not None:
        yield BitErrorRate(port, before, after, 60 * float(since) if _NUMBER.fullmatch(since) else None)


def _rate(value: Any) -> float | None:
    """A rate; None for a placeholder, and for a number that cannot be a share of wrong bits."""
    text = str(value).strip()
    if text.upper() == _NO_ERROR:
        return 0.0
    rate = float(text) if _NUMBER.fullmatch(text) else None
    return rate if rate is not None and rate <= _HIGHEST else None
