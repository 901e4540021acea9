"""What a script claims of the program. A claim that does not hold is printed, and the others are tried nevertheless."""
import sys

_counts = {True: 0, False: 0}


def expect(holds, claim, *more):
    _counts[bool(holds)] += 1
    if not holds:
        print("not so:", " ".join(map(str, (claim, *more)))[:2000], flush=True)


def failed():
    """How many claims did not hold so far."""
    return _counts[False]


def conclude():
    """Ends the script: with status 1 when a claim did not hold."""
    print(f"{failed()} claims did not hold" if failed() else "all claims hold")
    sys.exit(failed() != 0)


def conclude_with_counts():
    """The same, with the line "N passed, N failed" that .ci/run adds up; no claim at all is a failure, too."""
    print(f"{_counts[True]} passed, {failed()} failed", flush=True)
    sys.exit(failed() != 0 or not _counts[True])
