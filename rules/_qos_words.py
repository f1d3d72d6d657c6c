"""Settings of lossless traffic in words, for summaries."""

from typing import Any

from truerail.model.names import printable


def setting_word(field: str, value: Any) -> str:
    """A setting in words: `PFC on 3`, `DSCP 26 to priority 3`, `ECN from 153,600 bytes`."""
    if field in ("pfc_priorities", "ecn_priorities"):
        name = "PFC" if field == "pfc_priorities" else "ECN"
        return f"{name} on {'/'.join(map(str, value))}" if value else f"{name} off"
    if field == "global_pause":
        return f"global pause {'on' if value else 'off'}"
    if field == "dscp_to_priority":
        return ", ".join(f"DSCP {dscp} to priority {priority}" for dscp, priority in value)
    if field == "mtu":
        return f"MTU {value}"
    if field == "ecn_probability":
        return f"ECN probability {value:g}"
    if field.endswith("_bytes"):
        name = {"ecn_min_bytes": "ECN from", "ecn_max_bytes": "ECN to"}.get(field, "headroom")
        return f"{name} {value:,} bytes"
    return f"{field} {printable(str(value), 20)}"
