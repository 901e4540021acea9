#!/usr/bin/env python3
"""Writes tests/data/pictures: small files of each format that ImageDecoder reads, and beside each what Pillow makes of it,
NAME.rgb: width and height as two bytes, then rows of red, green and blue.

Usage: make_pictures.py        (needs PyPI's pillow, tried with 12.0.0, and numpy)
"""
import io
import pathlib
import struct

import numpy as np
from PIL import Image

OUT = pathlib.Path(__file__).resolve().parent / "pictures"
W, H = 13, 7


def colours():
    y, x = np.mgrid[0:H, 0:W]
    return np.stack([x * 19 % 256, y * 36 % 256, (x * y * 5 + 40) % 256], -1).astype(np.uint8)


def with_alpha():
    return np.concatenate([colours(), (np.arange(W * H).reshape(H, W, 1) * 2).astype(np.uint8)], -1)


RGB, RGBA = Image.fromarray(colours()), Image.fromarray(with_alpha())
GRAY, PALETTE = RGB.convert("L"), RGB.quantize(11)
BITS = GRAY.point(lambda v: 255 * (v > 90)).convert("1")
SMOOTH = RGB.resize((33, 21), Image.Resampling.BICUBIC)


def write(name, data, expected=None):
    """`expected`: where Pillow gives more than eight bits or other colours than the file's own."""
    picture = Image.open(io.BytesIO(data)) if expected is None else expected
    pixels = np.asarray(picture.convert("RGB"))
    (OUT / name).write_bytes(data)
    (OUT / f"{name}.rgb").write_bytes(struct.pack("<2B", pixels.shape[1], pixels.shape[0]) + pixels.tobytes())


def saved(picture, form, **given):
    to = io.BytesIO()
    picture.save(to, form, **given)
    return to.getvalue()


def bmp(bits, rows, packing=0, palette=b"", masks=b"", height=H, old=False):
    """A BMP as Pillow does not write it."""
    if old:
        head = struct.pack("<IHHHH", 12, W, height, 1, bits)
    else:
        head = struct.pack("<IiiHHIIiiII", 40, W, height, 1, bits, packing, len(rows), 0, 0, 0, 0) + masks
    at = 14 + len(head) + len(palette)
    return b"BM" + struct.pack("<IHHI", at + len(rows), 0, 0, at) + head + palette + rows


def padded(rows, width=4):
    return b"".join(row + b"\0" * (-len(row) % width) for row in rows)


