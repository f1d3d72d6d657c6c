"""Spellings that several network operating systems share."""


def cisco_mac(mac: str) -> str:
    """`b83f.d200.0001`, as Cisco and Arista print a MAC."""
    digits = mac.replace(":", "")
    return ".".join(digits[i : i + 4] for i in (0, 4, 8))
