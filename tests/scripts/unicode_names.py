"""Names that a package may have: texts in Unicode's normalization form NFC, with Python's unicodedata as the reference,
and without characters that are hard to see. Every character is tried alone, and some thousand texts of accents, letters
and syllables."""
import ctypes
import ctypes.util
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unicodedata

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "program"))
from claims import conclude, expect  # noqa: E402

CAMEO = os.environ["CAMEO_PROGRAM"]
FILES = pathlib.Path(os.environ["CAMEO_SOURCE_DIR"]) / "src/file"
FIRST = 0xA1  # all characters before it are ASCII, or hard to see


def hidden():
    text = (FILES / "confined.cpp").read_text()
    table = text[text.index("hard_to_see[] = {"):]
    pairs = re.findall(r"\{0x([0-9A-F]+), 0x([0-9A-F]+)\}", table[:table.index("};")])
    return {c for first, last in pairs for c in range(int(first, 16), int(last, 16) + 1)}


def version_of_utf8proc():
    """The version of Unicode, as numbers, of the utf8proc that is installed here; a program may contain its code."""
    try:
        library = ctypes.CDLL(ctypes.util.find_library("utf8proc"))
    except OSError:
        return (3, 2, 0)
    library.utf8proc_unicode_version.restype = ctypes.c_char_p
    return tuple(map(int, library.utf8proc_unicode_version().decode().split(".")))


def known():
    """The characters that both utf8proc and this Python have: those of Unicode 3.2 if utf8proc is older than Python."""
    there, here = version_of_utf8proc(), tuple(map(int, unicodedata.unidata_version.split(".")))
    judge = unicodedata if there >= here else unicodedata.ucd_3_2_0
    print(f"utf8proc has Unicode {there}, this Python {here}: compared by {judge.unidata_version}")
    return [c for c in range(FIRST, 0x110000) if judge.category(chr(c)) not in ("Cn", "Cs")]


def manifest(folder, names):
    variants = {f"v{i}": {"variant_directory": ".", "ep": "E", "executor_info": {"ort": {"model_file": name}}}
                for i, name in enumerate(names)}
    folder.mkdir(exist_ok=True)
    (folder / "manifest.json").write_text(
        json.dumps({"schema_version": "1.0", "components": {"c": {"variants": variants}}}, ensure_ascii=False))


def check_allowed(folder, names):
    manifest(folder, names)
    done = subprocess.run([CAMEO, "package", "show", folder, "--json"], capture_output=True, text=True)
    expect(done.returncode == 0, f"all of these are names: {done.stderr}")


def check_refused(folder, names, words):
    """Checks that each of the names is refused, so that no error hides another."""
    names = sorted(names)
    for first in range(0, len(names), 900):
        part = names[first:first + 900]
        manifest(folder, part)
        done = subprocess.run([CAMEO, "package", "validate", folder, "--json"], capture_output=True, text=True)
        found = json.loads(done.stdout)["problems"]
        refused = {p["at"].split("/")[4] for p in found if p["kind"] == "confinement" and words in p["message"]}
        passed = [ascii(name) for i, name in enumerate(part) if f"v{i}" not in refused]
        expect(not passed, f"refused, and {words}: {passed[:20]}")


def texts_of(interesting):
    """Random texts; half of them are in the form NFC."""
    kinds = [
        interesting,
        [c for c in interesting if unicodedata.combining(c)],
        [c for c in interesting if not unicodedata.combining(c)],
        [chr(c) for c in (*range(0x61, 0x7B), *range(0x1100, 0x1113), *range(0x1161, 0x1176), *range(0x11A8, 0x11C3))],
    ]
    draw = random.Random(8)
    for i in range(8000):
        text = "".join(draw.choice(draw.choice(kinds)) for _ in range(draw.randint(2, 6)))
        yield unicodedata.normalize("NFC", text) if i % 2 else text


def main():
    unseen = hidden()
    everything = [c for c in known() if c not in unseen]
    alone = {unicodedata.is_normalized("NFC", chr(c)): [] for c in everything}
    for c in everything:
        alone[unicodedata.is_normalized("NFC", chr(c))].append(chr(c))
    interesting = [c for c in map(chr, everything)
                   if unicodedata.combining(c) or unicodedata.decomposition(c)[:1] not in ("", "<")]
    texts = {t for t in texts_of(interesting) if not unseen & set(map(ord, t))}
    sound = sorted(t for t in texts if unicodedata.is_normalized("NFC", t))
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "p"
        allowed = alone[True]
        check_allowed(folder, ["/".join(allowed[i:i + 500]) for i in range(0, len(allowed), 500)] + sound)
        check_refused(folder, set(alone[False]) | (texts - set(sound)), "NFC")
        check_allowed(folder, ["q" + "\u0323" * 30])
        check_refused(folder, ["q" + "\u0323" * 31, "\u0f73" * 16, "a" + "\u0301\u0323" * 30000], "accents")
        blank = [chr(c) for c in known() if unicodedata.category(chr(c)) in ("Cc", "Zs", "Zl", "Zp")]
        turned = [chr(c) for c in (0x202A, 0x202B, 0x202D, 0x202E, 0x2066, 0x2067, 0x2068, 0x200E, 0x200F, 0x061C)]
        slashes = [chr(c) for c in known() if set(unicodedata.normalize("NFKC", chr(c))) & set("/\\")]
        check_refused(folder, [f"a{c}b" for c in {*blank, *turned, *slashes}], "hard to see")
    print(f"{len(allowed)} characters and {len(sound)} texts are names, {len(alone[False])} and "
          f"{len(texts) - len(sound)} are not")
    conclude()


main()
