"""Reads the steps that README.md describes, in its order: blocks of code, and commands in the text whose block is on
another page. Commands are not repeated here, so tests run the commands that users read."""
import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# The name of each step, and an expression that its block of code contains. README.md names each step; its block is in
# README.md or on another page.
STEPS = {"quickstart": r"\./examples/quickstart", "install": r"cmake --install", "pip": r"pip install (?:-\S+ )*'?\.",
         "find_package": r"find_package\(", "add_subdirectory": r"add_subdirectory\(",
         "FetchContent": r"FetchContent_MakeAvailable\(", "cpack": r"\bcpack\b"}
PAGES = ["README.md", "docs/install.md", "docs/python.md"]


@dataclasses.dataclass
class Step:
    name: str      # a key of STEPS, or "block N" for another block
    language: str  # sh or cmake
    text: str


class Stale(Exception):
    """The pages do not have the block or command that this program looks for."""


def read(page):
    return (ROOT / page).read_text(encoding="utf-8")


def install_section():
    found = re.search(r"^## Install\n(.*?)^## ", read("README.md"), re.MULTILINE | re.DOTALL)
    if not found:
        raise Stale("README.md does not have a section 'Install'")
    return found.group(1)


def first_block(language, page="README.md"):
    """Returns the first block of a page in a language."""
    for found in BLOCK.finditer(read(page)):
        if found.group(1) == language:
            return found.group(2)
    raise Stale(f"{page} does not have a block of {language}")


def block_with(expression):
    """Returns the language and text of the first block of commands that contains the expression, in the order of
    PAGES."""
    for page in PAGES:
        for found in BLOCK.finditer(read(page)):
            if found.group(1) in ("sh", "cmake") and re.search(expression, found.group(2)):
                return found.group(1), found.group(2)
    raise Stale(f"none of {', '.join(PAGES)} has a block of code with '{expression}'")


def command(expression):
    """Returns the first command in the text, `in backticks`, that the whole expression matches."""
    for page in PAGES:
        for found in re.finditer(r"`([^`\n]+)`", BLOCK.sub("", read(page))):
            if re.fullmatch(expression, found.group(1)):
                return found.group(1)
    raise Stale(f"none of {', '.join(PAGES)} has a command in its text that matches '{expression}'")


def steps():
    """Returns all steps in the order of README.md: its blocks, and blocks of other pages at the place where README.md
    has their command. A step without such a place follows the one before it in STEPS."""
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
