"""The first minute with a fresh tree: examples/quickstart prints what it will do before it takes time, and builds the
program with which README.md continues; tests/run prints the same about its build; an archive of the sources works
without git; and missing tools that a step needs beyond those of the build are named.

The scripts run in a copy of the tree's scripts, with stand-ins for the commands apt-get, dpkg-query, id and cmake.
Needs CAMEO_SOURCE_DIR, CAMEO_BINARY_DIR and CAMEO_PROGRAM in the environment, as CTest sets them.
"""
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(os.environ["CAMEO_SOURCE_DIR"])
CMAKE = shutil.which("cmake")
STAND_INS = {
    "dpkg-query": "exit 1",  # no package is installed
    "id": "echo ${CAMEO_TRY_USER:-0}",
    "nproc": "echo 4",
    "ninja": "exit 0",
    "apt-get": """case " $* " in *" install "*) ;; *) exit 0 ;; esac
echo "0 upgraded, 50 newly installed, 0 to remove and 0 not upgraded."
echo "Need to get 100 MB of archives."
echo "Fetched 100 MB in 10s (10 MB/s)"
for i in $(seq 50); do echo "Setting up package$i (1) ..."; done
exit ${CAMEO_TRY_STATUS:-0}""",
    "cmake": """echo "cmake $*" >>"$CAMEO_TRY_LOG"
case $1 in
  --preset) echo "-- Detecting CXX compile features"; echo "-- cameo: no RE2 here" ;;
  --build) mkdir -p "$2/examples"; printf '#!/bin/sh\\necho 357 of 360\\n' >"$2/examples/example_digits"
    chmod +x "$2/examples/example_digits" ;;
esac""",
}
checks = failed = 0


def check(holds, words):
    global checks, failed
    checks += 1
    if not holds:
        failed += 1
        print(f"FAILED: {words}")


def in_order(words, text):
    """True if the expressions match one after the other."""
    return re.search(".*".join(words), text, re.DOTALL) is not None


def try_script(folder, name, **environment):
    """The exit status and output of a script in a tree that only has scripts, and its calls of cmake."""
    tree, commands, log = folder / "tree", folder / "bin", folder / "log"
    shutil.rmtree(folder, ignore_errors=True)
    for script in "cmake/bootstrap.sh", "examples/quickstart", "tests/run", "tests/requirements.txt":
        (tree / script).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / script, tree / script)
    commands.mkdir()
    log.touch()
    for command, text in STAND_INS.items():
        (commands / command).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        (commands / command).chmod(0o755)
    done = subprocess.run(["bash", tree / name], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False, env={"PATH": f"{commands}:{os.environ['PATH']}", "CAMEO_TRY_LOG": str(log),
                                                       "HOME": str(folder), **environment})
    return done.returncode, done.stdout, log.read_text(encoding="utf-8")


def try_quickstart(folder):
    status, said, calls = try_script(folder, "examples/quickstart")
    check(status == 0, f"quickstart ends with {status}: {said}")
    check(in_order(["== installing .*minute", "Need to get 100 MB", "Fetched 100 MB", "set up 20 of 50", "set up 40 of 50",
                    "== configuring", "-- cameo: no RE2 here", r"== compiling: about \d+ min on 4 processors", "357 of 360",
                    "build/install/cameo"], said), f"quickstart is silent while it works: {said}")
    check("Detecting" not in said, "quickstart repeats messages of CMake")
    configured, built = calls.splitlines()
    check("--preset install" in configured and "CAMEO_TESTS" not in configured,
          f"quickstart configures tests or benchmarks: {configured}")
    check("cameo_program" in built and "example_digits" in built, f"quickstart does not build the program: {built}")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    program = readme[readme.index("\n## The program"):]
    folder_of_program = re.search(r'^export PATH="\$PWD/(\S+):\$PATH"', program, re.MULTILINE)
    check(folder_of_program and f"--build {folder / 'tree' / folder_of_program[1]} " in built + " ",
          "README.md calls a program that quickstart did not build")
    status, said, calls = try_script(folder, "examples/quickstart", CAMEO_TRY_USER="1000")
    check(status != 0 and not calls and "apt-get install -y" in said, f"quickstart does not print what root has to run: {said}")
    status, said, calls = try_script(folder, "examples/quickstart", CAMEO_TRY_STATUS="100")
    check(status != 0 and not calls, f"quickstart builds though apt-get failed: {said}")


