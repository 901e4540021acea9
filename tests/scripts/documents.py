"""Checks README.md, CONTRIBUTING.md, docs/*.md and eps/*/README.md against the tree: each block of code is read by the
tool for its language, each link and each path exists, and each command has the options that are shown.

A fenced block names its language:
  cpp            compiled. A block that begins with #include is a file; above any other, a comment names its context:
                 <!-- cpp: declarations -->   of a separate namespace, below the page's preamble
                 <!-- cpp: statements -->     of a separate function that returns a status
                 <!-- cpp: continued -->      of the function of the statements before
                 The preamble of a page is a comment, too, with the parameters of these functions:
                 <!-- cpp: preamble (const cameo::session& session)
                 #include <cameo/cameo.hpp>
                 -->
                 <!-- cpp: column 2 --> before a table compiles the code in that column, each table cell as statements.
  c              compiled as C99: a whole file
  cmake          run by cmake -P with stand-ins for the commands that need a project; targets and options must exist
  sh, console    lines that call the program or a script of this tree, which must exist and have these options
  json, python, ini, toml   parsed
  text           not code

Usage: documents.py [PAGE...]   (default: all). Needs CAMEO_SOURCE_DIR, CAMEO_BINARY_DIR, CAMEO_PROGRAM and CAMEO_CXX in
the environment, as CTest sets them.
"""
import concurrent.futures
import configparser
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tomllib

root = pathlib.Path(os.environ["CAMEO_SOURCE_DIR"]).resolve()
out = pathlib.Path(os.environ["CAMEO_BINARY_DIR"]) / "generated" / "documents"
INCLUDES = ["-I" + str(path) for path in [root / "include", *sorted(root.glob("eps/*/include")), root / "examples"]]
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-variable", "-Wno-unused-but-set-variable", "-Wno-unused-value",
            "-Wno-unused-parameter", "-Wno-unused-function", "-Wno-unused-local-typedefs"]
PAGES = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "THIRD_PARTY.md", "docs/*.md", "examples/*.md", "eps/*/README.md"]
DIRECTIVE = re.compile(r"<!-- cpp: (\w+) ?(.*?)\s*(?:-->|\n(.*?)-->)", re.DOTALL)
FENCE = re.compile(r"^```(\S*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?<=\n\n)((?: {4,}\S[^\n]*\n|\n(?= {4}))+)")
SPAN = re.compile(r"(?<!`)`([^`\n]+(?:\n[^`\n]+)?)`(?!`)")
LINK = re.compile(r"!?\[[^\]\n]*(?:\n[^\]\n]*)?\]\(([^)\s]+)\)")
PATH = re.compile(r"^(?:[\w.-]+/)*[\w.-]+\.(?:hpp|cpp|py|md|sh|svg|png|cmake|onnx)$|^(?:[\w.-]+/)+[\w.-]*$")
SHOUTED = re.compile(r"README|CONTRIBUTING|CHANGELOG|LICENSE|SECURITY|THIRD_PARTY|CMake\w+")  # file names in capitals
PLACEHOLDER = re.compile(r"[A-Z]{2,}|<|\*")
checks, failures = 0, []


def check(holds, where, words):
    global checks
    checks += 1
    if not holds:
        failures.append(f"{where}: {words}")
    return holds


def blank(match):
    """As many empty lines as the match has lines."""
    return "\n" * match.group(0).count("\n")


class Page:
    """A page without its fenced blocks: blank lines take their place, so that line numbers stay."""

    def __init__(self, path):
        self.path, self.name = path, os.path.relpath(path, root)
        self.text = path.read_text(encoding="utf-8")
        self.prose = DIRECTIVE.sub(blank, FENCE.sub(blank, self.text))

    def line(self, offset):
        return self.text.count("\n", 0, offset) + 1

    def where(self, line):
        return f"{self.name}:{line}"

    def directive_before(self, offset):
        """The comment that ends on the line above."""
        for found in DIRECTIVE.finditer(self.text, 0, offset):
            if not self.text[found.end():offset].strip():
                return found
        return None


# ---- C++ ----

