#!/usr/bin/env python3
"""Checks comments, messages and names for plain English (CONTRIBUTING.md, "Style").

Usage: plain_english.py ROOT          prints one line per offense, exit status 1 if there is one
       plain_english.py --self-test   offends in a scratch tree, once per rule, and checks that each offense is reported
"""
import ast
import bisect
import io
import pathlib
import re
import sys
import tempfile
import tokenize

TOPS = ("include", "src", "eps", "bench", "examples", "tests", "cmake")

# A word, and what to write in its place. Comments and messages (string literals of three words or more) are searched.
WORDS = [
    (r"told|tells?|tellers?|telling", "reports, contains, distinguishes"),
    (r"asks?|asked|asking", "requests, checks, calls"),
    (r"sees|knows|do(?:es)? not know|wants|thinks", "reads, has, is given, needs: things do not think"),
    (r"nobody|somebody|anybody", "no caller, the caller, the provider"),
    (r"turned|turning", "transposed, permuted, converted"),
    (r"books?", "codebook"),
    (r"cutters?", "work split, tiling"),
    (r"(?<!two )halves|brains?", "float16, bfloat16"),
    (r"late addends?", "epilogue"),
    (r"rooms?", "buffer, space; module"),
    (r"troubles?", "error"),
    (r"what stands in", "the contents of"),
    (r"of (?:its|their|one's|your|his|my|our) own", "own, separate, private"),
    (r"makes? (?:it|them) what (?:it is|they are)", "(delete)"),
    (r"(?<![Tt]here )(?<![Tt]here's )(?:is|are) no (?!longer|more|less|later|larger|smaller|fewer|better)[a-z]+",
     "is not a"),
    (r"for people", "for display"),
    (r"(?:is|are) held by (?:a )?tests?", "is tested"),
    (r"[Tt]he judges?", "the reference, the oracle"),
    (r"outsiders?|foreign", "external"),
    (r"oddity", "nonconforming, accepted deviation"),
    (r"moved aside|put aside", "spilled"),
    (r"doors?", "interface, API"),
    (r"all the same", "nevertheless; equal"),
]
WORD = [(re.compile(r"\b(?:" + pattern + r")\b"), wanted) for pattern, wanted in WORDS]

# How a comment must not begin: it would need the line above to be understood.
LEANS = re.compile(r"(?:Of|The same|All of (?:them|it)|Those|And|But|Or|Nor|Which|Whose|Its|Their|Theirs|It|They|Them|"
                   r"Likewise|Ditto|Here and below|As above|So)\b")
# A comment on a line of its own begins with a capital, unless its first word is code, a number or a quotation.
LOWER = re.compile(r"(?!(?:cameo|onnxruntime|nullopt|protobuf|libstdc|libjpeg|doctest|clang|gcc|cpu|frozen)\b)"
                   r"[a-z]{2,}[,:;.]?(?:\s|$)(?!\s*[=<>+*/-])")
DIRECTIVE = re.compile(r"clang-format|NOLINT|expect:|naming:|not with a sanitizer|type:|pylint|noqa|language:")

# Names of members and functions that are prepositions or forms of "to be", but for those that the standard library has
# (at) and status::in(where), which reads as a phrase at each of its calls.
PREPOSITIONS = {"by", "from", "of", "on", "to", "with", "without", "into", "onto", "for_", "off", "over", "under", "upon",
                "within", "beside", "besides", "between", "among", "after", "before", "through", "against", "toward",
                "is", "are", "be", "was", "were", "been", "being", "becomes", "became"}
CLAUSE = re.compile(r"(?:nobody|somebody|anybody|not_to|who|whom|whose|which|has_no|is_no|are_no)_\w+|\w+_(?:nobody|"
                    r"somebody|not_to_have|all_the_same)\b")
GERUND = re.compile(r"\bnamespace\s+(?:\w+::)*(\w+ing)\s*\{")
NOT_GERUNDS = {"string", "thing", "everything", "nothing", "embedding", "training"}

