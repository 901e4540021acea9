"""Three programs that users of a runtime write are shorter with cameo than with ONNX Runtime's C++ API: examples/NAME
and bench/peers/programs/NAME.cpp do the same with the same checks.

Lines are counted without comments and blank lines, as clang-format leaves them; statements are semicolons except those
in the head of a for, and the words if, for, while and catch. The table in docs/from_onnxruntime.md must have these
numbers.

Usage: line_counts.py [--ort-headers FOLDER --ort-library libonnxruntime.so...] [--text-model FOLDER] [--table]

With a folder that has onnxruntime_cxx_api.h and the library (PyPI's package has it in onnxruntime/capi), ONNX Runtime's
programs are compiled and run beside the examples of CAMEO_BINARY_DIR, and must print the same. --text-model is a folder
that examples/make_models.py wrote. --table prints the table. CTest only counts; it sets CAMEO_SOURCE_DIR.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "program"))
from claims import conclude, expect  # noqa: E402

root = pathlib.Path(os.environ.get("CAMEO_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
PROGRAMS = {"top_five": "a classifier, a batch of 16 and the five likeliest classes",
            "three_inputs": "a text model with three inputs of int64",
            "server": "a server with a queue, workers and deadlines"}
# A comment or a literal: the beginning of one inside the other does not count.
TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL)
PAGE = root / "docs" / "from_onnxruntime.md"


def files(name):
    """The files of the program with cameo, and of the one with ONNX Runtime."""
    return root / "examples" / name / "main.cpp", root / "bench" / "peers" / "programs" / f"{name}.cpp"


def without(source, comments, literals):
    def replace(token):
        word = token.group(0)
        return comments if word.startswith("/") else word if literals is None else literals
    return TOKEN.sub(replace, source)


def lines(source):
    return sum(1 for line in without(source, "", None).splitlines() if line.strip())


def statements(source):
    text, open_brackets, count = without(source, " ", "0"), [], 0
    for c in text:
        if c in "([{":
            open_brackets.append(c)
        elif c in ")]}":
            open_brackets.pop()
        elif c == ";" and open_brackets[-1:] != ["("]:
            count += 1
    return count + len(re.findall(r"\b(?:if|for|while|catch)\b", text))


def table():
    rows = ["| program | with cameo | with ONNX Runtime |", "|---|---:|---:|"]
    for name, words in PROGRAMS.items():
        counted = [f"{lines(text)} lines, {statements(text)} statements"
                   for text in (file.read_text(encoding="utf-8") for file in files(name))]
        ours, theirs = (os.path.relpath(file, PAGE.parent) for file in files(name))
        rows.append(f"| {words} | [{counted[0]}]({ours}) | [{counted[1]}]({theirs}) |")
    return "\n".join(rows) + "\n"


def run_both(headers, library, text_model):
    digits = root / "examples" / "digits"
    arguments = {"top_five": [digits], "server": [digits],
                 "three_inputs": [text_model / "model.onnx", text_model / "expected_hidden.npy"]}
    examples = pathlib.Path(os.environ.get("CAMEO_BINARY_DIR", root / "build" / "release")) / "examples"
    with tempfile.TemporaryDirectory() as made:
        os.symlink(library.resolve(), pathlib.Path(made) / "libonnxruntime.so.1")  # the name to load
        for name in PROGRAMS:
            theirs = pathlib.Path(made) / name
            subprocess.run([os.environ.get("CAMEO_CXX", "g++"), "-std=c++20", "-O2", "-isystem", headers,
                            "-Wall", "-Wextra", "-Werror", files(name)[1], library, "-pthread", "-o", theirs,
                            f"-Wl,-rpath,{made}"], check=True)
            said = [subprocess.run([program, *arguments[name]], capture_output=True, text=True, check=False)
                    for program in (examples / f"example_{name}", theirs)]
            expect(all(each.returncode == 0 for each in said), f"{name} succeeds with both:", *(s.stderr for s in said))
            expect(said[0].stdout == said[1].stdout, f"{name} prints the same:", *(s.stdout for s in said))
            print(f"{name}: compiled, run, {len(said[0].stdout.splitlines())} equal lines")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ort-headers", type=pathlib.Path)
    parser.add_argument("--ort-library", type=pathlib.Path)
    parser.add_argument("--text-model", type=pathlib.Path,
                        default=root / "build" / "release" / "examples" / "models" / "text_embedding")
    parser.add_argument("--table", action="store_true")
    a = parser.parse_args()

    # A test of the counter: a comment mark in a string begins no comment, and the two semicolons of a for do not count.
    sample = 'int f() {  // one; two\n\n  for (int i = 0; i < 2; ++i) g("//;", [] { h(); });\n  /* a;\n b; */ return 0;\n}\n'
    expect(lines(sample) == 4, "the sample has 4 lines, not", lines(sample))
    expect(statements(sample) == 4, "the sample has 4 statements, not", statements(sample))

    for name in PROGRAMS:
        ours, theirs = (file.read_text(encoding="utf-8") for file in files(name))
        expect(lines(ours) < lines(theirs), f"{name} has fewer lines with cameo:", lines(ours), "and", lines(theirs))
        expect(statements(ours) < statements(theirs), f"{name} has fewer statements with cameo:", statements(ours), "and",
               statements(theirs))
    expect(table() in PAGE.read_text(encoding="utf-8"), f"{PAGE.name} has this table:\n{table()}")
    if a.table:
        print(table(), end="")
    if a.ort_headers or a.ort_library:
        if not (a.ort_headers and a.ort_library):
            parser.error("--ort-headers and --ort-library go together")
        run_both(a.ort_headers, a.ort_library, a.text_model)
    conclude()


main()
