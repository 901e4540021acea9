"""A list of missing things in tests/data, which may only shrink: a missing thing that is not listed is a fault, and so
is a line for a thing that exists now."""
import os
import pathlib
import sys


def hold(name, head, missing, words, asked=lambda line: True):
    """Prints the faults and returns their number. `words` is the message for a missing thing that is not listed. With
    --write, writes the list with the comment `head` instead. `asked`: whether this run checked a line's thing."""
    path = pathlib.Path(os.environ["CAMEO_SOURCE_DIR"]) / "tests" / "data" / name
    if "--write" in sys.argv[1:]:
        path.write_text(head + "".join(line + "\n" for line in sorted(missing)))
    listed = {line for line in path.read_text().splitlines() if line and not line.startswith("#")}
    faults = [f"{line}: {words}" for line in sorted(missing - listed)]
    faults += [f"{line}: is there now; take its line out of {name}" for line in sorted(filter(asked, listed - missing))]
    print("".join(line + "\n" for line in faults), end="")
    return len(faults)
