"""The public headers as programs include them. Each compiles alone with clang and libc++, without any warning that
strict projects enable; g++ and libstdc++ compile them in the build, target cameo_headers. Each name that
cameo/cameo.hpp declares in `namespace cameo` is for users or for authors of providers, and must occur in a program of
examples/ or in code of README.md or docs/*.md; what headers share among themselves belongs into cameo::detail.
"--names" prints the names by header."""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("CAMEO_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
CLANG = ["clang++-16", "-stdlib=libc++", "-std=c++20", "-fsyntax-only"]
# All warnings of clang except those about: older standards; layouts; pointers with a size beside them, of which spans are
# made; commas in expressions; an exception class that is defined in a header alone (weak vtables); comments, which are for
# doxygen.
WARNINGS = ["-Werror", "-Weverything", "-Wno-c++98-compat", "-Wno-c++98-compat-pedantic", "-Wno-c++20-compat",
            "-Wno-pre-c++20-compat-pedantic", "-Wno-padded", "-Wno-unsafe-buffer-usage", "-Wno-comma",
            "-Wno-weak-vtables", "-Wno-documentation", "-Wno-documentation-html"]
# The names that no page and no example uses, and that belong into namespace cameo nevertheless.
UNSHOWN = {
    "basic_runtime",  # the base class of runtime; the reference lists the functions of both there
    "basic_status",  # the class behind status, in the reference and in messages of compilers
}

NODE = re.compile(r"^([|` -]*)(\w+Decl) 0x")
FILE = re.compile(r"[<, ]([^\s<>:,']+\.hpp):\d+:\d+")
# "FunctionDecl 0x1 <file:1:1, line:2:1> line:1:5 constexpr NAME 'int ()'"
NAME = re.compile(r"> (?:(?:<scratch space>|\S+):\d+:\d+|(?:line:\d+|col):\d+) (.*)")
BEFORE_NAME = {"struct", "class", "union", "enum", "referenced", "used", "invalid", "constexpr", "inline", "implicit"}
SKIPPED = {"StaticAssertDecl", "NamespaceDecl", "ClassTemplateSpecializationDecl", "VarTemplateSpecializationDecl",
           "ClassTemplatePartialSpecializationDecl", "VarTemplatePartialSpecializationDecl", "LinkageSpecDecl",
           "CXXDeductionGuideDecl", "UsingDecl", "EmptyDecl"}


def folders():
    return [SOURCE / "include", *sorted(SOURCE.glob("eps/*/include"))]


def headers():
    return sorted(str(path.relative_to(folder)) for folder in folders() for path in folder.rglob("*.hpp"))


def others():
    """The include folders of the libraries that the headers of cameo/interop adapt."""
    found = subprocess.run(["pkg-config", "--cflags-only-I", "eigen3"], capture_output=True, text=True, check=False)
    return found.stdout.replace("-I", "-isystem").split()


def modules(cache):
    """libc++'s headers as clang's modules, which are parsed once for all headers; that takes half the time. A header still
    has only the names that it includes. The first compilation writes the modules that most headers need."""
    arguments = ["-fmodules", f"-fmodules-cache-path={cache}"]
    compile_one("cameo/cameo.hpp", arguments)
    return arguments


def compile_one(header, arguments):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "one.cpp"
        path.write_text(f"#include <{header}>\n", encoding="utf-8")
        return subprocess.run([*CLANG, *(f"-I{each}" for each in folders()), *others(), *arguments, str(path)],
                              capture_output=True, text=True, check=False)


def alone():
    """The headers that do not compile, with the first error of each."""
    names = headers()
    if len(names) < 100:
        sys.exit(f"FAILED: only {len(names)} headers below {SOURCE}")
    with tempfile.TemporaryDirectory() as cache, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        arguments = [*WARNINGS, *modules(cache)]
        for name, done in zip(names, pool.map(lambda each: compile_one(each, arguments), names)):
            if done.returncode:
                yield f"{name}: {next((line for line in done.stderr.splitlines() if 'error:' in line), done.stderr)}"


def name_of(line):
    """The name that a line of clang's syntax tree declares; None for a line without one, and for an operator."""
    rest = NAME.search(line)
    words = [word for word in rest[1].split(" '")[0].split() if word not in BEFORE_NAME] if rest else []
    words = [word for word in words if word != "definition"]
    return words[0] if words and re.fullmatch(r"\w+", words[0]) and not words[0].startswith("operator") else None


def public_names():
    """header -> the names that it declares in namespace cameo itself."""
    done = compile_one("cameo/cameo.hpp", ["-Xclang", "-ast-dump", "-fno-color-diagnostics"])
    if done.returncode:
        sys.exit(f"FAILED: cameo/cameo.hpp does not compile\n{done.stderr[:2000]}")
    found, header, inside = {}, "", [False, False]  # inside: namespace cameo, its inline namespace
    for line in done.stdout.splitlines():
        header = (FILE.findall(line) or [header])[-1]
        node = NODE.match(line)
        if not node:
            continue
        depth = len(node[1]) // 2
        if depth == 1:
            inside = [node[2] == "NamespaceDecl" and line.endswith(" cameo"), False]
        elif depth == 2 and inside[0]:
            inside[1] = node[2] == "NamespaceDecl" and line.endswith((" inline", " inline nested"))
        elif depth == 3 and all(inside) and node[2] not in SKIPPED and not re.search(" implicit | parent 0x", line):
            name = name_of(line)
            if name:
                found.setdefault(name, header)
    by_header = {}
    for name, header in found.items():
        by_header.setdefault(re.sub(r"^.*/include/", "", header), []).append(name)
    return by_header


def shown():
    """The words of examples, and of code in pages, in fenced blocks and in backticks."""
    programs = [path.read_text(encoding="utf-8") for path in (SOURCE / "examples").rglob("*.[ch]pp")]
    pages = [path.read_text(encoding="utf-8") for path in (SOURCE / "README.md", *(SOURCE / "docs").glob("*.md"))]
    code = [each for page in pages for each in re.findall(r"^```.*?^```|`[^`]+`", page, re.DOTALL | re.MULTILINE)]
    return set(re.findall(r"\w+", "\n".join(programs + code)))


def older_standards():
    """Without -std=c++20 the header of any layer gives exactly one error, which says what is needed, and compilation
    stops."""
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "old.cpp"
        for header in ["cameo/cameo.hpp", "cameo/eps/cpu.hpp", "cameo/core/status.hpp", "cameo/interop/eigen.hpp"]:
            source.write_text(f"#include <{header}>\nint main() {{ return cameo::nothing; }}\n")
            for compiler in [["g++", "-std=c++17"], ["clang++-14", "-std=c++17"], ["g++", "-std=c++11"]]:
                done = subprocess.run([*compiler, "-fsyntax-only", *(f"-I{each}" for each in folders()), *others(), source],
                                      capture_output=True, text=True, check=False)
                errors = re.findall(r"^\S+: ((?:fatal )?error: .*)$", done.stderr, re.MULTILINE)
                right = len(errors) == 2 and all("cameo needs C++20: compile with -std=c++20" in each for each in errors)
                if not right or not errors[1].startswith("fatal"):
                    failed.append(f"{compiler} <{header}>: not the one error about C++20, but {errors[:5]}")
    return failed


def marks():
    """CAMEO_API and CAMEO_C_API export symbols from the sources of the library and import them into programs that use
    the shared library, on systems that distinguish the two; elsewhere they make symbols visible."""
    visible, exported, imported = '__attribute__((visibility("default")))', "__declspec(dllexport)", "__declspec(dllimport)"
    expected = [([], visible), (["-DCAMEO_BUILDS_LIBRARY"], visible), (["-DCAMEO_USES_SHARED"], visible),
                (["-D_WIN32"], ""), (["-D_WIN32", "-DCAMEO_BUILDS_LIBRARY"], exported),
                (["-D_WIN32", "-DCAMEO_USES_SHARED"], imported)]
    for header, mark in (("cameo/core/abi.hpp", "CAMEO_API"), ("cameo/c/cameo.h", "CAMEO_C_API")):
        for arguments, wanted in expected:
            text = f"#include <{header}>\n{mark} int f();\n"
            done = subprocess.run(["g++", "-std=c++20", "-E", "-P", "-x", "c++", f"-I{SOURCE}/include", *arguments, "-"],
                                  input=text, capture_output=True, text=True, check=False)
            if [line.strip() for line in done.stdout.splitlines()[-1:]] != [f"{wanted} int f();".strip()]:
                yield f"{mark} with {arguments} is not '{wanted}', but {done.stdout.splitlines()[-1:]}{done.stderr}"


def main():
    names = public_names()
    if sum(map(len, names.values())) < 100:
        sys.exit(f"FAILED: only {names} found in namespace cameo")
    unshown = {each for of_header in names.values() for each in of_header} - shown()
    if "--names" in sys.argv:
        for header in sorted(names, key=lambda each: -len(names[each])):
            print(f"{header} ({len(names[header])}): {' '.join(sorted(names[header]))}")
    print(f"cameo/cameo.hpp puts {sum(map(len, names.values()))} names into namespace cameo")
    failed = [f"{each}: no example and no page writes it, so it belongs into cameo::detail, or has to be shown"
              for each in sorted(unshown - UNSHOWN)]
    failed += [f"{each}: is shown, or gone; delete it from UNSHOWN" for each in sorted(UNSHOWN - unshown)]
    if "--names" not in sys.argv:
        failed += [*alone(), *older_standards(), *marks()]
    if failed:
        sys.exit("FAILED: " + "\n".join(failed))


if __name__ == "__main__":
    main()
