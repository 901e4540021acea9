"""What a script claims of the program. A claim that does not hold is printed, and the others are tried nevertheless."""
import sys

_failures = 0


def expect(holds, claim, *more):
    global _failures
    if not holds:
        _failures += 1
        print("not so:", " ".join(map(str, (claim, *more)))[:2000])


def conclude():
    """Ends the script: with status 1 when a claim did not hold."""
    print(f"{_failures} claims did not hold" if _failures else "all claims hold")
    sys.exit(_failures != 0)
