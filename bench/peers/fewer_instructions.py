"""Changes programs and libraries so that they read the processor's features from cpuid_trap.cpp.

Usage: fewer_instructions.py FILE...

Replaces each CPUID instruction (0F A2) by a breakpoint of the same length (CC 90). Files are changed in place, so pass
copies. objdump finds the instructions, so equal bytes in data or in other instructions are not changed. Prints the
number of replaced instructions for each file.
"""
import pathlib
import re
import struct
import subprocess
import sys


def loaded_segments(image):
    """Yields (address, offset, size) of the segments that are loaded from a 64-bit ELF file."""
    first, = struct.unpack_from("<Q", image, 32)
    size, count = struct.unpack_from("<HH", image, 54)
    for place in range(first, first + size * count, size):
        kind, _, offset, address, _, length = struct.unpack_from("<IIQQQQ", image, place)
        if kind == 1:  # PT_LOAD
            yield address, offset, length


def change(file):
    image = bytearray(file.read_bytes())
    segments = list(loaded_segments(image))
    listing = subprocess.Popen(["objdump", "--disassemble", "--no-show-raw-insn", file], stdout=subprocess.PIPE, text=True)
    found = 0
    for line in listing.stdout:
        if not (place := re.match(r"\s*([0-9a-f]+):\s+cpuid\b", line)):
            continue
        address = int(place[1], 16)
        at = next(offset + address - start for start, offset, size in segments if start <= address < start + size)
        if image[at:at + 2] != b"\x0f\xa2":
            raise SystemExit(f"{file}: no CPUID instruction at {address:#x}")
        image[at:at + 2] = b"\xcc\x90"
        found += 1
    if listing.wait():
        raise SystemExit(f"{file}: objdump failed")
    if found:
        file.write_bytes(image)
    return found


if __name__ == "__main__":
    for each in map(pathlib.Path, sys.argv[1:]):
        print(each.name, change(each))
