"""onnxruntime's functions that quantize the weights of products: they write codes, scales and zero points into arrays. Weights
are [rows, columns]; a block is so many rows of a column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

# FP4, without the sign, which is a code's fourth bit: the largest numbers below each next value, and the codes in their
# order. NF4: the values of codes.
_FP4_BOUNDS = (0.00260417, 0.0859375, 0.20833333, 0.29166667, 0.4166667, 0.583333, 0.8333333)
_FP4_CODES = (0, 1, 6, 7, 4, 5, 2, 3)
_NF4 = (
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
    -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
    0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
)  # fmt: skip


def _rounded(numbers: Any) -> Any:
    """To the nearest whole number, halves away from zero."""
    return numpy.trunc(numbers + numpy.copysign(numpy.float32(0.5), numbers))


def _blocks(weights: Any, block: int) -> Any:
    """[columns, blocks, rows of a block], with zeros after the last row."""
    rows, columns = weights.shape
    padded = numpy.zeros((-(-rows // block) * block, columns), numpy.float32)
    padded[:rows] = weights.astype(numpy.float32)
    return padded.T.reshape(columns, -1, block)


def _codes(blocks: Any, bits: int, is_symmetric: bool, stored_as: Any) -> tuple[Any, Any, Any]:
    """Codes, scales and zero points of blocks. Codes are of the scales as they are stored."""
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
    codes = numpy.clip(_rounded(blocks * reciprocal[..., None] + zero_points[..., None]), 0, most).astype(numpy.uint8)
    return codes, scales, zero_points.astype(numpy.uint8)


def _packed(codes: Any, bits: int, rest: int = 0) -> Any:
    """Codes along the last axis, the first in the lowest bits of a byte; `rest` fills the last byte up."""
    in_byte = 8 // bits
    short = -codes.shape[-1] % in_byte
    if short:
        codes = numpy.concatenate([codes, numpy.full((*codes.shape[:-1], short), rest, numpy.uint8)], axis=-1)
    parts = codes.reshape(*codes.shape[:-1], -1, in_byte)
    made = numpy.zeros(parts.shape[:-1], numpy.uint8)
    for i in range(in_byte):
        made |= parts[..., i] << numpy.uint8(i * bits)
    return made


def _matmul(bits: int) -> Callable[..., None]:
    def quantize(
        dst: Any, src: Any, scale: Any, zero_points: Any, block_size: int, columns: int, rows: int, is_symmetric: bool
    ) -> None:
        codes, scales, points = _codes(_blocks(src.reshape(rows, columns), block_size), bits, is_symmetric, scale.dtype)
        used = -(-rows * bits // 8)  # of the bytes of a column: what lies after them in the last block stays
        dst.reshape(columns, -1)[:, :used] = _packed(codes.reshape(columns, -1)[:, :rows], bits)
        scale.reshape(-1)[:] = scales.reshape(-1)
        if not is_symmetric:
            zero_points.reshape(-1)[:] = _packed(points, bits, 1 << (bits - 1)).reshape(-1)

    quantize.__name__ = f"quantize_matmul_{bits}bits"
    quantize.__doc__ = f"Codes of {bits} bits, packed along the rows of a block, as MatMulNBits takes them."
    return quantize


def _qdq_matmul(bits: int) -> Callable[..., bool]:
    def quantize(
        dst: Any, src: Any, scale: Any, zero_points: Any, block_size: int, columns: int, rows: int, is_symmetric: bool
    ) -> bool:
        codes, scales, points = _codes(_blocks(src.reshape(rows, columns), block_size), bits, is_symmetric, scale.dtype)
        middle = 1 << (bits - 1)
        in_rows = codes.reshape(columns, -1)[:, :rows].T.reshape(-1)
        if is_symmetric:
            in_rows = (in_rows - middle) & ((1 << bits) - 1)
        dst.reshape(-1)[:] = _packed(in_rows, bits)[: dst.size]
        scale.reshape(-1)[:] = scales.T.reshape(-1)
        if not is_symmetric:
            zero_points.reshape(-1)[:] = _packed(points.T.reshape(-1), bits)
        return is_symmetric

    quantize.__name__ = f"quantize_qdq_matmul_{bits}bits"
    quantize.__doc__ = f"Codes of {bits} bits, packed in the weights' own order, as DequantizeLinear takes them; signed where symmetric."
    return quantize


quantize_matmul_2bits, quantize_matmul_4bits, quantize_matmul_8bits = _matmul(2), _matmul(4), _matmul(8)
quantize_qdq_matmul_4bits = _qdq_matmul(4)


def quantize_matmul_bnb4(
    dst: Any, src: Any, absmax: Any, block_size: int, quant_type: int, columns: int, rows: int
) -> None:
    """Codes of FP4 (0) or NF4 (1): the nearest value times the block's largest; the first code is in a byte's upper half."""
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
        codes = numpy.searchsorted((values[1:] + values[:-1]) / 2, size).astype(numpy.uint8)
    else:
        places = numpy.searchsorted(numpy.array(_FP4_BOUNDS, numpy.float32), numpy.abs(size))
        codes = numpy.array(_FP4_CODES, numpy.uint8)[places] | numpy.where(size < 0, numpy.uint8(8), numpy.uint8(0))
    dst.reshape(-1)[:] = codes[0::2] << 4 | codes[1::2]
