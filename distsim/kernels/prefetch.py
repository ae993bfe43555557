"""Prefetching: a hint to the processor that an address will be read soon."""

from typing import Any

from distsim.kernels.compiled import intrinsic


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
