"""The random numbers of every resampling by their definition: PCG64 in plain integers.

Tests resample with it, so that the stream of numpy's `PCG64(seed).random_raw()` is held to it bit
for bit.

Source: [O'Neill 2014], XSL-RR 128/64; seeding as numpy's `SeedSequence`.
"""

from collections.abc import Iterator
from typing import Final

_MASK_32: Final = (1 << 32) - 1
_MASK_64: Final = (1 << 64) - 1
_MASK_128: Final = (1 << 128) - 1
_MULTIPLIER: Final = 0x2360ED051FC65DA44385DF649FCCF645

_POOL_WORDS: Final = 4
_INIT_A, _MULT_A = 0x43B0D7E5, 0x931E8875
_INIT_B, _MULT_B = 0x8B51F9DD, 0x58F38DED
_MIX_LEFT, _MIX_RIGHT = 0xCA01F9DD, 0x4973F715


def pcg64(seed: int) -> Iterator[int]:
    """Yield raw outputs, each from 0 to 2**64 - 1, without end.

    Args:
        seed: From 0 to 2**32 - 1.
    """
    high, low, stream_high, stream_low = _seed_words(seed)
    increment = ((((stream_high << 64) | stream_low) << 1) | 1) & _MASK_128
    state = (increment + ((high << 64) | low)) & _MASK_128
    state = (state * _MULTIPLIER + increment) & _MASK_128
    while True:
        state = (state * _MULTIPLIER + increment) & _MASK_128
        folded = ((state >> 64) ^ state) & _MASK_64
        turn = state >> 122
        yield ((folded >> turn) | (folded << (64 - turn))) & _MASK_64


class _Hash:
    """numpy's running hash of 32-bit words."""

    def __init__(self, constant: int, multiplier: int) -> None:
        self.constant = constant
        self.multiplier = multiplier

    def __call__(self, word: int) -> int:
        word ^= self.constant
        self.constant = self.constant * self.multiplier & _MASK_32
        word = word * self.constant & _MASK_32
        return word ^ word >> 16


def _seed_words(seed: int) -> list[int]:
    """Return the four 64-bit words that `SeedSequence(seed)` gives."""
    mix_in = _Hash(_INIT_A, _MULT_A)
    pool = [mix_in(word) for word in [seed, *[0] * (_POOL_WORDS - 1)]]
    for source in range(_POOL_WORDS):
        for target in range(_POOL_WORDS):
            if source != target:
                pool[target] = _mix(pool[target], mix_in(pool[source]))
    draw = _Hash(_INIT_B, _MULT_B)
    words = [draw(pool[i % _POOL_WORDS]) for i in range(2 * _POOL_WORDS)]
    return [words[i] | words[i + 1] << 32 for i in range(0, len(words), 2)]


def _mix(left: int, right: int) -> int:
    mixed = (_MIX_LEFT * left - _MIX_RIGHT * right) & _MASK_32
    return mixed ^ mixed >> 16
