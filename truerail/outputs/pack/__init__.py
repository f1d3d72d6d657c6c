"""The cabling pack: what somebody with cables in hand takes along. Labels, rack sheets, port maps, a bill of cables."""

from truerail.outputs.pack.pack import Pack, make_pack

__all__ = ["Pack", "make_pack"]
