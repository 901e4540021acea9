"""The assertions of test scripts. A claim that does not hold is printed, and the script goes on with the next one."""
import sys

_counts = {True: 0, False: 0}


def expect(holds, claim, *more):
    _counts[bool(holds)] += 1
    if not holds:
        print("not so:", " ".join(map(str, (claim, *more)))[:2000], flush=True)


def failed():
    """The number of claims that did not hold so far."""
    return _counts[False]


def conclude():
    """Ends the script, with exit status 1 if a claim did not hold."""
    print(f"{failed()} claims did not hold" if failed() else "all claims hold")
    sys.exit(failed() != 0)


def conclude_with_counts():
    """Ends the script like conclude(), with the line "N passed, N failed", which .ci/run adds up. A script without
    claims fails, too."""
    print(f"{_counts[True]} passed, {failed()} failed", flush=True)
    sys.exit(failed() != 0 or not _counts[True])
