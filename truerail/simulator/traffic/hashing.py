"""Hash functions of real switches over packet headers, for many flows at once.

CRC-16/CCITT and CRC-32 (IEEE 802.3), the XOR of 16-bit words, and Toeplitz with a 40-byte key (Microsoft's receive side
scaling). CRC and XOR are linear: a seed used only as their initial value renames the buckets and separates no flows
that were together. So the seed is applied as in switches and the Linux kernel, by a non-linear mix; Toeplitz has its
own key for each seed.
"""

from collections.abc import Callable
from enum import StrEnum
from zlib import crc32 as _zlib_crc32

import numpy as np
import numpy.typing as npt

from truerail.model.columns import Codes

Words = npt.NDArray[np.uint32]
Bytes = npt.NDArray[np.uint8]

ROCE_PORT = 4791
_UDP = 17
_KEY_BYTES = 13


class Hash(StrEnum):
    """A hash function."""

    CRC16 = "crc16"
    CRC32 = "crc32"
    XOR = "xor"
    TOEPLITZ = "toeplitz"


def source_ports(local_qp: Codes, remote_qp: Codes) -> Codes:
    """The UDP source port of each queue pair, 49152 to 65535 (Linux `rdma_get_udp_sport`, include/rdma/ib_verbs.h)."""
    product = local_qp.astype(np.uint64) * remote_qp.astype(np.uint64)
    product ^= product >> np.uint64(20)
    product ^= product >> np.uint64(40)
    label = product & np.uint64(0xFFFFF)
    low = (label & np.uint64(0x3FFF)) ^ (label >> np.uint64(14))
    return (low | np.uint64(0xC000)).astype(np.int64)


def header_keys(source: Codes, target: Codes, source_port: Codes) -> Bytes:
    """The five-tuple of each flow in network order, shape (flows, 13). Addresses are 32-bit numbers."""
    key = np.empty((len(source), _KEY_BYTES), dtype=np.uint8)
    key[:, 0:4] = _big_endian(source, 4)
    key[:, 4:8] = _big_endian(target, 4)
    key[:, 8] = _UDP
    key[:, 9:11] = _big_endian(source_port, 2)
    key[:, 11:13] = ROCE_PORT >> 8, ROCE_PORT & 255
    return key


def _big_endian(values: Codes, size: int) -> Bytes:
    shifts = np.arange(8 * (size - 1), -1, -8)
    return (values[:, None] >> shifts & 255).astype(np.uint8)


def _crc32_table() -> Words:
    zero = _zlib_crc32(b"\0\0\0\0")  # linear: the effect of a byte is the whole minus that of zeros
    ends = [_zlib_crc32(bytes((0, 0, 0, byte))) ^ zero for byte in range(256)]
    return np.array(ends, dtype=np.uint32)


def _crc16_table() -> Words:
    table = []
    for byte in range(256):
        value = byte << 8
        for _ in range(8):
            value = (value << 1) ^ (0x1021 if value & 0x8000 else 0)
        table.append(value & 0xFFFF)
    return np.array(table, dtype=np.uint32)


_CRC32, _CRC16 = _crc32_table(), _crc16_table()


def crc32(keys: Bytes) -> Words:
    """CRC-32 of each row, as by `zlib.crc32`."""
    value = np.full(len(keys), 0xFFFFFFFF, dtype=np.uint32)
    for column in keys.T:
        value = (value >> np.uint32(8)) ^ _CRC32[(value ^ column) & np.uint32(255)]
    return value ^ np.uint32(0xFFFFFFFF)


def crc16(keys: Bytes) -> Words:
    """CRC-16/CCITT-FALSE of each row."""
    value = np.full(len(keys), 0xFFFF, dtype=np.uint32)
    for column in keys.T:
        value = (value << np.uint32(8) & np.uint32(0xFFFF)) ^ _CRC16[(value >> np.uint32(8)) ^ column]
    return value


def xor_fold(keys: Bytes) -> Words:
    """The XOR of the 16-bit words of each row."""
    even = np.concatenate([keys, np.zeros((len(keys), 1), dtype=np.uint8)], axis=1).astype(np.uint32)
    words = even[:, 0::2] << np.uint32(8) | even[:, 1::2]
    return np.asarray(np.bitwise_xor.reduce(words, axis=1), dtype=np.uint32)


def toeplitz(keys: Bytes, secret: bytes) -> Words:
    """The Toeplitz hash of each row under a secret of at least four bytes more than a row."""
    return _toeplitz(np.unpackbits(keys, axis=1).astype(bool), _windows(secret)[None, :])


def _windows(secret: bytes) -> Words:
    """The 32 bits of the secret that begin at each bit of a key."""
    whole = int.from_bytes(secret, "big")
    bits = 8 * len(secret)
    return np.array([whole >> (bits - 32 - at) & 0xFFFFFFFF for at in range(8 * _KEY_BYTES)], dtype=np.uint32)


def _toeplitz(bits: npt.NDArray[np.bool_], windows: Words) -> Words:
    return np.asarray(np.bitwise_xor.reduce(np.where(bits, windows, np.uint32(0)), axis=1), dtype=np.uint32)


def mixed(values: Words, seeds: Words) -> Words:
    """Values mixed with a seed each, so that equal values with other seeds are unrelated (murmur3 fmix32)."""
    mix = values ^ (seeds * np.uint32(0x9E3779B1))
    mix = (mix ^ mix >> np.uint32(16)) * np.uint32(0x85EBCA6B)
    mix = (mix ^ mix >> np.uint32(13)) * np.uint32(0xC2B2AE35)
    return np.asarray(mix ^ mix >> np.uint32(16), dtype=np.uint32)


_PLAIN: dict[Hash, Callable[[Bytes], Words]] = {Hash.CRC16: crc16, Hash.CRC32: crc32, Hash.XOR: xor_fold}


class Hasher:
    """The hash of every flow on every switch. `seeds[device]` is each switch's seed; equal ones give equal hashes."""

    def __init__(self, function: Hash, keys: Bytes, seeds: Words) -> None:
        self._seeds = seeds
        self._values = _PLAIN[function](keys) if function in _PLAIN else None
        if self._values is None:
            self._bits = np.unpackbits(keys, axis=1).astype(bool)
            known, self._secret_of = np.unique(seeds, return_inverse=True)
            self._secrets = np.stack([_windows(np.random.default_rng([0x70E, int(seed)]).bytes(40)) for seed in known])

    def of(self, flows: Codes, device: Codes) -> Words:
        """The hash of these flows, each on its device. Shapes (n,)."""
        if self._values is None:
            return _toeplitz(self._bits[flows], self._secrets[self._secret_of[device]])
        return mixed(self._values[flows], self._seeds[device])
