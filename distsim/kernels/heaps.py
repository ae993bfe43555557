"""Heap sort of row numbers by their rows, for kernels that allocate nothing."""

from collections.abc import Callable
from typing import Any

from distsim.kernels.compiled import uncounted

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
                one = order[i]
                k = i
                while k > first and before(rows, one, order[k - 1]):
                    order[k] = order[k - 1]
                    k -= 1
                order[k] = one
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
            one = order[first + root]
            while True:
                child = 2 * root + 1
                if child >= end:
                    break
                if child + 1 < end and before(rows, order[first + child], order[first + child + 1]):
                    child += 1
                if not before(rows, one, order[first + child]):
                    break
                order[first + root] = order[first + child]
                root = child
            order[first + root] = one

    return sort
