"""Arrays in kernels: copies into larger ones, heap sort of rows, prefetching, ranges of places."""

from collections.abc import Callable
from typing import Any

import numpy as np

from distsim.kernels.compiled import compiled, intrinsic, uncounted

_SMALL = 12  # so many are sorted by insertion, more by heaps


def heap_sort(before: Callable[..., Any]) -> Any:
    """Return a compiled function sort(rows, order, first, last) that sorts order[first:last].

    Arguments:
        before: a compiled function (rows, one, two) that returns whether row `one` comes before
            row `two`.
    """

    @uncounted
    def sort(rows, order, first, last):
        n = last - first
        if n <= _SMALL:
            for i in range(first + 1, last):
                row = order[i]
                k = i
                while k > first and before(rows, row, order[k - 1]):
                    order[k] = order[k - 1]
                    k -= 1
                order[k] = row
            return
        start = n // 2
        end = n
        while end > 1:
            if start > 0:
                start -= 1
            else:
                end -= 1
                order[first + end], order[first] = order[first], order[first + end]
            root = start
            row = order[first + root]
            while True:
                child = 2 * root + 1
                if child >= end:
                    break
                if child + 1 < end and before(rows, order[first + child], order[first + child + 1]):
                    child += 1
                if not before(rows, row, order[first + child]):
                    break
                order[first + root] = order[first + child]
                root = child
            order[first + root] = row

    return sort


@intrinsic
def prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Prefetch array[index] into the cache; harmless for any index.

    Random reads of a large array then wait together, not one after another.

    Arguments:
        typing_context: typing context of numba.
        array, index: types of the arguments in a kernel.
    """
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils

    signature = types.void(array, types.intp)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        values = context.make_array(kind)(context, builder, arguments[0])
        place = cgutils.get_item_pointer(
            context, builder, kind, values, [arguments[1]], wraparound=False
        )
        byte = ir.IntType(8).as_pointer()
        number = ir.IntType(32)
        hint = builder.module.declare_intrinsic(
            "llvm.prefetch", [byte], ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        )
        read, keep, data = number(0), number(3), number(1)
        builder.call(hint, [builder.bitcast(place, byte), read, keep, data])
        return context.get_dummy_value()

    return signature, generate


def each_once(values: np.ndarray) -> np.ndarray:
    """Return the values of an array, each once, ascending.

    As np.unique, whose hash table (numpy 2.3) takes 20 to 90 times as long for integers.

    Arguments:
        values: of one dimension.

    >>> each_once(np.array([7, 2, 7])).tolist()
    [2, 7]
    """
    ordered = np.sort(values)
    is_first: np.ndarray = np.append(True, ordered[1:] != ordered[:-1])[: ordered.size]
    return ordered[is_first]


def places_of_ranges(begins: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return begins[i], begins[i] + 1, ... of each range, end to end, int64[sum of sizes].

    Arguments:
        begins, sizes: int64[n], of each range.

    >>> places_of_ranges(np.array([7, 2]), np.array([2, 3])).tolist()
    [7, 8, 2, 3, 4]
    """
    stops = np.cumsum(sizes)
    places: np.ndarray = np.arange(int(sizes.sum())) + np.repeat(begins + sizes - stops, sizes)
    return places


@compiled
def grown(array, n, room):
    """Return an array of one dimension with `room` entries that begins with those of `array`.

    Arguments:
        array: of any dtype.
        n: number of entries that are kept.
        room: size of the array returned, at least n.
    """
    longer = np.empty(room, array.dtype)
    for i in range(n):
        longer[i] = array[i]
    return longer


@compiled
def doubled(rows):
    """Return an array of two dimensions with twice as many rows, the first of them those given.

    Arguments:
        rows: array of two dimensions.
    """
    larger = np.empty((2 * rows.shape[0], rows.shape[1]), rows.dtype)
    for row in range(rows.shape[0]):
        for column in range(rows.shape[1]):
            larger[row, column] = rows[row, column]
    return larger
