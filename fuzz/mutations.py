"""Mutates inputs at random; the same seed gives the same mutations on any machine."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

MAX_INPUT_LENGTH = 1 << 14
_PIECES = (
    *(
        b"",
        b"\0",
        b"\n",
        b"\r\n",
        b" ",
        b"\t",
        b'"',
        b"'",
        b"<",
        b">",
        b"&",
        b"%",
        b"../",
        b"/etc/passwd",
        b"\\",
    ),
    *(
        b"-1",
        b"0",
        b"1e999",
        b"NaN",
        b"inf",
        b"-0",
        b"1_000",
        b"9" * 20,
        b"9" * 400,
        b"9" * 5000,
        b"0x10",
        b"1e-400",
    ),
    *(
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"\xc3\x28",
        b"\xf0\x9f\x8d\x82",
        "é×\u2028\x85".encode(),
        b"\x1b[31m",
        b"\x7f",
    ),
    *(
        b"[" * 3000,
        b"{" * 3000,
        b'{"a":' * 2000,
        b"<a>" * 3000,
        b"a," * 3000,
        b"a.b=1\n" * 800,
        b"true",
        b"null",
    ),
)


def generate_inputs(
    seeds: Sequence[bytes], words: Sequence[bytes], seed: int
) -> Iterator[bytes]:
    """Yield the seeds, then an endless sequence of mutations of them."""
    yield from seeds
    generator = random.Random(seed)
    while True:
        yield mutate_input(generator.choice(seeds), seeds, words, generator)


def mutate_input(
    data: bytes,
    seeds: Sequence[bytes],
    words: Sequence[bytes],
    generator: random.Random,
) -> bytes:
    """Mutate an input at a few positions."""
    pieces = (*_PIECES, *words)
    changed = bytearray(data)
    for _ in range(generator.choice((1, 1, 2, 3, 8))):
        _mutate(changed, seeds, pieces, generator)
    return bytes(changed[: max(MAX_INPUT_LENGTH, len(data))])


def _mutate(
    data: bytearray,
    seeds: Sequence[bytes],
    pieces: Sequence[bytes],
    generator: random.Random,
) -> None:
    start = generator.randint(0, len(data))
    end = min(len(data), start + generator.choice((0, 1, 1, 2, 4, 8, 16, 64)))
    kind = generator.randrange(8)
    if kind == 0 and data:
        data[generator.randrange(len(data))] ^= 1 << generator.randrange(8)
    elif kind == 1 and data:
        data[generator.randrange(len(data))] = generator.randrange(256)
    elif kind == 2:
        del data[start:end]
    elif kind == 3:
        data[start:end] = data[start:end] * generator.choice((2, 2, 3, 50))
    elif kind in (4, 5):
        data[start:end] = generator.choice(pieces)
    elif kind == 6:
        donor = generator.choice(seeds)
        cut = generator.randint(0, len(donor))
        data[start:] = donor[cut:]
    else:
        _replace_word(data, pieces, generator)


def _replace_word(
    data: bytearray, pieces: Sequence[bytes], generator: random.Random
) -> None:
    """Replace a whole number, name or other word: formats consist of them."""
    is_word = [_is_word_byte(byte) for byte in data]
    starts = [
        index
        for index, inside in enumerate(is_word)
        if inside and not (index and is_word[index - 1])
    ]
    if not starts:
        return
    start = end = generator.choice(starts)
    while end < len(data) and _is_word_byte(data[end]):
        end += 1
    data[start:end] = generator.choice(pieces)


def _is_word_byte(byte: int) -> bool:
    return byte > 127 or chr(byte).isalnum() or byte in b".-_"
