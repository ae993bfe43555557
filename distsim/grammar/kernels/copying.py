"""Copies bytes, and writes the eight bytes of one number, without a loop over them.

A loop over short texts asks at each byte whether an index is negative, and ends at another place
each time; a few moves of words that may overlap do neither.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from distsim.kernels.compiled import uncounted

_BYTE = ir.IntType(8)


class Texts(NamedTuple):
    """Texts end to end: text i is text[offsets[i]:offsets[i + 1]]; uint8, int64[n + 1]."""

    text: np.ndarray
    offsets: np.ndarray


def _mover(n_bytes: int) -> Callable[..., Any]:
    """Return an intrinsic that copies n_bytes from source[start] on to out[n] on."""

    @intrinsic
    def move(typing_context: Any, out: Any, n: Any, source: Any, start: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            word = ir.IntType(8 * n_bytes).as_pointer()
            to, source_at = (
                builder.bitcast(
                    _place(context, builder, signature.args[k], *arguments[k : k + 2]), word
                )
                for k in (0, 2)
            )
            builder.store(builder.load(source_at, align=1), to, align=1)
            return context.get_dummy_value()

        return types.void(out, types.intp, source, types.intp), generate

    return move


@intrinsic
def put_eight(typing_context: Any, out: Any, n: Any, number: Any) -> Any:
    """Write the bytes of a uint64, the lowest first, into out[n] to out[n + 7]."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, at, value = arguments
        first = _place(context, builder, signature.args[0], array, at)
        for k in range(8):  # LLVM makes one move of these
            byte = builder.trunc(builder.lshr(value, ir.Constant(value.type, 8 * k)), _BYTE)
            builder.store(byte, builder.gep(first, [ir.Constant(ir.IntType(64), k)]))
        return context.get_dummy_value()

    return types.void(out, types.intp, types.uint64), generate


def _place(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    values = context.make_array(kind)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, kind, values, [at], wraparound=False)


_move_16, _move_8, _move_4 = _mover(16), _mover(8), _mover(4)


@uncounted
def put_bytes(out, n, source, start, stop):
    """Copy source[start:stop], uint8, to out from n on; return the end."""
    size = stop - start
    end = n + size
    if size >= 16:
        while start + 16 < stop:
            _move_16(out, n, source, start)
            start += 16
            n += 16
        _move_16(out, end - 16, source, stop - 16)
    elif size >= 8:
        _move_8(out, n, source, start)
        _move_8(out, end - 8, source, stop - 8)
    elif size >= 4:
        _move_4(out, n, source, start)
        _move_4(out, end - 4, source, stop - 4)
    else:
        for k in range(size):
            out[n + k] = source[start + k]
    return end


@uncounted
def put_bar(out, n):
    """Append ` ||| `; return the end."""
    out[n] = 32
    out[n + 1] = 124
    out[n + 2] = 124
    out[n + 3] = 124
    out[n + 4] = 32
    return n + 5
