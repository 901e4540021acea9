#!/usr/bin/env python3
"""ImageDecoder on PNG, BMP and PNM files that this script writes, so that it has their pixels, and on damaged copies.
If Pillow is installed, JPEG, TIFF and WebP files that it writes, too.

For the options of the long campaign see tests/program/differential.py.
"""
import io
import pathlib
import struct
import sys
import zlib

import numpy as np

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / folder) for folder in ("program", "scripts")]
import differential as d  # noqa: E402
from image_operators import pick  # noqa: E402

try:
    from PIL import Image
except ImportError:
    Image = None


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def filtered(row, above, step, how):
    """A row of a PNG file after one of the five PNG filters."""
    left = np.concatenate([np.zeros(step, "i8"), row[:-step]]) if len(row) > step else np.zeros(len(row), "i8")
    corner = np.concatenate([np.zeros(step, "i8"), above[:-step]]) if len(row) > step else np.zeros(len(row), "i8")
    guess = left + above - corner
    near = [np.abs(guess - v) for v in (left, above, corner)]
    paeth = np.where((near[0] <= near[1]) & (near[0] <= near[2]), left, np.where(near[1] <= near[2], above, corner))
    return bytes([how]) + ((row - [0, left, above, (left + above) // 2, paeth][how]) % 256).astype("u1").tobytes()


def png(rng, h, w):
    """A PNG file in grayscale, with colors or a palette, with or without alpha: (file, its colors)."""
    kind = pick(rng, 0, 2, 2, 3, 4, 6)
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[kind]
    palette = rng.integers(0, 256, (int(rng.integers(1, 257)), 3))
    codes = rng.integers(0, len(palette) if kind == 3 else 256, (h, w, channels))
    lines, above = [], np.zeros(w * channels, "i8")
    for row in codes.reshape(h, -1):
        lines.append(filtered(row, above, channels, int(rng.integers(5))))
        above = row
    data = zlib.compress(b"".join(lines))
    cut = int(rng.integers(0, len(data)))
    file = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, kind, 0, 0, 0))
    file += chunk(b"PLTE", palette.astype("u1").tobytes()) if kind == 3 else b""
    file += chunk(b"IDAT", data[:cut]) + chunk(b"IDAT", data[cut:]) + chunk(b"IEND", b"")
    return file, palette[codes[..., 0]] if kind == 3 else codes[..., :1].repeat(3, 2) if kind in (0, 4) else codes[..., :3]


def bmp(rng, h, w):
    """A BMP file with 24 or 32 bits per pixel or a palette of 8 bits; its rows are stored bottom-up or top-down."""
    bits, upright = pick(rng, 8, 24, 32), rng.random() < 0.3
    palette = rng.integers(0, 256, (256, 3))
    codes = rng.integers(0, 256, (h, w, 1 if bits == 8 else 3))
    colors = palette[codes[..., 0]] if bits == 8 else codes
    rows = codes[..., ::-1] if bits > 8 else codes
    if bits == 32:
        rows = np.concatenate([rows, np.zeros((h, w, 1), "i8")], 2)
    lines = [row.astype("u1").tobytes() + b"\0" * (-row.size % 4) for row in rows]
    table = np.concatenate([palette[:, ::-1], np.zeros((256, 1), "i8")], 1).astype("u1").tobytes() if bits == 8 else b""
    body = b"".join(lines if upright else lines[::-1])
    head = struct.pack("<IiiHHIIiiII", 40, w, -h if upright else h, 1, bits, 0, len(body), 0, 0, 0, 0)
    at = 14 + len(head) + len(table)
    return b"BM" + struct.pack("<IHHI", at + len(body), 0, 0, at) + head + table + body, colors


def pnm(rng, h, w):
    """A PNM file of the kinds P1 to P6: bits, grayscale and colors, as digits and as bytes."""
    form = int(rng.integers(1, 7))
    channels, most = 3 if form in (3, 6) else 1, 1 if form in (1, 4) else 255
    codes = rng.integers(0, most + 1, (h, w, channels))
    head = f"P{form}\n# a comment\n{w} {h}\n" + ("" if most == 1 else "255\n")
    if form < 4:
        data = " ".join(str(v) for v in codes.ravel()).encode() + b"\n"
    elif form == 4:
        data = np.packbits(codes[..., 0].astype("u1"), 1).tobytes()
    else:
        data = codes.astype("u1").tobytes()
    colors = 255 * (1 - codes) if most == 1 else codes
    return head.encode() + data, colors.repeat(3 // channels, 2)


def pillow_file(rng, h, w):
    form = pick(rng, "JPEG", "TIFF", "WEBP", "PNG")
    small = Image.fromarray(rng.integers(0, 256, (2, 3, 3)).astype("u1")).resize((w, h), Image.Resampling.BICUBIC)
    given = {"JPEG": {"quality": int(rng.integers(50, 100)), "subsampling": int(rng.integers(0, 3)),
                      "progressive": bool(rng.integers(2))},
             "TIFF": {"compression": pick(rng, None, "tiff_lzw", "tiff_deflate", "packbits")},
             "WEBP": {"lossless": bool(rng.integers(2))}}.get(form, {})
    to = io.BytesIO()
    (small.convert("L") if rng.random() < 0.2 else small).save(to, form, **given)
    return to.getvalue(), np.asarray(Image.open(to).convert("RGB")).astype("i8")


def decoded(rng):
    h, w = (int(v) for v in rng.integers(1, 24, 2))
    make = pick(rng, png, png, bmp, pnm, *([pillow_file] * 3 if Image else []))
    file, colors = make(rng, h, w)
    order = pick(rng, None, "RGB", "BGR", "Grayscale")
    want = colors[..., ::-1] if order == "BGR" else colors
    if order == "Grayscale":
        want = ((colors * [19595, 38470, 7471]).sum(2, keepdims=True) + 32768) >> 16
    if rng.random() < 0.15 and make is not pillow_file:  # the file ends in its header, or in the first half of its rows
        file, want = file[:int(rng.integers(1, 30 if rng.random() < 0.3 else len(file) // 2))], want[:0, :0]
    stream = np.frombuffer(file, "u1")
    return d.one_node("ImageDecoder", [stream], opset=20, pixel_format=order, rtol=0, atol=0,
                      oracle=lambda: {"out_0": want.astype("u1")})


FAMILIES = {"ImageDecoder": (decoded, 400)}

if __name__ == "__main__":
    sys.exit(d.main(FAMILIES))
