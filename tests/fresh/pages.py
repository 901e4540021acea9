"""What README.md tells its readers to do, in its order: blocks of code, and commands in the text, of which another page has
the block. Nothing here repeats a command of the pages, so a test of these is a test of what users read."""
import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# By name: what a block of the step has in it, as an expression. README.md names each; where it has no block, a page that it
# links to has one.
STEPS = {"quickstart": r"\./examples/quickstart", "install": r"cmake --install", "pip": r"pip install (?:-\S+ )*'?\.",
         "find_package": r"find_package\(", "add_subdirectory": r"add_subdirectory\(",
         "FetchContent": r"FetchContent_MakeAvailable\(", "cpack": r"\bcpack\b"}
PAGES = ["README.md", "docs/install.md", "docs/python.md"]


@dataclasses.dataclass
class Step:
    name: str      # a key of STEPS, or "block N" of one that none of those is in
    language: str  # sh or cmake
    text: str


class Stale(Exception):
    """The pages do not say what this program looks for."""


def read(page):
    return (ROOT / page).read_text(encoding="utf-8")


def install_section():
    found = re.search(r"^## Install\n(.*?)^## ", read("README.md"), re.MULTILINE | re.DOTALL)
    if not found:
        raise Stale("README.md has no section 'Install' any more")
    return found.group(1)


def first_block(language, page="README.md"):
    """The first block of README.md in a language: the program of its first screen, or its first lines of Python."""
    for found in BLOCK.finditer(read(page)):
        if found.group(1) == language:
            return found.group(2)
    raise Stale(f"{page} has no block of {language} any more")


def block_with(expression):
    """The language and text of the first block of commands that an expression is in, README.md's before other pages'."""
    for page in PAGES:
        for found in BLOCK.finditer(read(page)):
            if found.group(1) in ("sh", "cmake") and re.search(expression, found.group(2)):
                return found.group(1), found.group(2)
    raise Stale(f"none of {', '.join(PAGES)} has a block of code with '{expression}' any more")


def command(expression):
    """The first command in a line of text, `between such marks`, that an expression matches as a whole."""
    for page in PAGES:
        for found in re.finditer(r"`([^`\n]+)`", BLOCK.sub("", read(page))):
            if re.fullmatch(expression, found.group(1)):
                return found.group(1)
    raise Stale(f"none of {', '.join(PAGES)} has a command in its text that is '{expression}' any more")


def steps():
    """All steps, in the order in which README.md comes to them: its own blocks, and those of other pages that it names. What
    it names nowhere by the command comes after what is before it in STEPS."""
    section = install_section()
    found = []
    for number, block in enumerate(BLOCK.finditer(section), 1):
        if block.group(1) in ("sh", "cmake"):
            names = [name for name, expression in STEPS.items() if re.search(expression, block.group(2))]
            found.append((block.start(), Step(names[0] if names else f"block {number}", block.group(1), block.group(2))))
    have = {step.name: place for place, step in found}
    last = 0
    for name, expression in STEPS.items():
        if name in have:
            last = have[name]
            continue
        named = re.search(expression, section)
        last = named.start() if named else last
        found.append((last, Step(name, *block_with(expression))))
    return [step for _, step in sorted(found, key=lambda pair: pair[0])]


if __name__ == "__main__":
    for step in steps():
        print(f"== {step.name} ({step.language})\n{step.text}", end="")
