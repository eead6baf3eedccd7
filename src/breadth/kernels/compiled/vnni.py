"""Scan int8 codes for many directions at once, with the processor's own instruction for that (VNNI).

`vpdpbusd` multiplies 64 pairs of bytes and adds them up in 16 sums. One operand is unsigned, so a direction is coded as
numbers from 1 to 255 that stand for -127 to 127; what the shift by 128 adds is the same for all directions of a row.

`TOGETHER` is the number of directions that share a pass: 64 where registers have 512 bits, 32 where they have 256, and
0 where the processor has no such instruction. The environment variable BREADTH_VNNI overrules it: 512, 256 or 0.
"""

from __future__ import annotations

import os

import numpy as np
from llvmlite import binding, ir
from numba import float32, int8, int32, int64, njit, types, uint8
from numba.core import cgutils
from numba.extending import intrinsic


def _find_lanes() -> int:
    """The sums of one register: 16, 8, or 0 if there is no such instruction."""
    has = binding.get_host_cpu_features()
    bits = 512 if has.get("avx512vnni") else 256 if has.get("avxvnni") else 0
    wanted = os.environ.get("BREADTH_VNNI", "")
    if wanted in ("0", "256", "512") and int(wanted) <= bits:
        bits = int(wanted)
    return bits // 32


_LANES = _find_lanes()
_MOST_GROUPS = 4
"""Registers of directions: 1, 2 or 4 of them share a pass."""
TOGETHER = _LANES * _MOST_GROUPS

_I8, _I32, _I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_SUMS, _BYTES = ir.VectorType(_I32, max(_LANES, 1)), ir.VectorType(_I8, max(4 * _LANES, 1))
_NAME = f"llvm.x86.avx512.vpdpbusd.{32 * _LANES}"


@intrinsic
def _point(typing_context, array, place):
    """The address of an entry of an array that lies in one piece."""

    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.gep(data, [arguments[1]])

    return types.CPointer(array.dtype)(array, int64), generate


