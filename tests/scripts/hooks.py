"""docs/hooks.md has one row for each hook of each concept that users' types satisfy, and no other rows. A concept in
namespace cameo requires its hooks in its body, directly or through concepts of cameo::detail. docs/build checks that
the reference documents each of these concepts: the page links to them."""
import os
import pathlib
import re
import sys

SOURCE = pathlib.Path(os.environ.get("CAMEO_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
COMMENT = re.compile(r"//[^\n]*")
CONCEPT = re.compile(r"template <(?:class|typename) (\w+)>\s*concept (\w+) =")
SCOPE = re.compile(r"^(?:namespace ([\w:]+) \{|(\}  // namespace [\w:]+))", re.MULTILINE)
ROW = re.compile(r"^\| (`[^|]*) \| \[`(\w+)`\]\(([^)]*)\) \|", re.MULTILINE)
OTHER = re.compile(r"The concept \[`(\w+)`\]\(([^)]*)\) has no hooks")


class Concept:
    def __init__(self, header, is_public, parameter, body):
        self.header, self.is_public, self.parameter, self.body = header, is_public, parameter, body

    def own_hooks(self):
        """The members that the body names: of the type, of its hooks, of objects; a call of an object is operator()."""
        found = set(re.findall(rf"\b(?:hooks_of<\w+>|{self.parameter})::(\w+)", self.body))
        for parameters in re.findall(r"requires\(([^()]*)\)", self.body):
            objects = re.findall(rf"\b{self.parameter}>?& (\w+)", parameters)
            for name in objects:
                found |= set(re.findall(rf"\b{name}\.(\w+)\(", self.body))
                found |= {"operator()"} if re.search(rf"\b{name}\(", self.body) else set()
        return found


def until_semicolon(text, begin):
    depth = 0
    for at in range(begin, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if text[at] == ";" and depth == 0:
            return text[begin:at]
    sys.exit(f"FAILED: a concept without an end: {text[begin:begin + 80]}")


def concepts():
    """name -> Concept, of all headers except those of interop, whose concepts are about types of other libraries."""
    found = {}
    for folder in (SOURCE / "include", *sorted(SOURCE.glob("eps/*/include"))):
        for path in sorted(folder.rglob("*.hpp")):
            if "interop" in path.parts:
                continue
            text = COMMENT.sub(lambda m: m[0] if m[0].startswith("// namespace") else "", path.read_text(encoding="utf-8"))
            for at in CONCEPT.finditer(text):
                scopes = []
                for scope in SCOPE.finditer(text, 0, at.start()):
                    scopes = scopes + [scope[1]] if scope[1] else scopes[:-1]
                found[at[2]] = Concept(path.relative_to(SOURCE), scopes == ["CAMEO_NAMESPACE"], at[1], until_semicolon(text, at.end()))
    return found


def hooks_of(name, known):
    """The hooks that a concept requires, in its body and through concepts of detail that it names, without those that a
    public concept requires on which it is built."""
    found, built_on = known[name].own_hooks(), set()
    for other in set(re.findall(r"\w+", known[name].body)) & set(known) - {name}:
        (built_on if known[other].is_public else found).update(hooks_of(other, known))
    return found - built_on


def main():
    page = SOURCE / "docs/hooks.md"
    text, known, failed = page.read_text(encoding="utf-8"), concepts(), []
    public = {name for name, concept in known.items() if concept.is_public}
    if len(public) < 30:
        sys.exit(f"FAILED: only {len(public)} concepts found: {sorted(public)}")
    rows = {}
    for hooks, concept, link in ROW.findall(text):
        rows.setdefault(concept, set()).update(re.findall(r"`([\w()]+)`", hooks))
        if concept in public and (page.parent / link).resolve() != (SOURCE / known[concept].header).resolve():
            failed.append(f"{concept}: the link leads to {link}; it is in {known[concept].header}")
    others = {name for name, _ in OTHER.findall(text)}
    failed += [f"{name}: a concept of {known[name].header} without a row" for name in sorted(public - set(rows) - others)]
    failed += [f"{name}: a row without such a public concept" for name in sorted((set(rows) | others) - public)]
    for name in sorted(public & set(rows)):
        asked, header = hooks_of(name, known), (SOURCE / known[name].header).read_text(encoding="utf-8")
        failed += [f"{name}: requires `{hook}`, for which the page has no row" for hook in sorted(asked - rows[name])]
        failed += [f"{name}: {known[name].header} requires no `{hook}`" for hook in sorted(rows[name] - asked)
                   if not re.search(rf"::{hook}\b", header)]
    shown = set().union(*rows.values())
    for name, concept in known.items():
        hooks = set(re.findall(r"hooks_of<\w+>::(\w+)", concept.body))
        failed += [f"{name}: a hook of providers, `{hook}`, without a row" for hook in sorted(hooks - shown)]
    print(f"{len(public)} concepts, {sum(map(len, rows.values()))} hooks")
    if failed:
        sys.exit("FAILED: " + "\n".join(sorted(set(failed))))


if __name__ == "__main__":
    main()
