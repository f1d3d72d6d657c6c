"""The keys of an inventory in YAML, native or NetBox: what the reader knows, and the JSON Schema that `truerail schema
inventory` prints.
"""

from typing import Any

from truerail.files.yaml_keys import (
    NODE_SETS,
    SECRET,
    TEXT,
    YES,
    Key,
    Keys,
    document,
    matching,
    one_of,
    whole_number,
    whole_numbers,
)
from truerail.files.yaml_values import MOST_UNITS
from truerail.inventory.inventory_checks import HIGHEST_PORT
from truerail.model import PLATFORMS, Role

AUTH_PROTOCOLS = ("sha256", "sha384", "sha512")
PRIVACY_PROTOCOLS = ("aes128", "aes192", "aes256")
"""RFC 7860 and RFC 3826 upwards: MD5, SHA-1 and DES are not offered."""
ENGINES = ("auto", "gufo", "pysnmp")

_USER = matching(r"^[^\s:@/-][^\s:@/]{0,63}$")
_PORT = whole_number(HIGHEST_PORT, 1)
_SECONDS = matching(r"^\d{1,4}(\.\d{1,3})?$", number=True)
_REFERENCE = "{env: NAME}, {file: PATH} or {credential: NAME}; never the secret itself."

SNMP = Keys(
    "snmp",
    "How SNMP is spoken.",
    Key("version", {"enum": ["2c", "3", 3]}, "2c needs `community`, 3 needs `user`. 2c by default."),
    Key("community", SECRET, f"Of version 2c: {_REFERENCE}"),
    Key("user", _USER, "Of version 3."),
    Key("auth_protocol", one_of(AUTH_PROTOCOLS), "sha256 by default."),
    Key("auth", SECRET, f"Authentication of version 3: {_REFERENCE}"),
    Key("privacy_protocol", one_of(PRIVACY_PROTOCOLS), "aes128 by default."),
    Key("privacy", SECRET, f"Encryption of version 3: {_REFERENCE}"),
    Key("port", _PORT, "161 by default."),
    Key("engine", one_of(ENGINES), "The SNMP library; auto by default."),
)

GNMI = Keys(
    "gnmi",
    "How gNMI is spoken. The device's certificate is always checked.",
    Key("ca", TEXT, "PEM file of the CA that signs the devices' certificates.", needed=True),
    Key("server_name", matching(r"^[A-Za-z0-9_][A-Za-z0-9._-]{0,252}$"), "In the certificate, if not the address."),
    Key("user", _USER, "Login, sent as metadata; none by default."),
    Key("password", SECRET, f"Of that user: {_REFERENCE}"),
    Key("certificate", TEXT, "PEM file of a client certificate."),
    Key("key", TEXT, "PEM file of the client certificate's private key."),
    Key("target", matching(r"^[A-Za-z0-9._-]{1,64}$"), "The target of the prefix: OC-YANG on SONiC."),
    Key("port", _PORT, "9339 by default."),
)
TRANSPORTS = ("ssh", "gnmi")

_ACCESS = (
    Key("role", one_of([*Role]), "Detected where absent."),
    Key("platform", one_of(PLATFORMS), "Detected where absent; infiniband reports the links of an entire fabric."),
    Key(
        "zone", matching(r"^[A-Za-z0-9_-]{1,64}$"), "Pollers of this zone reach it (docs/scale.md); default by default."
    ),
    Key("timeout_seconds", _SECONDS, "For a connection and for each answer: 10 by default."),
    Key("user", _USER, "Login; the user who runs truerail by default."),
    Key("key", TEXT, "Path of a private key. Without one: agent and the usual keys."),
    Key("password", SECRET, _REFERENCE),
    Key("known_hosts", TEXT, "~/.ssh/known_hosts by default."),
    Key("port", _PORT, "22 by default."),
    Key("jump", NODE_SETS, "Jump hosts such as ops@bastion:22, the first hop first."),
    Key("agent", YES, "Whether ssh-agent is used: yes by default."),
    Key("keyboard_interactive", YES, "Whether it is allowed: no by default."),
    Key("legacy_algorithms", YES, "Whether they are allowed: no by default."),
    Key("snmp", SNMP.one, "How SNMP is spoken."),
    Key("transport", one_of(TRANSPORTS), "gnmi: switches are asked by gNMI. ssh by default; hosts always are."),
    Key("gnmi", GNMI.one, "How gNMI is spoken."),
)
DEFAULTS = Keys(
    "defaults",
    "What holds for each device whose entry does not have the key.",
    *_ACCESS,
    Key("pod", NODE_SETS, "Pods, shared out in runs over the devices."),
)
DEVICE = Keys(
    "device",
    "One device, or those of a node set.",
    Key("name", NODE_SETS, "Name, or node set such as gpu-[001-064].", needed=True),
    Key("address", NODE_SETS, "Host name, IPv4 or IPv6 address, one for each name; the name by default."),
    Key("rack", NODE_SETS, "Racks, shared out in runs over the devices."),
    Key("unit", whole_numbers(MOST_UNITS), "A rack unit for all, or one for each place in a rack."),
    *DEFAULTS.keys,
)
NATIVE = Keys(
    "inventory",
    "The devices, and how each is reached.",
    Key("defaults", {"anyOf": [DEFAULTS.one, {"type": "null"}]}, DEFAULTS.meaning),
    Key("devices", DEVICE.some, "The devices: one entry, or a list of entries.", needed=True),
)

NETBOX = Keys(
    "netbox",
    "A NetBox to query.",
    Key("url", matching(r"^https?://[^/?#@]+[^?#@]*$"), "Its address; http only for this machine.", needed=True),
    Key("token", SECRET, f"Read-only is enough: {_REFERENCE}", needed=True),
    Key("filter", {"type": "object", "additionalProperties": NODE_SETS}, "Parameters of dcim/devices/."),
    Key("roles", {"type": "object", "additionalProperties": one_of([*Role])}, "Roles by NetBox's slugs."),
    Key("platforms", {"type": "object", "additionalProperties": one_of(PLATFORMS)}, "Platforms by NetBox's slugs."),
    Key("pod", matching("^(site|location|tenant|cf:.*)$"), "What of a device is its pod: site by default."),
    Key("timeout_seconds", _SECONDS, "For each answer: 30 by default."),
)
NETBOX_FILE = Keys(
    "netbox_file",
    "A NetBox to query, and how its devices are reached.",
    Key("netbox", NETBOX.one, NETBOX.meaning, needed=True),
    NATIVE.keys[0],
)


def inventory_schema() -> dict[str, Any]:
    """The JSON Schema of an inventory in YAML: native, or a NetBox."""
    parts = (DEFAULTS, DEVICE, SNMP, GNMI, NETBOX)
    schema = document("truerail inventory", NATIVE, parts)
    schema["properties"] = {**NETBOX_FILE.schema["properties"], **schema["properties"]}
    del schema["required"]
    schema["oneOf"] = [{"required": list(NATIVE.needed)}, {"required": list(NETBOX_FILE.needed)}]
    return schema