def compile_cpp(name, source):
    """(name, the compiler's messages; empty if it compiled)"""
    file = out / (re.sub(r"\W", "_", name) + ".cpp")
    file.write_text(source, encoding="utf-8")
    command = [os.environ["CAMEO_CXX"], "-std=c++20", *WARNINGS, "-fsyntax-only", *INCLUDES, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return name, done.stderr if done.returncode else ""


def column_cells(page, offset, column):
    """Code in one column of the table at the offset: (line, statements) for each cell that has any."""
    line = page.line(offset)
    for row in page.text[offset:].lstrip("\n").split("\n\n")[0].splitlines():
        cells = re.split(r"(?<!\\)\|", row.strip().strip("|"))
        if len(cells) >= column and not set(cells[0].strip()) <= set("-: "):
            spans = SPAN.findall(cells[column - 1])
            code = "\n".join(s.replace("\\|", "|") + ("" if s.rstrip().endswith((";", "}")) else ";") for s in spans)
            if code:
                yield line, code
        line += 1


def cpp_sources(page):
    """The sources to compile for a page, by name: each of its whole files, and one with all its fragments."""
    preamble, parameters, body, last, number = "", "()", [], None, 0
    functions = []  # of [line, code] pairs

    def at(line, code):
        return f'#line {line} "{page.path}"\n{code}'

    for found in DIRECTIVE.finditer(page.text):
        kind, rest, code = found.groups()
        if kind == "preamble":
            preamble, parameters = at(page.line(found.start()) + 1, code or ""), rest or "()"
        elif kind == "column":
            offset = found.end() + len(page.text[found.end():]) - len(page.text[found.end():].lstrip("\n"))
            cells = list(column_cells(page, offset, int(rest)))
            check(cells, page.where(page.line(found.start())), f"no code in column {rest} of the table")
            functions += [[cell] for cell in cells]
    for block in FENCE.finditer(page.text):
        if block.group(1) != "cpp":
            continue
        line, code, above = page.line(block.start()) + 1, block.group(2), page.directive_before(block.start())
        kind = above.group(1) if above else "file"
        if kind == "file":
            if check(code.startswith("#include"), page.where(line),
                     "a block of C++ begins with #include, or a comment above names its context"):
                yield f"{page.name}:{line}", at(line, code)
        elif kind == "declarations":
            number += 1
            body.append(f"namespace block_{number} {{\n{at(line, code)}}}  // namespace\n"
                        f"using namespace block_{number};\n")
        elif kind == "statements":
            last = [(line, code)]
            functions.append(last)
        elif check(kind == "continued" and last, page.where(line), f"what is '{kind}' a part of?"):
            last.append((line, code))
    for i, pieces in enumerate(functions):
        code = "".join(at(line, code) + "\n" for line, code in pieces)
        body.append(f"cameo::status fragment_{i}{parameters} {{\n  {{\n{code}  }}\n  return {{}};\n}}\n")
    if body:
        yield f"{page.name} fragments", preamble + "\n" + "".join(body)


# ---- CMake ----

STAND_INS = """
function(project)
endfunction()
function(target_compile_features)
endfunction()
function(enable_testing)
endfunction()
function(FetchContent_Declare)
endfunction()
function(FetchContent_MakeAvailable)
endfunction()
function(add_subdirectory)
endfunction()
function(add_executable name)
  message("TARGET ${name}")
endfunction()
function(add_library name)
  message("TARGET ${name}")
endfunction()
function(target_link_libraries name)
  message("LINKS ${ARGN}")
endfunction()
function(find_package name)
  message("FINDS ${name} ${ARGN}")
endfunction()
function(cameo_add_provider name)
endfunction()
function(cameo_add_ort_plugin)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;TYPE;HEADER" "SOURCES;LIBRARIES")
  if(arg_UNPARSED_ARGUMENTS OR NOT (arg_NAME AND arg_TYPE AND arg_HEADER))
    message(FATAL_ERROR "cameo_add_ort_plugin(${ARGV})")
  endif()
  message("TARGET ${arg_NAME}")
endfunction()
"""


def cmake_text():
    files = [root / "CMakeLists.txt", *sorted((root / "cmake").glob("*")), *sorted(root.glob("eps/*/CMakeLists.txt")),
             *sorted(root.glob("src/*/CMakeLists.txt"))]
    return "\n".join(file.read_text(encoding="utf-8") for file in files if file.is_file())


def check_cmake(where, code):
    file = out / "block.cmake"
    # Each variable with the prefix CAMEO_ that the block sets must be an option of cameo.
    for name in set(re.findall(r"\bCAMEO_\w+", code)):
        check(re.search(rf"(?:option|set)\({name}\b", CMAKE), where, f"there is no option {name}")
    file.write_text(STAND_INS + code.replace("include(FetchContent)", ""), encoding="utf-8")
    done = subprocess.run(["cmake", "-P", file], capture_output=True, text=True, check=False)
    if not check(done.returncode == 0, where, done.stderr):
        return
    made = set(re.findall(r"^TARGET (\S+)", done.stderr, re.MULTILINE))
    for links in re.findall(r"^LINKS (.*)", done.stderr, re.MULTILINE):
        for name in re.split(r"[; ]", links):
            if name.startswith("cameo::"):
                check_target(where, name)
            else:
                check(name in made | {"PRIVATE", "PUBLIC", "INTERFACE"}, where, f"nothing makes the target {name}")


def check_target(where, name):
    """The target cameo::NAME must be defined in one of the CMake files."""
    short = name.removeprefix("cameo::")
    known = re.search(rf"add_library\((?:cameo_)?{short}\b|EXPORT_NAME {short}\b", CMAKE)
    provider = short.startswith("ep_") and (root / "eps" / short.removeprefix("ep_")).is_dir()
    check(known or provider, where, f"there is no target {name}")


# ---- commands ----

HELP = {}


def help_of(command):
    above, _, name = command.rpartition(" ")
    if command and not re.search(rf"^  {re.escape(name)} ", help_of(above) or "", re.MULTILINE):
        return None
    if command not in HELP:
        done = subprocess.run([os.environ["CAMEO_PROGRAM"], *command.split(), "--help"],
                              capture_output=True, text=True, check=False)
        HELP[command] = done.stdout if done.returncode == 0 else None
    return HELP[command]


def check_program(where, words):
    """`cameo COMMAND ... --option ...`"""
    if len(words) > 1 and PLACEHOLDER.fullmatch(words[1]) or "COMMAND" in words:
        return
    command = words[1] if len(words) > 1 and not words[1].startswith("-") else ""
    text = help_of(command)
    if not check(text is not None, where, f"the program has no command '{command}'"):
        return
    if "Subcommands:" in text and len(words) > 2 and not words[2].startswith("-"):
        command += " " + words[2]
        text = help_of(command)
        if not check(text is not None, where, f"the program has no command '{command}'"):
            return
    for word in words[1:]:
        if word.startswith("--"):
            option = word.split("=")[0].rstrip(",.;:)]")
            check(re.search(rf"(?:^|[\s,]){re.escape(option)}(?![\w-])", text), where,
                  f"'cameo {command}' has no option {option}")


def check_command(where, line):
    for part in re.split(r"&&|\|\||[|;]|(?<=\s)>\s*\S+", line.split("  #")[0]):
        try:
            words = shlex.split(part)
        except ValueError as error:
            check(False, where, f"'{part}': {error}")
            continue
        while words and re.fullmatch(r"\w+=.*|sudo|\$", words[0]):
            words.pop(0)
        if not words:
            continue
        program = words[0]
        if pathlib.PurePath(program).name == "cameo" and not (root / program).is_dir():
            check_program(where, words)
        elif "/" in program and not program.startswith(("build/", "/", "~", "<")) and not PLACEHOLDER.search(program):
            check((root / program).is_file(), where, f"there is no {program}")
        elif program == "cmake" and "--preset" in words:
            preset = words[words.index("--preset") + 1]
            check(preset in PRESETS or PLACEHOLDER.search(preset), where, f"there is no preset {preset}")
        elif program == "cmake" and {"-S", "-B"} & set(words):
            check("Ninja" in words, where, "cmake without -G Ninja needs make, which is not among the packages of cmake/bootstrap.sh")
        for word in words[1:]:
            option = re.match(r"-D(CAMEO_\w+)=", word)
            if option:
                check(re.search(rf"(?:option|set)\({option.group(1)}\b", CMAKE), where,
                      f"there is no option {option.group(1)}")


def check_shell(where, code):
    logical = re.sub(r"\\\n", " ", code).splitlines()
    prompts = any(line.startswith("$ ") for line in logical)
    for line in logical:
        if line.strip() and not line.lstrip().startswith("#") and (not prompts or line.startswith("$ ")):
            check_command(where, line.removeprefix("$ "))


# ---- the rest ----

def parse_ini(code):
    configparser.ConfigParser(allow_no_value=True, strict=False).read_string(code)


def check_c(where, code):
    file = out / "block.c"
    file.write_text(code, encoding="utf-8")
    done = subprocess.run(["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", *INCLUDES, file],
                          capture_output=True, text=True, check=False)
    check(done.returncode == 0, where, done.stderr)


PARSERS = {"json": json.loads, "toml": tomllib.loads, "ini": parse_ini,
           "python": lambda code: compile(code, "block", "exec")}


def check_blocks(page):
    for block in FENCE.finditer(page.text):
        language, code, where = block.group(1), block.group(2), page.where(page.line(block.start()))
        if language in PARSERS:
            try:
                PARSERS[language](code)
                check(True, where, "")
            except (ValueError, SyntaxError, configparser.Error) as error:
                check(False, where, str(error))
        elif language == "cmake":
            check_cmake(where, code)
        elif language == "c":
            check_c(where, code)
        elif language in ("sh", "console"):
            check_shell(where, code)
        else:
            check(language in ("cpp", "text"), where, f"'{language}' is not a language of this test")
    check(page.text.count("\n```") % 2 == 0 or page.text.startswith("```"), page.name, "a block is not closed")
    outside_lists = re.sub(r"^ *(?:[-*]|\d+\.) .*\n(?:(?: +\S.*)?\n)*", blank, page.prose, flags=re.MULTILINE)
    for block in INDENTED.finditer(outside_lists):
        where = page.where(outside_lists[:block.start()].count("\n") + 1)
        check(False, where, "an indented block: fence it, with its language")


def headings(path):
    """The anchors of a page, as GitHub derives them from its headings."""
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    for heading in re.findall(r"^#+ +(.*)", text, re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)|`", r"\1", heading).lower()
        yield re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-")


def check_links(page):
    for link in LINK.finditer(page.prose):
        target, where = link.group(1), page.where(page.prose[:link.start()].count("\n") + 1)
        if re.match(r"\w+:", target):
            continue
        file, _, anchor = target.partition("#")
        path = (page.path.parent / file) if file else page.path
        if check(path.exists(), where, f"the link to {target} leads nowhere") and anchor:
            check(anchor in headings(path), where, f"{file or 'the page'} has no heading #{anchor}")


def check_spans(page):
    """Checks the paths and commands in running text."""
    for found in SPAN.finditer(page.prose):
        span, where = found.group(1).replace("\n", " "), page.where(page.prose[:found.start()].count("\n") + 1)
        if re.match(r"(?:\S*/)?cameo \w", span):
            check_command(where, span)
        elif PATH.match(span) and not PLACEHOLDER.search(SHOUTED.sub("", span)):
            where_from = [root, page.path.parent, root / "include", root / "include/cameo", root / "src", *EPS]
            there = any((base / span).exists() for base in where_from) or any(
                name.endswith("/" + span) or span.endswith("/") and f"/{span}" in name for name in TRACKED)
            generated = span.startswith(("build/", "com.", "ai.", "../"))
            check(there or generated, where, f"there is no {span}")


CMAKE = cmake_text()
PRESETS = {p["name"] for p in json.loads((root / "CMakePresets.json").read_text(encoding="utf-8"))["configurePresets"]}
FOLDERS = ("include", "src", "eps", "tests", "examples", "bench", "cmake", "docs", "packaging")
TRACKED = [str(file.relative_to(root)) for folder in FOLDERS for file in (root / folder).rglob("*") if file.is_file()]
EPS = sorted(root.glob("eps/*/include/cameo"))


def check_pages(pages):
    """Checks these pages and returns the number of their C++ sources."""
    sources = []
    for page in pages:
        check_blocks(page)
        check_links(page)
        check_spans(page)
        sources += cpp_sources(page)
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for name, words in pool.map(lambda source: compile_cpp(*source), sources):
            check(not words, name, words)
    return len(sources)


PREAMBLE = "<!-- cpp: preamble (int n)\n#include <cameo/core/status.hpp>\n-->\n\n"
OFFENSES = [  # a page, and an expression for the error that must be reported
    ("```cpp\n#include <cstddef>\nint f() { return none; }\n```\n", "'none' was not declared|undeclared identifier"),
    ("```cpp\nint f();\n```\n", "begins with #include"),
    (PREAMBLE + "<!-- cpp: statements -->\n```cpp\nn.size();\n```\n", "request for member 'size'|not a structure"),
    (PREAMBLE + "<!-- cpp: statements -->\n```cpp\nint m = n;\n```\n\n<!-- cpp: continued -->\n```cpp\nm.size();\n"
     "```\n", "request for member 'size'|not a structure"),
    (PREAMBLE + "<!-- cpp: declarations -->\n```cpp\nstruct s { missing m; };\n```\n", "missing"),
    (PREAMBLE + "<!-- cpp: column 2 -->\n\n| a | b |\n|---|---|\n| x | `n.size()` |\n",
     "request for member 'size'|not a structure"),
    ("<!-- cpp: column 2 -->\n\n| a | b |\n|---|---|\n| x | y |\n", "no code in column 2"),
    ("```cmake\nadd_executable(app main.cpp\n```\n", "CMake Error"),
    ("```cmake\nadd_library(a b.cpp)\ntarget_link_libraries(a PRIVATE cameo::all)\n```\n", "no target cameo::all"),
    ("```cmake\nset(CAMEO_COLOR ON)\n```\n", "no option CAMEO_COLOR"),
    ("```sh\ncameo fly\n```\n", "no command 'fly'"),
    ("```sh\ncameo run model.onnx --fast\n```\n", "no option --fast"),
    ("```sh\ncameo package burn toy\n```\n", "no command 'package burn'"),
    ("```sh\ncameo package show toy --from x\n```\n", "no option --from"),
    ("```sh\n./tests/ran\n```\n", "there is no ./tests/ran"),
    ("```sh\ncmake --preset quick\n```\n", "no preset quick"),
    ("```sh\ncmake -S . -B build\n```\n", "needs make"),
    ("```c\n#include <cameo/c/cameo.h>\nint main(void) { return cameo_fly(); }\n```\n", "cameo_fly"),
    ("```json\n{,}\n```\n", "Expecting property name"),
    ("```python\nif:\n```\n", "invalid syntax"),
    ("```klingon\nqo'\n```\n", "is not a language"),
    ("text\n\n    int x;\n\ntext\n", "indented block"),
    ("[there](nowhere.md)\n", "leads nowhere"),
    (f"[there]({root}/README.md#no-such-part)\n", "has no heading"),
    ("See `core/nowhere.hpp`.\n", "there is no core/nowhere.hpp"),
    ("Say `cameo bench m.onnx --slowly`.\n", "no option --slowly"),
]


def self_test():
    """Checks that each offense is reported; returns one line of text for each that was not."""
    global checks
    unseen = []
    for i, (text, said) in enumerate(OFFENSES):
        page = out / f"offense_{i}.md"
        page.write_text(text, encoding="utf-8")
        check_pages([Page(page)])
        words = "\n".join(failures).replace("\u2018", "'").replace("\u2019", "'")
        if not re.search(said, words):
            unseen.append(f"not noticed ({said}): {text!r}; instead: {words}")
        failures.clear()
    checks = 0
    return unseen


def main():
    out.mkdir(parents=True, exist_ok=True)
    failed = [] if len(sys.argv) > 1 else self_test()
    paths = [root / name for name in sys.argv[1:]] or [path for glob in PAGES for path in sorted(root.glob(glob))]
    pages = [Page(path) for path in paths]
    sources = check_pages(pages)
    check(sources or len(sys.argv) > 1, "documents", "no page has any C++")
    failures.extend(failed)
    for failure in failures:
        print(f"FAILED: {failure}")
    print(f"{sources} sources of C++ in {len(pages)} pages")
    print(f"{checks - len(failures)} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