def write_bmps():
    write("rgb.bmp", saved(RGB, "BMP"))
    write("gray.bmp", saved(GRAY, "BMP"))
    write("bits.bmp", saved(BITS, "BMP"))
    write("palette.bmp", saved(PALETTE, "BMP"))
    pixels = colours()
    five = (pixels >> 3).astype(np.uint16)
    as_five = Image.fromarray(((five * 255 + 15) // 31).astype(np.uint8))
    packed = (five[..., 0] << 10 | five[..., 1] << 5 | five[..., 2]).astype("<u2")
    write("five.bmp", bmp(16, padded([row.tobytes() for row in packed[::-1]])), as_five)
    six = (pixels[..., 1] >> 2).astype(np.uint16)
    packed = (five[..., 0] << 11 | six << 5 | five[..., 2]).astype("<u2")
    as_six = np.stack([(five[..., 0] * 255 + 15) // 31, (six * 255 + 31) // 63, (five[..., 2] * 255 + 15) // 31], -1)
    write("masks.bmp", bmp(16, padded([row.tobytes() for row in packed[::-1]]), 3,
                           masks=struct.pack("<3I", 0xf800, 0x7e0, 0x1f)), Image.fromarray(as_six.astype(np.uint8)))
    wide = np.concatenate([pixels[..., ::-1], np.zeros((H, W, 1), np.uint8)], -1)
    write("down.bmp", bmp(32, wide.tobytes(), height=-H), RGB)
    write("old.bmp", bmp(24, padded([row.tobytes() for row in pixels[::-1, :, ::-1]]), old=True), RGB)
    table = np.random.default_rng(1).integers(0, 256, (16, 4), np.uint8)
    index = np.arange(W * H).reshape(H, W) // 5 % 16
    shown = Image.fromarray(table[index][..., 2::-1])
    nibbles = np.pad(index, ((0, 0), (0, 1)))[::-1].astype(np.uint8)
    write("four.bmp", bmp(4, padded([(row[::2] << 4 | row[1::2]).tobytes() for row in nibbles]), palette=table.tobytes()), shown)
    runs = b"".join(b"".join(bytes([1, int(v)]) for v in row[:4]) + bytes([0, W - 4]) + bytes(map(int, row[4:])) +
                    b"\0" * ((W - 4) % 2) + b"\0\0" for row in index[::-1]) + b"\0\1"
    write("runs8.bmp", bmp(8, runs, 1, palette=table.tobytes().ljust(1024, b"\0")), shown)
    runs = b"".join(b"".join(bytes([1, int(v) << 4]) for v in row) + b"\0\0" for row in index[::-1])
    write("runs4.bmp", bmp(4, runs, 2, palette=table.tobytes()), shown)
    skipped = index.copy()
    skipped[0, 1:] = 0
    runs = b"\0\2" + bytes([0, H - 1]) + bytes([1, int(index[0, 0])]) + b"\0\1"
    only = np.zeros_like(index)
    only[0, 0] = index[0, 0]
    write("skips.bmp", bmp(8, runs, 1, palette=table.tobytes().ljust(1024, b"\0")),
          Image.fromarray(table[only][..., 2::-1]))


def write_pnms():
    pixels, gray = colours(), np.asarray(GRAY)
    bits = np.asarray(BITS)
    text = lambda array: "\n".join(" ".join(str(int(v)) for v in row.reshape(-1)) for row in array).encode()  # noqa: E731
    write("rgb.ppm", saved(RGB, "PPM"))
    write("gray.pgm", saved(GRAY, "PPM"))
    write("bits.pbm", saved(BITS, "PPM"))
    write("text.ppm", b"P3 # colours\n%d # width\n%d\n255\n" % (W, H) + text(pixels), RGB)
    write("text.pgm", b"P2\n#\n%d %d 255\n" % (W, H) + text(gray), GRAY)
    write("text.pbm", b"P1\n%d %d\n" % (W, H) + b"\n".join(bytes(b"01"[not v] for v in row) for row in bits), BITS)
    write("wide.ppm", b"P6 %d %d 65535\n" % (W, H) + (pixels.astype(">u2") * 257).tobytes(), RGB)
    small = pixels >> 4
    write("small.ppm", b"P6 %d %d 15\n" % (W, H) + small.tobytes(), Image.fromarray(small * 17))


def write_pngs():
    for name, picture, given in (("rgb", RGB, {}), ("alpha", RGBA, {}), ("gray", GRAY, {}), ("palette", PALETTE, {}),
                                 ("bits", BITS, {}), ("hidden", PALETTE, {"transparency": 3})):
        write(f"{name}.png", saved(picture, "PNG", **given), picture)
    deep = Image.fromarray((np.asarray(GRAY).astype(np.uint16) << 8) + 200)
    write("deep.png", saved(deep, "PNG"), GRAY)


def write_others():
    for name, picture, given in (("rgb", SMOOTH, {}), ("gray", SMOOTH.convert("L"), {}),
                                 ("progressive", SMOOTH, {"progressive": True, "quality": 60}),
                                 ("whole", SMOOTH, {"subsampling": 0})):
        write(f"{name}.jpg", saved(picture, "JPEG", **given))
    write("four.jpg", saved(SMOOTH.convert("CMYK"), "JPEG", quality=100), SMOOTH)
    for name, picture, given in (("rgb", RGB, {}), ("alpha", RGBA, {}), ("gray", GRAY, {}), ("palette", PALETTE, {}),
                                 ("bits", BITS, {"compression": "group4"}), ("lzw", RGB, {"compression": "tiff_lzw"}),
                                 ("deflate", RGB, {"compression": "tiff_adobe_deflate"}),
                                 ("packbits", RGB, {"compression": "packbits"})):
        write(f"{name}.tif", saved(picture, "TIFF", **given), picture)
    write("lossy.webp", saved(SMOOTH, "WEBP"))
    write("exact.webp", saved(RGB, "WEBP", lossless=True))
    write("alpha.webp", saved(RGBA, "WEBP", lossless=True, exact=True))
    (OUT / "animated.webp").write_bytes(saved(RGB, "WEBP", save_all=True, append_images=[SMOOTH.resize((W, H))], lossless=True))
    write("exact.jp2", saved(RGB, "JPEG2000", irreversible=False))
    write("gray.jp2", saved(GRAY, "JPEG2000"))
    write("alpha.jp2", saved(RGBA, "JPEG2000"))
    write("tiles.j2k", saved(SMOOTH, "JPEG2000", tile_size=(16, 8), no_jp2=True))
    write("lossy.jp2", saved(SMOOTH, "JPEG2000", irreversible=True, quality_mode="rates", quality_layers=[8]))


OUT.mkdir(exist_ok=True)
for file in OUT.iterdir():
    file.unlink()
write_bmps()
write_pnms()
write_pngs()
write_others()
