"""The compiler cache finds sources that are compiled for several instruction sets. Such a source includes itself, by a
path that the cache makes relative; if the cache's preprocessor can't open it, the cache compiles the source each time,
and says so only in its log.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "program"))
from claims import conclude, expect  # noqa: E402

ROOT = os.environ["CAMEO_SOURCE_DIR"]
BUILD = pathlib.Path(os.environ["CAMEO_BINARY_DIR"])
SOURCE = "src/machine/past_caches.simd.cpp"  # takes the shortest time


def outcome(command, folder, cache):
    """Runs a compiler with an empty folder as its cache, or one that an earlier call filled; returns the cache's log."""
    log = cache / "log"
    log.unlink(missing_ok=True)
    done = subprocess.run(["sh", "-c", command], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=dict(os.environ, CCACHE_DIR=str(cache), CCACHE_LOGFILE=str(log)), check=False)
    expect(done.returncode == 0, done.stdout)
    return log.read_text() if log.exists() else ""


def main():
    listed = json.loads((BUILD / "compile_commands.json").read_text())
    found = [entry for entry in listed if entry["file"].endswith(SOURCE)]
    expect(found, f"compile_commands.json has no {SOURCE}")
    if not shutil.which("ccache"):
        print("there is no ccache here")
        return
    with tempfile.TemporaryDirectory() as folder:
        cache = pathlib.Path(folder)
        # The object goes to the folder, so that the build's stays.
        words = found[0]["command"].split()
        words[words.index("-o") + 1] = str(cache / "object.o")
        command = f"CCACHE_BASEDIR={ROOT} CCACHE_NOHASHDIR=1 ccache {' '.join(words)}"
        first, second = (outcome(command, found[0]["directory"], cache) for _ in range(2))
        expect("preprocessor_error" not in first, "the cache can't preprocess a source that includes itself")
        expect("cache_hit" in second, "the cache does not find the object of an unchanged source")
    print("the compiler cache has the objects of sources for several instruction sets")


main()
conclude()
