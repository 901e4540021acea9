"""onnxruntime's functions that quantize the weights of matrix products. They write quantized values, scales and zero
points into arrays of the caller. Weights are [rows, columns]; a block is `block_size` consecutive rows of one
column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

# FP4: the highest of the four bits is the sign. For the absolute values in ascending order, _FP4_BITS are their lower three
# bits, and _FP4_BOUNDS the upper bounds of the numbers that are rounded to them. NF4: the values in the order of their bits.
_FP4_BOUNDS = (0.00260417, 0.0859375, 0.20833333, 0.29166667, 0.4166667, 0.583333, 0.8333333)
_FP4_BITS = (0, 1, 6, 7, 4, 5, 2, 3)
_NF4 = (
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
    -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
    0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
)  # fmt: skip


def _rounded(numbers: Any) -> Any:
    """Rounds to the nearest integer, ties away from zero."""
    return numpy.trunc(numbers + numpy.copysign(numpy.float32(0.5), numbers))


def _blocks(weights: Any, rows: int, columns: int, block: int) -> Any:
    """The weights as [columns, blocks, rows of a block], padded with zeros after the last row. The array may have more
    rows than `rows`, because onnxruntime's quantizer pads it to whole blocks."""
    padded = numpy.zeros((-(-rows // block) * block, columns), numpy.float32)
    padded[:rows] = weights.reshape(-1)[: rows * columns].reshape(rows, columns).astype(numpy.float32)
    return padded.T.reshape(columns, -1, block)


def _quantized(blocks: Any, bits: int, is_symmetric: bool, stored_as: Any) -> tuple[Any, Any, Any]:
    """Quantized values, scales and zero points of blocks. The values are computed with the scales as they are stored,
    that is, rounded to the type `stored_as`."""
    middle, most = 1 << (bits - 1), (1 << bits) - 1
    low = numpy.minimum(blocks.min(axis=2), 0)
    high = numpy.maximum(blocks.max(axis=2), 0)
    if is_symmetric:
        signed = numpy.where(numpy.abs(high) > numpy.abs(low), high, low)
        scales = (signed / numpy.float32(-middle)).astype(numpy.float32)
        zero_points = numpy.full(scales.shape, middle, numpy.float32)
    else:
        scales = ((high - low) / numpy.float32(most)).astype(numpy.float32)
        with numpy.errstate(divide="ignore", invalid="ignore"):
            found = numpy.where(scales != 0, -low / scales, numpy.float32(0))
        zero_points = numpy.clip(_rounded(found), 0, most).astype(numpy.float32)
    with numpy.errstate(divide="ignore"):
        stored = scales.astype(stored_as).astype(numpy.float32)
        reciprocal = numpy.where(stored != 0, numpy.float32(1) / stored, numpy.float32(0)).astype(numpy.float32)
    values = numpy.clip(_rounded(blocks * reciprocal[..., None] + zero_points[..., None]), 0, most).astype(numpy.uint8)
    return values, scales, zero_points.astype(numpy.uint8)


def _packed(values: Any, bits: int, rest: int = 0) -> Any:
    """Packs values of `bits` bits along the last axis, the first in the lowest bits of a byte. `rest` pads the last
    byte."""
    in_byte = 8 // bits
    short = -values.shape[-1] % in_byte
    if short:
        values = numpy.concatenate([values, numpy.full((*values.shape[:-1], short), rest, numpy.uint8)], axis=-1)
    parts = values.reshape(*values.shape[:-1], -1, in_byte)
    made = numpy.zeros(parts.shape[:-1], numpy.uint8)
    for i in range(in_byte):
        made |= parts[..., i] << numpy.uint8(i * bits)
    return made


def _matmul(bits: int) -> Callable[..., None]:
    def quantize(
        dst: Any, src: Any, scale: Any, zero_points: Any, block_size: int, columns: int, rows: int, is_symmetric: bool
    ) -> None:
        values, scales, points = _quantized(_blocks(src, rows, columns, block_size), bits, is_symmetric, scale.dtype)
        used = -(-rows * bits // 8)  # the bytes of a column; padding after them in the last block is not written
        dst.reshape(columns, -1)[:, :used] = _packed(values.reshape(columns, -1)[:, :rows], bits)
        scale.reshape(-1)[:] = scales.reshape(-1)
        if not is_symmetric:
            zero_points.reshape(-1)[:] = _packed(points, bits, 1 << (bits - 1)).reshape(-1)

    quantize.__name__ = f"quantize_matmul_{bits}bits"
    quantize.__doc__ = f"Writes values of {bits} bits, packed along the rows of a block, as MatMulNBits takes them."
    return quantize


def _qdq_matmul(bits: int) -> Callable[..., bool]:
    def quantize(
        dst: Any, src: Any, scale: Any, zero_points: Any, block_size: int, columns: int, rows: int, is_symmetric: bool
    ) -> bool:
        values, scales, points = _quantized(_blocks(src, rows, columns, block_size), bits, is_symmetric, scale.dtype)
        middle = 1 << (bits - 1)
        in_rows = values.reshape(columns, -1)[:, :rows].T.reshape(-1)
        if is_symmetric:
            in_rows = (in_rows - middle) & ((1 << bits) - 1)
        dst.reshape(-1)[:] = _packed(in_rows, bits)[: dst.size]
        scale.reshape(-1)[:] = scales.T.reshape(-1)
        if not is_symmetric:
            zero_points.reshape(-1)[:] = _packed(points.T.reshape(-1), bits)
        return is_symmetric

    quantize.__name__ = f"quantize_qdq_matmul_{bits}bits"
    quantize.__doc__ = f"Writes values of {bits} bits, packed row by row, as DequantizeLinear takes them; signed if symmetric."
    return quantize


quantize_matmul_2bits, quantize_matmul_4bits, quantize_matmul_8bits = _matmul(2), _matmul(4), _matmul(8)
quantize_qdq_matmul_4bits = _qdq_matmul(4)


def quantize_matmul_bnb4(
    dst: Any, src: Any, absmax: Any, block_size: int, quant_type: int, columns: int, rows: int
) -> None:
    """Writes values of FP4 (`quant_type` 0) or NF4 (1), relative to the largest absolute value of a block. The first
    value is in the upper four bits of a byte."""
    flat = src.reshape(-1).astype(numpy.float32)
    padded = numpy.zeros(-(-flat.size // block_size) * block_size, numpy.float32)
    padded[: flat.size] = flat
    blocks = padded.reshape(-1, block_size)
    largest = numpy.abs(blocks).max(axis=1)
    absmax.reshape(-1)[:] = largest.astype(absmax.dtype)
    with numpy.errstate(divide="ignore"):
        scaled = blocks * numpy.where(largest != 0, numpy.float32(1) / largest, 0).astype(numpy.float32)[:, None]
    size = scaled.reshape(-1)[: flat.size]
    if flat.size % 2:
        size = numpy.append(size, numpy.float32(0))
    if quant_type == 1:
        values = numpy.array(_NF4, numpy.float32)
        found = numpy.searchsorted((values[1:] + values[:-1]) / 2, size).astype(numpy.uint8)
    else:
        places = numpy.searchsorted(numpy.array(_FP4_BOUNDS, numpy.float32), numpy.abs(size))
        found = numpy.array(_FP4_BITS, numpy.uint8)[places] | numpy.where(size < 0, numpy.uint8(8), numpy.uint8(0))
    dst.reshape(-1)[:] = found[0::2] << 4 | found[1::2]
