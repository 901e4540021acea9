#!/usr/bin/env python3
"""Writes nfc_tables.hpp: what is_nfc has to know of Unicode's characters. Hangul's syllables follow a formula instead.

    generate_nfc.py           writes it
    generate_nfc.py --check   says whether it is as this Python would write it (exit status 1 if not)

What Unicode once said of a character's form NFC it does not change; later versions add characters.
"""
import pathlib
import sys
import unicodedata

FILE = pathlib.Path(__file__).with_name("nfc_tables.hpp")
HANGUL = range(0xAC00, 0xD7A4)
ALL = [c for c in range(0x110000) if c not in range(0xD800, 0xE000) and c not in HANGUL]


def is_nfc(c):
    return unicodedata.normalize("NFC", chr(c)) == chr(c)


def pairs():
    """(made, first, second) of every character that takes the place of two."""
    for c in ALL:
        parts = unicodedata.decomposition(chr(c)).split()
        if len(parts) == 2 and parts[0][0] != "<" and is_nfc(c):
            yield c, int(parts[0], 16), int(parts[1], 16)


def ranges(of):
    """(first, last, value) of neighbours with the same value, those without one left out."""
    made = []
    for c in ALL:
        value = of(c)
        if value and made and made[-1][1] == c - 1 and made[-1][2] == value:
            made[-1][1] = c
        elif value:
            made.append([c, c, value])
    return made


def table(words, head, rows):
    lines, line = [f"/// {words}", f"constexpr {head}[] = {{"], "   "
    for row in rows:
        text = " {" + ", ".join(row) + "}," if len(row) > 1 else f" {row[0]},"
        if len(line) + len(text) > 120:
            lines.append(line)
            line = "   "
        line += text
    return "\n".join(lines + [line, "};"])


def text():
    all_pairs = sorted(pairs())

    def hexes(*numbers):
        return [f"0x{n:04X}" for n in numbers]

    return f"""#pragma once
// Written by generate_nfc.py, from version {unicodedata.unidata_version} of Unicode.
// clang-format off

namespace cameo::inline CAMEO_ABI {{

struct nfc_pair {{
  char32_t made, first, second;
}};
struct nfc_range {{
  char32_t first, last;
}};
struct nfc_class {{
  char32_t first, last;
  unsigned char number;
}};

{table("Characters that stand for two others, by what they are.", "nfc_pair nfc_pairs",
       (hexes(*p) for p in all_pairs))}
{table("Where they are in that, by the second and the first.", "unsigned short nfc_by_parts",
       ([str(i)] for i in sorted(range(len(all_pairs)), key=lambda i: (all_pairs[i][2], all_pairs[i][1]))))}
{table("What is in no text of form NFC.", "nfc_range nfc_never", (hexes(*r[:2]) for r in ranges(lambda c: not is_nfc(c))))}
{table("Accents and the like: combining classes other than 0.", "nfc_class nfc_classes",
       (hexes(*r[:2]) + [str(r[2])] for r in ranges(lambda c: unicodedata.combining(chr(c)))))}

}}  // namespace cameo::inline CAMEO_ABI
"""


def main():
    if sys.argv[1:] == ["--check"]:
        written = FILE.read_text()
        if f"version {unicodedata.unidata_version} of" not in written:
            print(f"not compared: this Python has version {unicodedata.unidata_version} of Unicode")
        elif written != text():
            sys.exit(f"{FILE.name} is not what {pathlib.Path(__file__).name} writes")
    else:
        FILE.write_text(text())


main()
