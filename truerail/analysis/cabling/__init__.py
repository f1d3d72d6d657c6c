"""Actual cabling: device names, neighbours received over LLDP, links, and their comparison with the plan."""

from truerail.analysis.cabling.joined import State, Why, Wiring, evidence_of, join
from truerail.analysis.cabling.links import link_repair
from truerail.analysis.cabling.macs import shared_macs
from truerail.analysis.cabling.port_pairs import BOTH_ENDS, DEVICE_ONLY, ONE_END
from truerail.analysis.cabling.witnesses import KINDS as WITNESS_KINDS

__all__ = [
    "BOTH_ENDS",
    "DEVICE_ONLY",
    "ONE_END",
    "WITNESS_KINDS",
    "State",
    "Why",
    "Wiring",
    "evidence_of",
    "join",
    "link_repair",
    "shared_macs",
]
