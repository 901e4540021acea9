#!/usr/bin/env python3
"""Filters a file for doxygen: prints the same lines in the notation of doxygen.

Headers: the inline namespace is left out of names; a comment at the end of a member's line is its documentation; and a
comment above a declaration also documents the declarations directly below it, if they have the same name (overloads) or
if all of them are aliases or constants.
Pages: each page of docs/ has a name, page_NAME; the pages that docs/README.md lists are its subpages; links to other files
become names of files, and links to headers whose text is a name (`memory_provider`) lead to that name in the reference.
"""
import os
import pathlib
import re
import sys

HIDDEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
TEMPLATE = re.compile(r"template\s*<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>")
SCOPE = re.compile(r"\b(?:namespace|class|struct|enum|union)\b(?!.*[)=])", re.DOTALL)
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")


def scopes(text):
    """The lines without comments and strings; for each whether it begins in the body of a namespace, class or enum, and
    not of a function, and its depth of braces."""
    plain = HIDDEN.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text).split("\n")
    open_scopes, head, inside, depth = [True], "", [], []
    for line in plain:
        inside.append(open_scopes[-1])
        depth.append(len(open_scopes))
        for char in line + "\n":
            if char == "{":
                open_scopes.append(open_scopes[-1] and bool(SCOPE.search(TEMPLATE.sub("", head))))
                head = ""
            elif char == "}":
                if len(open_scopes) > 1:
                    open_scopes.pop()
                head = ""
            elif char == ";":
                head = ""
            else:
                head += char
    return plain, inside, [*depth, 1]


def subject(declaration):
    """The subject of a declaration: the name of a function, or the kind of another declaration; None for a class."""
    bare = TEMPLATE.sub("", declaration).strip()
    if re.match(r"(?:inline )?(?:namespace|class|struct|enum|union|friend|static_assert|#|public:|private:)\b", bare):
        return None
    if re.match(r"using\b", bare):
        return "using"
    bare_of_keywords = re.sub(r"^(?:requires\b.*\n)|noexcept\(|decltype\(", "", bare)
    called = re.search(r"([\w~]+|operator *[^\w\s(]+)\s*\(", bare_of_keywords)
    constant = re.match(r"(?:inline |static )*constexpr\b[^(;]*[={;]", bare)
    return "constant" if constant else called.group(1) if called else None


def lists(lines):
    """Converts indented lines of comments: two columns become a list, lines below an empty line become code."""
    kind, before = None, ""
    for i, line in enumerate(lines):
        found = re.match(r"^(\s*///) {2,3}(\S.*)$", line)
        columns = found and re.match(r"(`?[\w, :{}.]+`??) {2,}(\S.*)$", found.group(2))
        if columns:
            lines[i], kind = f"{found.group(1)} - {columns.group(1).rstrip()}: {columns.group(2)}", "list"
        elif kind == "list" and re.match(r"^\s*/// {4,}\S", line):
            lines[i] = re.sub(r"/// +", "///   ", line)
        elif found and (kind == "code" or before.strip() == "///"):
            lines[i], kind = f"{found.group(1)}     {found.group(2)}", "code"
        elif not (kind == "code" and re.match(r"^\s*/// {4,}\S", line)):
            kind = None
        before = line


def share_comments(lines, plain, inside, depth):
    """Repeats the comment above a declaration for the declarations of the same subject directly below it."""
    words, about, above, i = [], None, [], 0
    while i < len(lines):
        text = lines[i].strip()
        if text.startswith("///") and not text.startswith("///<"):
            above.append(text[3:].strip())
            i += 1
            continue
        if not text or not inside[i] or text.startswith(("//", "#")):
            words, about, above, i = [], None, [], i + 1
            continue
        end = i
        while end + 1 < len(lines) and not (depth[end + 1] > depth[i] and inside[end + 1]) and \
                not (depth[end + 1] <= depth[i] and re.search(r"^(?! *requires\b).*[;}]\s*$", plain[end])):
            end += 1
        now = subject("\n".join(plain[i : end + 1]))
        if above:
            plain_words = [w for w in above if not w.startswith("- ")]
            words, about, above = plain_words[: above.index("") if "" in above else None], now, []
        elif now is None or now != about:
            words, about = [], None
        elif "///<" not in lines[i]:
            indent = len(lines[i]) - len(lines[i].lstrip())
            lines[i] = f"{lines[i][:indent]}/** {' '.join(words)} */ {lines[i][indent:]}"
        i = end + 1


def header(text):
    text = re.sub(r"^namespace CAMEO_NAMESPACE\b", "namespace cameo", text, flags=re.MULTILINE)
    # An instance of a template that a source defines: the template is what is documented.
    text = re.sub(r"^extern template [^;]*;", lambda each: "\n" * each[0].count("\n"), text, flags=re.MULTILINE)
    lines, (plain, inside, depth), above = text.split("\n"), scopes(text), False
    for i, line in enumerate(lines):
        found = re.match(r"^(.*?[;,}>\w]\s+)// (?!clang-format)(.*)$", line)
        if re.match(r"^\s*//", line):  # a separate comment, or the rest of the comment above
            if above and not line.lstrip().startswith("///"):
                lines[i] = line.replace("//", "///<", 1)
        elif found and inside[i] and "#" not in line[:1] and not line.startswith("}"):
            lines[i], above = f"{found.group(1)}///< {found.group(2)}", True
        else:
            above = False
    lists(lines)
    share_comments(lines, plain, inside, depth)
    return "\n".join(lines)


def page(path, text):
    contents = path.as_posix().endswith("docs/README.md")

    def link(m):
        image, words, target, anchor = m.groups()
        if image or re.match(r"\w+:", target):
            return m.group(0)
        file = pathlib.PurePath(os.path.normpath(path.parent / target))
        is_page = file.suffix == ".md" and file.parent.name in ("", "docs")
        if contents and is_page and file.parent.name == "docs":
            return f'@subpage page_{file.stem} "{words}"'
        if is_page:
            return m.group(0)
        if file.suffix == ".hpp" and re.fullmatch(r"`\w+`", words):  # a name that this header declares
            return f'@ref cameo::{words[1:-1]} "{words[1:-1]}"'
        return words if words.startswith("`") else f"`{words}`"

    if path.parent.name == "docs":  # a name that does not depend on doxygen's version
        text = re.sub(r"^# (.*)$", rf"# \1 {{#page_{path.stem}}}", text, count=1, flags=re.MULTILINE)
    pieces = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(p if p.startswith("```") else LINK.sub(link, p) for p in pieces)


def main():
    path = pathlib.Path(os.path.relpath(sys.argv[1]))
    text = path.read_text(encoding="utf-8")
    sys.stdout.write(page(path, text) if path.suffix == ".md" else header(text))


if __name__ == "__main__":
    main()
