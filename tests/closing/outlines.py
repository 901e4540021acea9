"""See tests/closing/outlines. Closes with one line: N passed, N failed; N is a number of functions."""
import json
import multiprocessing
import os
import pathlib
import shlex
import subprocess
import sys

from clang import cindex
from clang.cindex import CursorKind

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "release"
FUNCTIONS = {CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.FUNCTION_TEMPLATE, CursorKind.CONSTRUCTOR,
             CursorKind.DESTRUCTOR, CursorKind.CONVERSION_FUNCTION}
HEADER_FLAGS = [f"-I{ROOT / folder}" for folder in ("include", "src", "eps/cpu/include", "eps/cpu/src", "eps/frozen/include",
                                                    "eps/openvino/include", "build/release/generated")]


def flags():
    """file -> the options of the build that say what it includes and defines."""
    found = {}
    for entry in json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8")):
        words = shlex.split(entry["command"])
        kept = [word for word in words if word.startswith(("-I", "-D"))]
        kept += [f"-isystem{words[i + 1]}" for i, word in enumerate(words) if word == "-isystem"]
        found.setdefault(os.path.realpath(entry["file"]), kept)
    return found


def of_clang(job):
    """The names and lines of the functions that a file defines: with a body, defaulted and deleted ones aside."""
    path, options = job
    builtin = subprocess.run(["clang-14", "-print-resource-dir"], capture_output=True, text=True, check=True).stdout.strip()
    unit = cindex.Index.create().parse(str(path), ["-xc++", "-std=c++20", f"-isystem{builtin}/include", *options])
    errors = [str(each) for each in unit.diagnostics if each.severity >= cindex.Diagnostic.Fatal]
    found = set()

    def visit(cursor):
        for child in cursor.get_children():
            if child.location.file is None or child.location.file.name != str(path):
                if child.kind == CursorKind.NAMESPACE and child.extent.start.file and child.extent.start.file.name == str(path):
                    visit(child)
                continue
            if child.kind in FUNCTIONS and child.is_definition() and not child.is_default_method():
                found.add((child.spelling.split("<")[0], child.location.line))
            elif child.kind in (CursorKind.NAMESPACE, CursorKind.STRUCT_DECL, CursorKind.CLASS_DECL, CursorKind.CLASS_TEMPLATE,
                                CursorKind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION, CursorKind.LINKAGE_SPEC,
                                CursorKind.UNEXPOSED_DECL):
                visit(child)

    visit(unit.cursor)
    return path, found, errors


def of_ctags(paths):
    said = subprocess.run(["ctags", "-L", "-", "-f", "-", "--c++-kinds=f", "--fields=n", "--excmd=number"], text=True,
                          input="\n".join(map(str, paths)), capture_output=True, check=True).stdout
    found = {}
    for line in said.splitlines():
        name, path, rest = line.split("\t", 2)
        found.setdefault(path, set()).add((name, int(rest.split(";")[0])))
    return found


def listed(function, tags):
    """Whether ctags lists the function, on its line or beside it: a template or a type may be on the line before."""
    name, line = function
    return any((name, at) in tags or (name.replace("operator", "operator "), at) in tags for at in (line, line - 1, line + 1))


def main():
    folders = sys.argv[1:] or ["include", "src", "eps"]
    tracked = subprocess.run(["git", "-C", ROOT, "ls-files", *folders], capture_output=True, text=True, check=True).stdout.split()
    paths = [ROOT / path for path in tracked if path.endswith((".hpp", ".cpp")) and "/tests/" not in path]
    options, tags = flags(), of_ctags(paths)
    passed, missing, broken = 0, [], []
    jobs = [(path, options.get(str(path), HEADER_FLAGS)) for path in paths]
    with multiprocessing.Pool(len(os.sched_getaffinity(0))) as pool:
        for path, found, errors in pool.imap_unordered(of_clang, jobs, chunksize=4):
            broken += [f"{path.relative_to(ROOT)}: {errors[0]}"] if errors else []
            for function in sorted(found):
                if listed(function, tags.get(str(path), set())):
                    passed += 1
                else:
                    missing.append(f"{path.relative_to(ROOT)}:{function[1]}: {function[0]}")
    print("\n".join(missing + broken))
    total = passed + len(missing)
    share = passed / max(total, 1)
    print(f"{len(paths)} files ({len(broken)} that clang can't read), {total} functions, of which ctags lists {share:.2%}")
    print(f"{passed} passed, {0 if share >= 0.99 else len(missing)} failed")
    return share < 0.99


if __name__ == "__main__":
    sys.exit(main())