# The beginnings of words in British spelling. American spelling has z for s, -or for -our, -er for -re, -og for -ogue, and
# single consonants.
BRITISH = re.compile(
    r"(?<![a-z])(?:un|re|de|non|mis|over|pre|full)?"
    r"(?:(?:quanti|normali|initiali|optimi|recogni|organi|speciali|generali|minimi|maximi|seriali|materiali|vectori|"
    r"paralleli|synchroni|summari|utili|categori|canonicali|emphasi|finali|locali|tokeni|visuali|reali|equali|"
    r"standardi|customi|memori|penali|randomi|regulari|factori|linear?i|discreti|binari|digiti|stabili|capitali|"
    r"authori|characteri|modulari|generali|neutrali|priori?ti|apologi)s(?:e[sdr]?|ing|ations?|able)(?![a-z])|"
    r"analys(?:e[sd]?|ing)(?![a-z])|colours?|neighbour|behaviour|favour|honour|labour|centre[sd]?(?![a-z])|metres?(?![a-z])|"
    r"licence|defence|offences?(?![a-z])|catalogue|dialogue|programme(?:s)?(?![a-z])|grey|artefact|"
    r"cancell(?:ed|ing)|labell|modell(?:ed|ing)|travell|signall|fulfil(?![a-z])|judgement|whilst|amongst|towards|"
    r"learnt|misspelt|spelt(?![a-z])|burnt|acknowledgement|ageing|sceptic|cheque|disc(?![a-z])|plough|storey)", re.I)


class Comment:
    """The text of one comment: consecutive lines joined, without the comment marks."""

    def __init__(self, line, text, alone):
        self.line, self.text, self.alone = line, text, alone  # alone: no code on its first line


def line_starts(text):
    starts = [0]
    for match in re.finditer("\n", text):
        starts.append(match.end())
    return starts


CPP_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'', re.DOTALL)


def read_cpp(text):
    """The comments, the string literals as (line, text), and the code with both blanked out."""
    starts = line_starts(text)
    raw, strings, code, last = [], [], [], 0
    for match in CPP_TOKEN.finditer(text):
        token, at = match.group(), match.start()
        if token[0] == "'" and at and (text[at - 1].isalnum() or text[at - 1] == "_"):
            continue  # a separator of digits
        line = bisect.bisect_right(starts, at)
        code.append(text[last:at])
        code.append(" " if token.startswith("/") else '""')
        code.append("\n" * token.count("\n"))
        last = match.end()
        if token.startswith("/"):
            alone = not text[starts[line - 1]:at].strip()
            raw.append((line, at - starts[line - 1], token, alone))
        elif token[0] in '"R':
            strings.append((line, token))
    code.append(text[last:])
    return join_comments(raw, "//"), strings, "".join(code)


def join_comments(raw, mark):
    """Joins line comments that stand under each other in the same column."""
    comments, before = [], None
    for line, column, token, alone in raw:
        if token.startswith("/*"):
            body = re.sub(r"\n\s*\*?", " ", token[2:-2]).strip("*! \n")
            comments.append(Comment(line, body, alone))
            before = None
            continue
        kind = re.match(r"///?<?|#:?", token).group()
        body = token[len(kind):].strip()
        if before == (line - 1, column, kind) and (alone or not comments[-1].alone):
            comments[-1].text += " " + body
        else:
            comments.append(Comment(line, body, alone))
        before = (line, column, kind)
    return comments


def read_python(text):
    """The comments and docstrings; Python's strings are data more often than messages."""
    raw = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT and not token.string.startswith("#!"):
                raw.append((token.start[0], token.start[1], token.string, not token.line[:token.start[1]].strip()))
    except (tokenize.TokenError, IndentationError):
        return []
    comments = join_comments(raw, "#")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node):
            comments.append(Comment(node.body[0].lineno, ast.get_docstring(node), True))
    return comments


CMAKE_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\[(=*)\[.*?\]\1\]|#\[(=*)\[.*?\]\2\]|(#[^\n]*)', re.S)


def read_cmake(text):
    raw = []
    for token in CMAKE_TOKEN.finditer(text):
        if token[3]:
            column = token.start() - text.rfind("\n", 0, token.start()) - 1
            alone = not text[token.start() - column:token.start()].strip()
            raw.append((text.count("\n", 0, token.start()) + 1, column, token[3], alone))
    return join_comments(raw, "#")


