#!/usr/bin/env python3
"""Nothing is loaded from the working folder: a library that an attacker has planted there does not run, no matter how
the program was started. The library finder of eps/openvino is compiled alone, which needs no SDK; if the program has
the provider, the program is tested, too."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "program"))
from claims import conclude, expect  # noqa: E402

SOURCE, CXX = pathlib.Path(os.environ["CAMEO_SOURCE_DIR"]), os.environ.get("CAMEO_CXX", "c++")
PROGRAM = pathlib.Path(os.environ["CAMEO_PROGRAM"])
BINARY = pathlib.Path(os.environ["CAMEO_BINARY_DIR"])
HELPER = "libcameo_openvino_query.so"
SDK = "libopenvino_c.so"

MAIN = r"""
#include "libraries.hpp"
#include <cstdio>
namespace in = cameo::eps::openvino_detail;
int LOOK() {
  std::string why;
  const cameo::os::library found = in::load_first(in::candidates_for("%s"), why);
  const char* (*const whose)() = found ? found.find<const char*()>("whose") : nullptr;
  const std::string relative[] = {"./%s", "lib/%s"};
  if (in::load_first(relative, why)) std::puts("a relative path was loaded");
  std::printf("%%s\n", whose ? whose() : "nothing");
  return 0;
}
""" % (HELPER, HELPER, HELPER)


def compile(to, *arguments):
    subprocess.run([CXX, "-std=c++20", "-o", str(to), *map(str, arguments)], check=True)


def library(folder, whose, name=HELPER):
    """Builds a library that prints a line on standard error when it is loaded, and whose function returns whose it
    is."""
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "library.cpp"
    source.write_text('#include <cstdio>\nextern "C" const char* whose() { return "%s"; }\n'
                      '__attribute__((constructor)) void at_once() { std::fputs("%s runs\\n", stderr); }\n' % (whose, whose))
    compile(folder / name, "-shared", "-fPIC", source)
    source.unlink()


def start(command, folder, *, shown=None, **environment):
    """Runs a command in a folder; `shown` is the name that it receives as argv[0]."""
    environment = {k: v for k, v in {**os.environ, **environment}.items() if k != "LD_LIBRARY_PATH" or k in environment}
    return subprocess.run([str(command[0]) if shown is None else shown, *map(str, command[1:])], executable=str(command[0]), cwd=folder,
                          env=environment, capture_output=True, text=True, timeout=120)


def by_path(name, folder, path, *arguments, **environment):
    """Runs a program by a bare name that is found in one of the folders of PATH, as a shell does."""
    return subprocess.run(["sh", "-c", 'exec "$@"', "sh", name, *arguments], cwd=folder, capture_output=True, text=True,
                          env={**os.environ, "PATH": f"{path}:{os.environ['PATH']}", **environment}, timeout=120)


with tempfile.TemporaryDirectory() as scratch:
    at = pathlib.Path(scratch).resolve()
    planted, prefix = at / "work" / "here", at / "any prefix"
    for folder in (planted, planted / "lib", planted.parent / "lib", planted.parent / "lib64"):
        library(folder, "planted")
    for name in (SDK, SDK + ".2541"):
        shutil.copy(planted / HELPER, planted / name)
    (prefix / "bin").mkdir(parents=True)
    main = at / "main.cpp"
    main.write_text(MAIN.replace("LOOK", "main"))
    finder = [SOURCE / "eps/openvino/src/libraries.cpp", f"-I{SOURCE / 'include'}", f"-I{SOURCE / 'eps/openvino/src'}",
              f"-I{SOURCE / 'src'}", BINARY / "libcameo_package.a", BINARY / "libcameo_minimal.a",
              '-DCAMEO_LIBRARIES_FROM_PROGRAMS="../lib/some-triplet"', f'-DCAMEO_LIBRARIES_INSTALLED="{at}/configured"', "-ldl"]
    program = prefix / "bin" / "finder"
    compile(program, main, *finder)
    (at / "links").mkdir()
    (at / "links" / "linked").symlink_to(program)

    def all_ways():
        """All ways to start the finder from the folder with the planted library."""
        yield "from PATH", by_path("finder", planted, prefix / "bin")
        yield "from PATH by a link", by_path("linked", planted, at / "links")
        yield "by its absolute path", start([program], planted)
        yield "by a relative path", start([os.path.relpath(program, planted)], planted)
        yield "by another name", start([program], planted, shown="no such name")
        yield "by the name of what is there", start([program], planted, shown="./" + HELPER)
        yield "by an empty name", start([program], planted, shown="")
        for folders in (":", ".", ":/nowhere", "/nowhere:", "lib;/nowhere", "../here"):
            yield f"with LD_LIBRARY_PATH={folders!r}", start([program], planted, LD_LIBRARY_PATH=folders)

    for how, done in all_ways():
        expect(done.stdout == "nothing\n" and "planted" not in done.stderr, "nothing is loaded from the working folder", how, done)
    for place in (at / "configured", prefix / "lib/some-triplet", prefix / "bin"):  # each precedes the last
        library(place, place.name)
        for how, done in all_ways():
            expect(done.stdout == place.name + "\n" and "planted" not in done.stderr, "the program's own is found", how, done)
    elsewhere = at / "elsewhere"  # the whole prefix is moved
    prefix.rename(elsewhere)
    done = by_path("finder", planted, elsewhere / "bin")
    expect(done.stdout == "bin\n", "the program's own is found under any prefix", done)
    (elsewhere / "bin" / HELPER).unlink()
    done = by_path("finder", planted, elsewhere / "bin")
    expect(done.stdout == "some-triplet\n", "the program's own is found under any prefix", done)
    done = start([elsewhere / "bin" / "finder"], planted, LD_LIBRARY_PATH="/nowhere")
    expect(done.stdout == "some-triplet\n", "an absolute LD_LIBRARY_PATH changes nothing", done)

    # The finder inside a shared library that was loaded by a relative path.
    shared = at / "shared"
    shared.mkdir()
    code = at / "code.cpp"
    code.write_text(MAIN.replace("int LOOK()", 'extern "C" int look()'))
    compile(shared / "libcode.so", "-shared", "-fPIC", code, *finder)
    loads = at / "loads.cpp"
    loads.write_text('#include <dlfcn.h>\n#include <unistd.h>\nint main(int, char** all) {\n'
                     '  void* const code = dlopen("./libcode.so", RTLD_NOW);\n'
                     '  return chdir(all[1]) || reinterpret_cast<int (*)()>(dlsym(code, "look"))();\n}\n')
    compile(at / "loads", loads, "-ldl")
    shutil.rmtree(at / "configured")
    done = start([at / "loads", planted], shared)
    expect(done.stdout == "nothing\n" and not done.stderr, "code of a library looks in no working folder either", done)
    library(shared, "shared")
    done = start([at / "loads", planted], shared)
    expect(done.stdout == "shared\n", "the library beside it is found, whatever the working folder is", done)

    # The program itself. Without the provider there is nothing for it to load, and it must not load anything either.
    (at / "bin").mkdir()
    (at / "bin" / "cameo").symlink_to(PROGRAM)
    for how, done in [("from PATH", by_path("cameo", planted, PROGRAM.parent, "devices")),
                      ("from PATH by a link", by_path("cameo", planted, at / "bin", "devices")),
                      ("by another name", start([PROGRAM, "devices"], planted, shown="cameo")),
                      ("with an empty folder", start([PROGRAM, "devices"], planted, LD_LIBRARY_PATH=":")),
                      ("with a relative folder", start([PROGRAM, "devices"], planted, CAMEO_OPENVINO_LIBRARIES=".")),
                      ("with a relative folder", start([PROGRAM, "devices"], planted, CAMEO_OPENVINO_LIBRARIES="lib"))]:
        expect(done.returncode == 0 and "planted" not in done.stderr, "cameo devices loads nothing from the working folder", how, done)
    has_provider = "\nopenvino " in "\n" + start([PROGRAM, "devices"], planted).stdout
    if has_provider:
        # A statically linked program without the helper beside it finds none and continues without it.
        (at / "alone").mkdir()
        shutil.copy(PROGRAM, at / "alone" / "cameo")
        done = by_path("cameo", planted, at / "alone", "devices")
        expect(done.returncode == 0 and "planted" not in done.stderr, "a copy loads nothing from the working folder", done)
conclude()
