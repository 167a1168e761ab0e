"""FarmHash's Fingerprint64, by which TensorFlow puts strings into buckets (Google, 2014, MIT licence)."""

from __future__ import annotations

import struct

__all__ = ["fingerprint"]

_MASK = (1 << 64) - 1
_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F


def fingerprint(data: bytes) -> int:
    """Returns the 64-bit number of these bytes, which never changes."""
    size = len(data)
    if size <= 16:
        return _up_to_16(data, size)
    if size <= 32:
        return _up_to_32(data, size)
    return _up_to_64(data, size) if size <= 64 else _longer(data, size)


def _long(data: bytes, place: int) -> int:
    return struct.unpack_from("<Q", data, place)[0]


def _short(data: bytes, place: int) -> int:
    return struct.unpack_from("<I", data, place)[0]


def _turned(value: int, shift: int) -> int:
    value &= _MASK
    return ((value >> shift) | (value << (64 - shift))) & _MASK


def _mixed(value: int) -> int:
    value &= _MASK
    return value ^ (value >> 47)


def _both(low: int, high: int, multiplier: int) -> int:
    low, high = low & _MASK, high & _MASK
    first = _mixed((low ^ high) * multiplier)
    return _mixed((high ^ first) * multiplier) * multiplier & _MASK


def _up_to_16(data: bytes, size: int) -> int:
    if size >= 8:
        multiplier = _K2 + size * 2
        first = _long(data, 0) + _K2
        last = _long(data, size - 8)
        low = _turned(last, 37) * multiplier + first
        high = (_turned(first, 25) + last) * multiplier
        return _both(low, high, multiplier)
    if size >= 4:
        return _both(size + (_short(data, 0) << 3), _short(data, size - 4), _K2 + size * 2)
    if size > 0:
        low = data[0] + (data[size >> 1] << 8)
        high = size + (data[size - 1] << 2)
        return _mixed(low * _K2 ^ high * _K0) * _K2 & _MASK
    return _K2


def _up_to_32(data: bytes, size: int) -> int:
    multiplier = _K2 + size * 2
    a = _long(data, 0) * _K1
    b = _long(data, 8)
    c = _long(data, size - 8) * multiplier
    d = _long(data, size - 16) * _K2
    return _both(_turned(a + b, 43) + _turned(c, 30) + d, a + _turned(b + _K2, 18) + c, multiplier)


def _up_to_64(data: bytes, size: int) -> int:
    multiplier = _K2 + size * 2
    a = _long(data, 0) * _K2
    b = _long(data, 8)
    c = _long(data, size - 8) * multiplier
    d = _long(data, size - 16) * _K2
    y = _turned(a + b, 43) + _turned(c, 30) + d
    z = _both(y, a + _turned(b + _K2, 18) + c, multiplier)
    e = _long(data, 16) * multiplier
    f = _long(data, 24)
    g = (y + _long(data, size - 32)) * multiplier
    h = (z + _long(data, size - 24)) * multiplier
    return _both(_turned(e + f, 43) + _turned(g, 30) + h, e + _turned(f + a, 18) + g, multiplier)


def _weak(data: bytes, place: int, a: int, b: int) -> tuple[int, int]:
    w, x, y, z = struct.unpack_from("<4Q", data, place)
    a += w
    b = _turned(b + a + z, 21)
    c = a
    a += x + y
    b += _turned(a, 44)
    return (a + z) & _MASK, (b + c) & _MASK


def _longer(data: bytes, size: int) -> int:
    seed = 81
    x = seed
    y = (seed * _K1 + 113) & _MASK
    z = _mixed(y * _K2 + 113) * _K2 & _MASK
    v, w = (0, 0), (0, 0)
    x = (x * _K2 + _long(data, 0)) & _MASK
    end = (size - 1) // 64 * 64
    last = end + ((size - 1) & 63) - 63
    place = 0
    while place != end:
        x = _turned(x + y + v[0] + _long(data, place + 8), 37) * _K1
        y = _turned(y + v[1] + _long(data, place + 48), 42) * _K1
        x ^= w[1]
        y += v[0] + _long(data, place + 40)
        z = _turned(z + w[0], 33) * _K1
        v = _weak(data, place, v[1] * _K1, x + w[0])
        w = _weak(data, place + 32, z + w[1], y + _long(data, place + 16))
        x, y, z = z & _MASK, y & _MASK, x & _MASK
        place += 64
    multiplier = _K1 + ((z & 0xFF) << 1)
    place = last
    w = (w[0] + ((size - 1) & 63), w[1])
    v = (v[0] + w[0], v[1])
    w = (w[0] + v[0], w[1])
    x = _turned(x + y + v[0] + _long(data, place + 8), 37) * multiplier
    y = _turned(y + v[1] + _long(data, place + 48), 42) * multiplier
    x ^= w[1] * 9
    y += v[0] * 9 + _long(data, place + 40)
    z = _turned(z + w[0], 33) * multiplier
    v = _weak(data, place, v[1] * multiplier, x + w[0])
    w = _weak(data, place + 32, z + w[1], y + _long(data, place + 16))
    x, z = z & _MASK, x & _MASK
    high = _both(v[1], w[1], multiplier) + x
    return _both(_both(v[0], w[0], multiplier) + _mixed(y) * _K0 + z, high, multiplier)