def text_offenses(line, text):
    """Words of the table."""
    quoted = re.sub(r"`[^`]*`|\"[^\"]*\"|'[^'\s]*'", "", text)
    for pattern, wanted in WORD:
        for match in pattern.finditer(quoted):
            yield line, f"'{match.group()}': write {wanted}"


def comment_offenses(comment):
    yield from text_offenses(comment.line, comment.text)
    if DIRECTIVE.match(comment.text) or not comment.alone:
        return
    if LEANS.match(comment.text):
        yield comment.line, f"begins with '{LEANS.match(comment.text).group()}': name the thing that it is about"
    elif LOWER.match(comment.text):
        yield comment.line, f"begins with '{LOWER.match(comment.text).group().strip()}': begin a sentence or a noun phrase"


TOKEN = re.compile(r"[A-Za-z_]\w*|::|->|\[\[|\]\]|\S")


def names(code):
    """(line, name, where) of what is declared at the scope of a namespace, class or enumeration; a tokenizer with scopes, not
    a parser: good for finding names of a short list."""
    code = re.sub(r"(?m)^[ \t]*#(?:[^\\\n]|\\\n|\\.)*", lambda m: "\n" * m.group().count("\n"), code)
    starts = line_starts(code)
    scopes, head, parens = ["namespace"], [], 0
    before = ""
    tokens = [(m.group(), m.start()) for m in TOKEN.finditer(code)]
    for i, (token, at) in enumerate(tokens):
        following = tokens[i + 1][0] if i + 1 < len(tokens) else ""
        if token in "([":
            parens += 1
        elif token in ")]":
            parens = max(0, parens - 1)
        elif token == "{":
            words = [t for t in head if t[0].isalpha()]
            if parens:
                scopes.append("other")
            elif "namespace" in words or (words[:1] == ["extern"]):
                scopes.append("namespace")
            elif "enum" in words and "(" not in head:
                scopes.append("enum")
            elif any(w in ("class", "struct", "union") for w in words) and ")" not in head[-2:] and "=" not in head:
                scopes.append("class")
            else:
                scopes.append("other")
            scopes[-1] = (scopes[-1], parens)
            head, parens = [], 0
        elif token == "}":
            if len(scopes) > 1:
                parens = scopes.pop()[1]
            head = []
        elif token == ";" and not parens:
            head = []
        scope = scopes[-1] if isinstance(scopes[-1], str) else scopes[-1][0]
        if (token[0].isalpha() or token[0] == "_") and not parens:
            declared = (before and (before[0].isalpha() or before in ">*&,]]" or before[0] == "_")
                        and before not in ("return", "namespace", "using", "class", "struct", "typename", "goto", "::"))
            if scope in ("class", "namespace") and declared and following in tuple("(;={,:["):
                yield bisect.bisect_right(starts, at), token
            elif scope == "enum" and following in (",", "=", "}") and before in ("{", ","):
                yield bisect.bisect_right(starts, at), token
        if token not in "{};":
            head.append(token)
        before = token


def name_offenses(code):
    for line, name in names(code):
        if name.rstrip("_") in PREPOSITIONS:
            yield line, f"the name '{name}': a noun for a thing, a verb for an action"
        elif CLAUSE.fullmatch(name):
            yield line, f"the name '{name}': say what the thing is"
    for match in GERUND.finditer(code):
        if match.group(1) not in NOT_GERUNDS:
            yield code.count("\n", 0, match.start()) + 1, f"namespace {match.group(1)}: a noun for what is in it"


def file_offenses(path, text):
    if path.suffix in (".cpp", ".hpp", ".h"):
        comments, strings, code = read_cpp(text)
        yield from name_offenses(code)
        for line, string in strings:
            if len(string.split()) > 2:
                yield from text_offenses(line, string[1:-1])
    elif path.suffix == ".py":
        comments = read_python(text)
    else:
        comments = read_cmake(text)
    for comment in comments:
        yield from comment_offenses(comment)
    for number, line in enumerate(text.split("\n"), 1):
        for match in BRITISH.finditer(re.sub(r"\bTRITON\w+|\bCancelledError\b", "", line)):  # names of others' APIs
            yield number, f"'{match.group()}': American spelling"


