"""`mlxlink -c` of each NIC: the bit error rates of its link since its counters were cleared (mstflint
`mlxlink_commander.cpp`; recorded answers of a BlueField-3).
"""

from truerail.simulator.behaviours.chosen import Behaviours

_NO_ERROR = "15E-255"
_TITLE = "Physical Counters and BER Info"


COMMAND = "mlxlink -c"


def mlxlink(behaviours: Behaviours, device: str, *key: object, up: bool) -> str:
    """The answer for an RDMA device, below its command. Healthy links have 1e-12 to 8e-7 before FEC; just after they
    came up, more for a few seconds, and frames are lost.
    """
    draw = behaviours.draw("ber", *key)
    is_new = behaviours.value("mlxlink_rates") == "new"
    minutes = 0.1 + 0.8 * draw if is_new else 90.0 * 3000**draw
    raw = 10 ** (-5 + draw if is_new else -12 + 5.9 * behaviours.draw("raw_ber", *key))
    values = (
        ("Time Since Last Clear [Min]", f"{minutes:.1f}"),
        ("Effective Physical Errors", "41" if is_new else "0"),
        ("Effective Physical BER", "2E-12" if is_new else _NO_ERROR),
        ("Raw Physical Errors Per Lane", ",".join(str(int(raw * 1e13 * lane)) for lane in (4, 1, 3, 2))),
        ("Link Down Counter", "0"),
        ("Link Error Recovery Counter", "0"),
        ("Raw Physical BER", _written(raw)),
    )
    lines = [
        f"# {COMMAND} -d {device}",
        "",
        _TITLE,
        "-" * len(_TITLE),
        *(f"{label:<35}: {value if up else 'N/A'}" for label, value in values),
        "",
    ]
    return "\n".join(lines) + "\n"


def _written(rate: float) -> str:
    """A coefficient of one digit and an exponent: `3E-8`."""
    digit, _, exponent = f"{rate:.0e}".partition("e-")
    return f"{digit}E-{int(exponent)}"
