"""LLDP tables as an independent generator wrote them, out of vendors' manuals, that were once read wrongly."""

from tests.public_answers import Answers, reads
from truerail.model import Neighbor

_SPINE, _NIC = "e8:a5:5a:83:8f:2c", "b8:3f:d2:b9:70:9f"

ANSWERS: Answers = {
    "Junos: a description of several words is wider than its column": (
        "lldp_switch",
        """\
Local Interface    Parent Interface    Chassis Id          Port info          System Name
et-0/0/0           -                   b8:3f:d2:b9:70:9f   b8:3f:d2:b9:70:9f  gpu-001
et-0/0/39          -                   e8:a5:5a:83:8f:2c   to leaf-0 et-0/0/39 spine-0
""",
        [
            Neighbor("et-0/0/0", _NIC, "mac", "gpu-001", _NIC, "mac"),
            Neighbor("et-0/0/39", _SPINE, "mac"),
        ],
    ),
    "NVUE: a NIC that sends no name is named by its chassis": (
        "lldp_switch",
        """\
Interface  Speed  Type  Remote Host        Remote Port
---------  -----  ----  -----------------  -----------------
swp9       400G   swp   b8:3f:d2:b9:70:9f  b8:3f:d2:b9:70:9f
""",
        [Neighbor("swp9", _NIC, "mac", None, _NIC, "mac")],
    ),
    "NCLU: the same": (
        "lldp_switch",
        '{"swp9": {"iface_obj": {"lldp": [{"adj_hostname": "b8:3f:d2:b9:70:9f", "adj_port": "b8:3f:d2:b9:70:9f"}]}}}',
        [Neighbor("swp9", _NIC, "mac", None, _NIC, "mac")],
    ),
    "NVUE: the same as JSON, under its key": (
        "lldp_switch",
        '{"swp9": {"lldp": {"neighbor": {"b8:3f:d2:b9:70:9f": {"port": {"name": "b8:3f:d2:b9:70:9f"}}}}}}',
        [Neighbor("swp9", _NIC, "mac", None, _NIC, "mac")],
    ),
}

test_what_was_once_misread = reads(ANSWERS)