def offenses(root):
    files = [p for top in TOPS for p in (root / top).rglob("*") if "data" not in p.parts]
    for path in sorted(p for p in files if p.suffix in (".cpp", ".hpp", ".h", ".py", ".cmake") or p.name == "CMakeLists.txt"):
        relative = path.relative_to(root)
        if relative.as_posix() == "tests/plain_english.py":
            continue
        if BRITISH.search(relative.as_posix()):
            yield f"{relative}: '{BRITISH.search(relative.as_posix()).group()}' in the name of a file or folder: American spelling"
        text = path.read_text(encoding="utf-8")
        named_by_onnx = "// Generated by" in text[:200]  # ONNX's schemas give the names
        for line, offense in sorted(set(file_offenses(path, text))):
            if not (named_by_onnx and offense.startswith("the name")):
                yield f"{relative}:{line}: {offense}"


SELF_TEST = [  # file, its text, words of the offense (None: the file is fine)
    ("src/run/a.cpp", "// The runner tells the caller.\n", "'tells': write reports"),
    ("src/run/a.cpp", "// The runner reports \"who told\" and `asks`.\nint asked;\n", None),
    ("src/run/a.cpp", "// A value\n// that is no tensor.\n", "'is no tensor': write is not a"),
    ("src/run/a.cpp", "// There is no tensor, and it is no longer needed.\n", None),
    ("src/run/a.cpp", "f(\"no room for the tensor\");\n", "'room': write buffer"),
    ("src/run/a.cpp", "f(\"room\");  // a key\n", None),
    ("src/run/a.cpp", "/// The same for a sum.\n", "begins with 'The same'"),
    ("src/run/a.cpp", "/// Of a group, and cuts of them.\n", "begins with 'Of'"),
    ("src/run/a.cpp", "int number;  // of the group\n", None),
    ("src/run/a.cpp", "/* All of them. */\n", "begins with 'All of them'"),
    ("src/run/a.cpp", "// values of a group\n", "begins with 'values'"),
    ("src/run/a.cpp", "// x[i] is read twice.\n// nullptr: none\n", None),
    ("src/run/a.cpp", "// clang-format off\n", None),
    ("src/run/a.hpp", "struct edge {\n  int from, target;\n};\n", "the name 'from'"),
    ("src/run/a.hpp", "class edge {\n  bool is(int) const { return to == 1; }\n};\n", "the name 'is'"),
    ("src/run/a.hpp", "enum class order { before, after };\n", "the name 'before'"),
    ("src/run/a.hpp", "struct edge {\n  edge(int from, int to) : source{from} {}\n  int source, at;\n};\n", None),
    ("src/run/a.hpp", "void f() {\n  int from = 0;\n  switch (from) {}\n}\n", None),
    ("src/run/a.cpp", "status nobody_has(int node);\n", "the name 'nobody_has'"),
    ("src/run/a.cpp", "namespace cameo::turning {\n}\n", "namespace turning"),
    ("src/run/a.cpp", "// The neighbours of a node.\n", "'neighbour': American spelling"),
    ("src/run/a.cpp", "int quantised_size;\n", "'quantised': American spelling"),
    ("src/run/a.cpp", "int concise, precision, promise, wise, otherwise, exercise;\n", None),
    ("src/run/normalise.cpp", "int a;\n", "in the name of a file"),
    ("tests/run/a.py", '"""The judge of a run."""\n', "'The judge': write the reference"),
    ("tests/run/a.py", "x = 1\n# which is one\n", "begins with 'which'"),
    ("cmake/a.cmake", "set(a 1)  # nobody reads it\n", "'nobody': write no caller"),
    ("cmake/a.cmake", 'file(WRITE a.cpp "// Made by CMake.\n#include <b>\n")\n', None),
]


def self_test():
    failed = 0
    for file, text, words in SELF_TEST:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / file
            path.parent.mkdir(parents=True)
            path.write_text(text, encoding="utf-8")
            found = list(offenses(pathlib.Path(folder)))
        if not (any(words in line for line in found) if words else not found):
            failed += 1
            print(f"{file}: {text!r}: expected {words or 'nothing'}, found {found}")
    print(f"{len(SELF_TEST) - failed} passed, {failed} failed")
    return 1 if failed else 0


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--self-test":
        return self_test()
    found = list(offenses(pathlib.Path(sys.argv[1])))
    print("\n".join(found) if found else "plain English")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