def _count_rows(groups: int) -> int:
    """Rows that are multiplied together: a register for the sums of each with each group, and some are left."""
    return min(8, _LANES // groups)


def _make_multiply(groups):
    """sums[r, b] = Σ_j codes[r, j] · directions[j, b], for some rows of `width` bytes and groups of directions."""
    rows = _count_rows(groups)

    def generate(context, builder, signature, arguments):
        codes, width, directions, steps, sums = arguments
        kind = ir.FunctionType(_SUMS, (_SUMS, _BYTES, _BYTES))
        multiply = cgutils.get_or_insert_function(builder.module, kind, _NAME)
        before, loop, after = builder.block, builder.append_basic_block("words"), builder.append_basic_block("summed")
        builder.branch(loop)

        builder.position_at_end(loop)
        step = builder.phi(_I64)
        step.add_incoming(ir.Constant(_I64, 0), before)
        running = [builder.phi(_SUMS) for _ in range(rows * groups)]
        first = builder.mul(step, ir.Constant(_I64, 4 * _LANES * groups))
        places = [builder.add(first, ir.Constant(_I64, 4 * _LANES * group)) for group in range(groups)]
        ours = [_load(builder, directions, place, _BYTES) for place in places]
        raised = []
        for row in range(rows):
            place = builder.add(builder.mul(width, ir.Constant(_I64, row)), builder.mul(step, ir.Constant(_I64, 4)))
            word = builder.bitcast(_spread(builder, _load(builder, codes, place, _I32)), _BYTES)
            raised += [
                builder.call(multiply, [running[row * groups + group], ours[group], word]) for group in range(groups)
            ]
        for one, following in zip(running, raised, strict=True):
            one.add_incoming(ir.Constant(_SUMS, [0] * _LANES), before)
            one.add_incoming(following, loop)
        following = builder.add(step, ir.Constant(_I64, 1))
        step.add_incoming(following, loop)
        builder.cbranch(builder.icmp_signed("<", following, steps), loop, after)

        builder.position_at_end(after)
        for number, total in enumerate(raised):
            address = builder.gep(sums, [ir.Constant(_I64, number * _LANES)])
            builder.store(total, builder.bitcast(address, _SUMS.as_pointer()), align=4)
        return context.get_dummy_value()

    pointers = types.CPointer(int8), int64, types.CPointer(uint8), int64, types.CPointer(int32)

    @intrinsic
    def multiply_rows(typing_context, codes, width, directions, steps, sums):
        return types.void(*pointers), generate

    return multiply_rows


def _load(builder, address, place, kind):
    """What stands at a place."""
    return builder.load(builder.bitcast(builder.gep(address, [place]), kind.as_pointer()), align=1)


def _spread(builder, word):
    """The same word in all lanes."""
    nothing = ir.Constant(_SUMS, ir.Undefined)
    one = builder.insert_element(nothing, word, ir.Constant(_I32, 0))
    return builder.shuffle_vector(one, nothing, ir.Constant(_SUMS, [0] * _LANES))


_FLOATS = types.Array(float32, 1, "C", readonly=True)

if TOGETHER:
    _multiply_1, _multiply_2, _multiply_4 = _make_multiply(1), _make_multiply(2), _make_multiply(4)
    _ROWS_1, _ROWS_2, _ROWS_4 = _count_rows(1), _count_rows(2), _count_rows(4)

    @njit(nogil=True, cache=True)
    def _multiply(codes, packed, sums, row):
        """The sums of the next rows, or of one row near the end; how many rows these are."""
        width, words = codes.shape[1], packed.shape[0]
        left, groups = codes.shape[0] - row, packed.shape[1] // _LANES
        at, directions, out = _point(codes, row * width), _point(packed, 0), _point(sums, 0)
        if groups == 1 and left >= _ROWS_1:
            _multiply_1(at, width, directions, words, out)
            return _ROWS_1
        if groups == 2 and left >= _ROWS_2:
            _multiply_2(at, width, directions, words, out)
            return _ROWS_2
        if groups == 4 and left >= _ROWS_4:
            _multiply_4(at, width, directions, words, out)
            return _ROWS_4
        for b in range(packed.shape[1]):
            total = 0
            for j in range(width):
                total += np.int32(codes[row, j]) * np.int32(packed[j // 4, b, j % 4])
            sums[b] = total
        return 1

    @njit(nogil=True, cache=True)
    def _take(sums, shift, scale, error, factors, lengths, bars, row, positions, scores, counts):
        """Note the directions for which a row reaches the bar; how many rows the fullest list has then."""
        near = 0
        for b in range(len(sums)):
            near += np.float32(sums[b] - shift) * scale * factors[b] + lengths[b] * error >= bars[b]
        fullest = 0
        if near:
            for b in range(len(sums)):
                score = np.float32(sums[b] - shift) * scale * factors[b]
                if score + lengths[b] * error >= bars[b]:
                    positions[b, counts[b]] = row
                    scores[b, counts[b]] = score
                    counts[b] += 1
                    fullest = max(fullest, counts[b])
        return fullest

    @njit(nogil=True, cache=True)
    def _raise_bar(errors, length, rounding, keep, positions, scores, count):
        """Let only those rows stay in a list that may be among the `keep` best; the bar, and how many there are."""
        lower = np.empty(count, dtype=np.float32)
        for place in range(count):
            lower[place] = scores[place] - length * errors[positions[place]]
        bar = np.partition(lower, count - keep)[count - keep] - 2 * rounding
        kept = 0
        for place in range(count):
            if scores[place] + length * errors[positions[place]] >= bar:
                positions[kept], scores[kept] = positions[place], scores[place]
                kept += 1
        return bar, kept

    @njit(
        int64(
            types.Array(int8, 2, "C", readonly=True), _FLOATS, _FLOATS, types.Array(uint8, 3, "C", readonly=True),
            _FLOATS, _FLOATS, _FLOATS, types.Array(int64, 1, "C", readonly=True), int64, types.Array(float32, 1, "C"),
            types.Array(int64, 2, "C"), types.Array(float32, 2, "C"), types.Array(int64, 1, "C"),
        ),
        nogil=True,
        cache=True,
    )  # fmt: skip
    def gather(
        codes, scales, errors, packed, factors, lengths, rounding, keeps, first, bars, positions, scores, counts
    ):  # fmt: skip
        width, together, most = codes.shape[1], packed.shape[1], positions.shape[1]
        sums = np.empty(_ROWS_1 * TOGETHER, dtype=np.int32)
        row, fullest = first, counts.max()
        while row < len(codes) and fullest + _ROWS_1 <= most:
            count = _multiply(codes, packed, sums, row)
            for r in range(count):
                shift = np.int32(0)
                for j in range(width):
                    shift += np.int32(codes[row + r, j])
                found = _take(
                    sums[r * together : (r + 1) * together], np.int32(128) * shift, scales[row + r], errors[row + r],
                    factors, lengths, bars, row + r, positions, scores, counts,
                )  # fmt: skip
                fullest = max(fullest, found)
            row += count
            if fullest + _ROWS_1 > most:
                fullest = 0
                for b in range(together):
                    if 2 * counts[b] > most and counts[b] >= keeps[b]:
                        bar, counts[b] = _raise_bar(
                            errors, lengths[b], rounding[b], keeps[b], positions[b], scores[b], counts[b]
                        )
                        bars[b] = max(bars[b], bar)
                    fullest = max(fullest, counts[b])
                if 4 * fullest > 3 * most:  # too many of them are alike
                    break
        return row
