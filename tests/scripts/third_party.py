"""THIRD_PARTY.md lists each library that the build looks for or that a source of cameo includes, with the text of its
license."""
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(os.environ["CAMEO_SOURCE_DIR"])
# The name with which the headers of a library begin, or which CMake has for it, and its name on the page if that
# differs.
NAMES = {"google": "protobuf", "onnx_proto": "onnx", "CLI": "CLI11", "range": "range-v3", "nlohmann": "nlohmann_json",
         "Eigen3": "Eigen", "xtensor": "xtensor", "png.h": "libpng", "jpeglib.h": "libjpeg", "tiffio.h": "libtiff",
         "webp": "libwebp", "openjpeg.h": "OpenJPEG", "openvino": "openvino"}
OWN = {"cameo", "threads", "Threads", "PkgConfig", "sys", "linux", "netinet", "arpa", "machine", "asm", "bits"}

page = (ROOT / "THIRD_PARTY.md").read_text()
listed = " ".join(re.findall(r"^\| ([^|]+) \|", page, re.MULTILINE) + re.findall(r"^doctest.*?\n\n|^doctest.*", page, re.M | re.S)).lower()
found = {}
for source in [*ROOT.glob("src/**/*.[ch]pp"), *ROOT.glob("include/**/*.hpp"), *ROOT.glob("eps/*/src/**/*.[ch]pp"),
               *ROOT.glob("eps/*/include/**/*.hpp")]:
    for name in re.findall(r"^\s*#\s*include <([\w.]+)/", source.read_text(), re.MULTILINE):
        found.setdefault(name, source.relative_to(ROOT))
    for name in re.findall(r"^\s*#\s*include <(png\.h|jpeglib\.h|tiffio\.h|openjpeg\.h|utf8proc\.h)>", source.read_text(), re.MULTILINE):
        found.setdefault(name.removesuffix(".h") if name.startswith("utf8") else name, source.relative_to(ROOT))
for rules in [ROOT / "CMakeLists.txt", *ROOT.glob("cmake/cameo_*.cmake"), *ROOT.glob("src/**/CMakeLists.txt")]:
    for name in re.findall(r"(?:find_package|cameo_look_for)\((\w+)", re.sub(r"#.*", "", rules.read_text())):
        found.setdefault(name, rules.relative_to(ROOT))

bad = []
for name, where in sorted(found.items()):
    if name not in OWN and not re.search(rf"\b{re.escape(NAMES.get(name, name).lower())}\b", listed):
        bad.append(f"{where} uses {name}, which THIRD_PARTY.md does not list")
for text in re.findall(r"\((packaging/licenses/[\w.-]+)\)", page):
    if len((ROOT / text).read_text()) < 500 if (ROOT / text).exists() else True:
        bad.append(f"{text} does not exist, or is too short for a license")
for file in (ROOT / "packaging" / "licenses").iterdir():
    if str(file.relative_to(ROOT)) not in page:
        bad.append(f"THIRD_PARTY.md does not say what {file.relative_to(ROOT)} is for")
print("\n".join(bad))
print(f"{len(found)} names of libraries, {len(bad)} wrong")
sys.exit(bool(bad) or len(found) < 10)