def try_readme():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    install = readme[readme.index("\n## Install"):]
    check(in_order(["apt-get install -y git", "git clone", r"\./examples/quickstart"], install),
          "README.md begins to install after git and the clone")
    for page in "README.md", "docs/python.md":
        text = (ROOT / page).read_text(encoding="utf-8")
        check(in_order(["python3-venv python3-dev", r"pip install '\.\[numpy\]'"], text),
              f"{page} does not say what pip needs")
    for page in "README.md", "docs/install.md":
        text = (ROOT / page).read_text(encoding="utf-8")
        check(re.search(r"dpkg-dev\W+and\W+file", text), f"{page} does not say what cpack needs")


def commit_of(tree, out):
    subprocess.run([CMAKE, f"-DFILE={out}", f"-DSOURCE={tree}", "-P", ROOT / "cmake" / "cameo_commit.cmake"], check=True)
    return re.search(r'return "(.*)";', out.read_text(encoding="utf-8"))[1]


def try_commits(folder):
    """A tree that is the root of its repository has a commit; an unpacked archive inside another repository has
    none."""
    shutil.rmtree(folder, ignore_errors=True)
    outer, inner = folder / "outer", folder / "outer" / "cameo-0.2.0"
    inner.mkdir(parents=True)
    (outer / "file").write_text("text", encoding="utf-8")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", outer]
    for words in ["init", "-q"], ["add", "file"], ["commit", "-qm", "first"]:
        subprocess.run([*git, *words], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    own, others = commit_of(outer, folder / "own.cpp"), commit_of(inner, folder / "others.cpp")
    check(own == head[:12], f"a clone reports {own}, not its commit {head[:12]}")
    check(others == "unknown", f"an archive inside another repository reports that one's commit: {others}")


def try_without_git(folder):
    """Without the program git, add_kernel.py copies the same files as from a clone."""
    spec = importlib.util.spec_from_file_location("add_kernel", ROOT / "tests" / "scripts" / "add_kernel.py")
    add_kernel = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(add_kernel)
    path, os.environ["PATH"] = os.environ["PATH"], str(folder)
    try:
        add_kernel.copy_tree(folder / "copied")
        check((folder / "copied" / "src" / "session").is_dir(), "add_kernel.py copies no sources")
    except OSError as error:
        check(False, f"add_kernel.py needs git and a repository: {error}")
    os.environ["PATH"] = path


def try_cpack(folder):
    """The error of cpack names the missing programs that Debian packages need."""
    for generator, status in ("DEB", 1), ("TGZ", 0):
        done = subprocess.run([CMAKE, f"-DCPACK_GENERATOR={generator}", "-P", ROOT / "cmake" / "cameo_cpack_needs.cmake"],
                              capture_output=True, text=True, check=False, env={"PATH": str(folder)})
        said = " ".join(done.stderr.split())
        check(bool(done.returncode) == bool(status) and bool(status) == ("apt-get install dpkg-dev file" in said),
              f"cpack -G {generator} without dpkg-dev and file: {done.returncode}, {said}")


def main():
    with tempfile.TemporaryDirectory(prefix="cameo-first-") as name:
        folder = pathlib.Path(name)
        try_quickstart(folder / "quickstart")
        try_readme()
        try_commits(folder / "commits")
        try_without_git(folder)
        try_cpack(folder)
    print(f"{checks - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
