"""A list of what is missing, in tests/data, which may only shrink: what is missing and not listed is a fault, and so is a
line for what is there."""
import os
import pathlib
import sys


def hold(name, head, missing, words, asked=lambda line: True):
    """How many faults there are, each printed; `words` say what is wrong with what is not listed. With --write, writes the
    list below `head` instead. `asked`: whether this run looked at what a line says."""
    path = pathlib.Path(os.environ["CAMEO_SOURCE_DIR"]) / "tests" / "data" / name
    if "--write" in sys.argv[1:]:
        path.write_text(head + "".join(line + "\n" for line in sorted(missing)))
    listed = {line for line in path.read_text().splitlines() if line and not line.startswith("#")}
    faults = [f"{line}: {words}" for line in sorted(missing - listed)]
    faults += [f"{line}: is there now; take its line out of {name}" for line in sorted(filter(asked, listed - missing))]
    print("".join(line + "\n" for line in faults), end="")
    return len(faults)
