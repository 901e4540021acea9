"""Makes programs and libraries ask cpuid_trap.cpp what the processor can do.

Usage: fewer_instructions.py FILE...

Each CPUID instruction (0F A2) becomes a breakpoint of the same length (CC 90), in place: change copies. The instructions
are found by objdump, so that bytes which only look like one stay as they are. Prints how many there were in each file.
"""
import pathlib
import re
import struct
import subprocess
import sys


def loaded_segments(image):
    """(address, offset, size) of what an ELF file for 64 bits loads from itself."""
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
