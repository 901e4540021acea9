#!/usr/bin/env python3
"""Installs cameo below build/ and builds projects that use it, each of which is a check.

Usage: run.py [--build build/release] [--tools PYTHON] [--only NAME...] [--list]
  --build   a build of cameo, top level; its targets cameo_program and cameo_shared are up to date
  --tools   a python3 that has the packages of tests/package/requirements.txt (default: this one)
Closes with one line: N passed, N failed.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
OUT = ROOT / "build" / "package"  # projects that compile cameo are two folders below the root, as build/release is
PREFIX = OUT / "prefix"
RELEASE = ["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG", "-DCAMEO_WERROR=ON"]
CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


class Failed(Exception):
    pass


def command(*words, env=None, cwd=None, may_fail=False):
    words = [str(word) for word in words]
    done = subprocess.run(words, cwd=cwd, env=dict(os.environ, **(env or {})), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode and not may_fail:
        raise Failed(f"{' '.join(words)}: exit status {done.returncode}\n{done.stdout[-6000:]}")
    return done if may_fail else done.stdout


def expect(condition, words):
    if not condition:
        raise Failed(words)


def build(folder, name, *settings, options=()):
    """Configures and builds a project of this folder. Returns the folder of its programs."""
    made = OUT / "builds" / name
    shutil.rmtree(made, ignore_errors=True)
    command("cmake", "-G", "Ninja", "-S", HERE / folder, "-B", made, *(settings or ["-DCMAKE_BUILD_TYPE=Debug"]), *options)
    command("cmake", "--build", made)
    return made


def runs(program, env=None):
    text = command(program, env=env)
    expect(text == "ok\n", f"{program} printed: {text}")


def find(*settings):
    return [f"-DCMAKE_PREFIX_PATH={PREFIX}", "-DCMAKE_BUILD_TYPE=Debug", *settings]


@check
def relocatable(args):
    """No installed file contains the path where it was built or first installed: the prefix of all other checks was moved."""
    for path in PREFIX.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            for place in (ROOT, OUT / "first"):
                expect(str(place).encode() not in content, f"{path} names {place}")


@check
def exports(args):
    """The shared library exports exactly the functions that the headers declare."""
    print(command(args.tools, HERE / "exports.py", ROOT, args.build / "libcameo.so").strip())


@check
def find_static(args):
    made = build("find_package", "find_static", *find("-DKIND=static"))
    runs(made / "app")
    runs(made / "app_plain")
    expect("libcameo" not in command("readelf", "-d", made / "app"), "the static app needs libcameo.so")


@check
def find_shared(args):
    made = build("find_package", "find_shared", *find("-DKIND=shared"))
    runs(made / "app")
    runs(made / "app_plain")
    needed = command("readelf", "-d", made / "app")
    expect("libcameo.so" in needed, "the shared app does not need libcameo.so")
    for name in ("libonnx", "libprotobuf", "libhwy", "libutf8proc", "libre2", "libjpeg", "libtiff", "libopenjp2", "libfmt"):
        expect(name not in needed, f"the shared app is linked with {name} itself")


@check
def find_refuses(args):
    """Unknown components and versions that do not match are refused with a message."""
    for name, settings, words in [
            ("component", ["-DCOMPONENTS=host;npu"], "cameo has no component 'npu'; it has static, shared, target, minimal"),
            ("both", ["-DCOMPONENTS=static;shared"], "of the components 'static' and 'shared'"),
            ("version", ["-DVERSION=0.3"], "requested version \"0.3\""),
            ("older", ["-DVERSION=0.0.9"], "requested version \"0.0.9\"")]:
        made = OUT / "builds" / f"refuses_{name}"
        shutil.rmtree(made, ignore_errors=True)
        done = command("cmake", "-G", "Ninja", "-S", HERE / "find_refuses", "-B", made,
                       f"-DCMAKE_PREFIX_PATH={PREFIX}", *settings, may_fail=True)
        text = " ".join(done.stdout.split())
        expect(done.returncode and words in text, f"{name}: expected \"{words}\", got\n{done.stdout}")


@check
def pkg_config(args):
    made = OUT / "builds" / "pkg_config"
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    folder, = PREFIX.glob("lib*/**/pkgconfig")
    command("sh", HERE / "pkg_config" / "build.sh", HERE / "app.cpp", cwd=made, env={"PKG_CONFIG_PATH": str(folder)})
    runs(made / "app_static")
    runs(made / "app_shared", env={"LD_LIBRARY_PATH": str(folder.parent)})


@check
def c_program(args):
    """A C program, compiled as C and as C++, works with the installed library."""
    made = OUT / "builds" / "c"
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    folder, = PREFIX.glob("lib*/**/pkgconfig")
    flags = command("pkg-config", "--cflags", "--libs", "cameo", env={"PKG_CONFIG_PATH": str(folder)}).split()
    for name, compiler in ("as_c", ["cc", "-std=c99"]), ("as_cpp", ["c++", "-std=c++11", "-x", "c++"]):
        command(*compiler, "-pedantic", "-Wall", "-Wextra", "-Werror", HERE / "c" / "app.c", "-x", "none", "-o", made / name,
                *flags, "-lm")
        text = command(made / name, ROOT / "examples" / "digits" / "digits.onnx", env={"LD_LIBRARY_PATH": str(folder.parent)})
        expect(text == "ok\n", f"{name} printed: {text}")


@check
def installed_program(args):
    """The installed program runs in the folder to which it was moved."""
    text = command(PREFIX / "bin" / "cameo", "inspect", "--json", ROOT / "examples" / "digits" / "digits.onnx")
    expect(json.loads(text), text)


def in_tree(name, made):
    """Builds a project that contains cameo. Both build folders are two levels below the root, as build/release is, so that the
    compiler cache has cameo's objects."""
    place, inner = ROOT / "build" / f"package_{name}", ROOT / "build" / f"package_{name}_cameo"
    for folder in place, inner:
        shutil.rmtree(folder, ignore_errors=True)
    command("cmake", "-G", "Ninja", "-S", HERE / name, "-B", place, f"-DCAMEO_SOURCE={ROOT}", f"-DCAMEO_BINARY={inner}",
            *RELEASE, f"-DCMAKE_CXX_COMPILER_LAUNCHER={HERE / 'in_folder.sh'};{inner};ccache")
    command("cmake", "--build", place, "--target", "app", env={"CCACHE_BASEDIR": str(ROOT)})
    runs(place / "app")
    expect(("libcameo.so" in command("readelf", "-d", place / "app")) == made, "static and shared are confused")


@check
def subdirectory(args):
    in_tree("subdirectory", False)


@check
def guest(args):
    """As a part of another project, cameo is compiled with that project's settings, and changes none of them."""
    made = OUT / "builds" / "guest"
    shutil.rmtree(made, ignore_errors=True)
    command("cmake", "-G", "Ninja", "-S", HERE / "subdirectory", "-B", made, f"-DCAMEO_SOURCE={ROOT}",
            f"-DCAMEO_BINARY={made / 'cameo'}")
    cache = (made / "CMakeCache.txt").read_text()
    expect("CMAKE_BUILD_TYPE:STRING=\n" in cache, "cameo chose a build type for the project")
    command("cmake", "-S", HERE / "subdirectory", "-B", made, "-DCMAKE_BUILD_TYPE=Release",
            "-DCMAKE_CXX_FLAGS_RELEASE=-O3 -DNDEBUG")
    commands = command("ninja", "-C", made, "-t", "commands", "cameo_minimal")
    expect("-O3" in commands and "-O2" not in commands, "cameo has flags other than the project's")
    for words in ("ccache", "-Werror"):
        expect(words not in commands, f"cameo brought {words} along")
    expect(not (made / "compile_commands.json").exists(), "cameo brought compile_commands.json along")


@check
def beside_fmt(args):
    """In a project that has another version of fmt than the system, cameo is compiled with that version: from version 10 on as
    a header-only library."""
    made = OUT / "builds" / "beside_fmt"
    shutil.rmtree(made, ignore_errors=True)
    headers = next(folder for folder in ("/usr/include/fmt", "/usr/local/include/fmt") if os.path.isdir(folder))
    for number, alone in ("90101", False), ("100000", True), ("120200", True):
        folder = made / number
        shutil.copytree(headers, folder / "fmt")
        core = folder / "fmt" / "core.h"
        text = re.sub(r"(#define FMT_VERSION) \d+", rf"\1 {number}", core.read_text(), count=1)
        expect(number in text, f"{core} has no FMT_VERSION")
        core.write_text(text)
        command("cmake", "-G", "Ninja", "-S", HERE / "beside_fmt", "-B", folder / "build", f"-DCAMEO_SOURCE={ROOT}",
                f"-DFMT={folder}", "-DCAMEO_TOGETHER=OFF")  # two sources are compiled, by their names
        words = command("ninja", "-C", folder / "build", "-t", "commands", "cameo_package")
        expect(f"-isystem {folder} " in words, f"cameo is not compiled with the project's fmt {number}")
        expect(("FMT_HEADER_ONLY" in words) == alone, f"fmt {number} is compiled in as another version is")
        command("ninja", "-C", folder / "build", "cameo/CMakeFiles/cameo_package.dir/src/file/fmt.cpp.o",
                "cameo/CMakeFiles/cameo_package.dir/src/file/atomic_file.cpp.o")


@check
def fetch_content(args):
    in_tree("fetch_content", True)


@check
def clash(args):
    """A library that defines all symbols of fmt and flatbuffers, and ends the process when one is called, has no effect on
    cameo: neither linked before it nor preloaded, with cameo static and shared."""
    made = OUT / "builds" / "clash"
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    libraries = [command("g++", f"-print-file-name=lib{name}").strip() for name in ("fmt.so", "flatbuffers.a")]
    for library in libraries:
        expect(os.path.isabs(library), f"no {library} here")
    command(sys.executable, HERE / "clash" / "stand_in.py", made / "libstand_in.so", "3fmt|flatbuf", *libraries)
    stand_in = ["-Wl,--no-as-needed", f"-L{made}", "-lstand_in", "-Wl,--as-needed", f"-Wl,-rpath,{made}"]
    folder, = PREFIX.glob("lib*/**/pkgconfig")
    where = {"PKG_CONFIG_PATH": str(folder)}
    preload = {"LD_PRELOAD": str(made / "libstand_in.so")}
    command("g++", "-std=c++20", HERE / "clash" / "own_fmt.cpp", "-o", made / "own_fmt", "-lfmt")
    runs(made / "own_fmt")
    done = command(made / "own_fmt", env=preload, may_fail=True)
    expect(done.returncode == 77 and "the stand-in was called" in done.stdout, "the stand-in is not in the way of fmt")
    command("g++", "-std=c++20", "-c", HERE / "app.cpp", "-o", made / "app.o", f"-I{PREFIX / 'include'}")
    for kind, module in ("static", "cameo-static"), ("shared", "cameo"):
        flags = command("pkg-config", "--libs", module, env=where).split()
        rpath = f"-Wl,-rpath,{folder.parent}"
        command("g++", "-o", made / f"{kind}_beside", *stand_in, made / "app.o", *flags, rpath)
        command("g++", "-o", made / f"{kind}_alone", made / "app.o", *flags, rpath)
        expect("libstand_in" in command("readelf", "-d", made / f"{kind}_beside"), "the stand-in is not linked")
        runs(made / f"{kind}_beside")
        runs(made / f"{kind}_alone", env=preload)
    for library in [*folder.parent.glob("*.a"), args.build / "libcameo.so"]:
        for line in command("nm", "-P", library).splitlines():
            expect("3fmt2v" not in line.split(" ")[0], f"{library}: {line}")


@check
def other_protobuf(args):
    """The conflict with another protobuf that docs/install.md describes: a program that uses only ort_format is not affected;
    one that uses protobuf calls the other library's functions."""
    made = OUT / "builds" / "other_protobuf"
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    libraries = [command("g++", f"-print-file-name=lib{name}.so").strip() for name in ("protobuf", "onnx_proto")]
    command(sys.executable, HERE / "clash" / "stand_in.py", made / "libstand_in.so", "6google8protobuf|N4onnx", *libraries)
    folder, = PREFIX.glob("lib*/**/pkgconfig")
    flags = command("pkg-config", "--libs", "cameo-static", env={"PKG_CONFIG_PATH": str(folder)}).split()
    without = [flag for flag in flags if flag not in ("-lonnx_proto", "-lprotobuf", "-lcameo_onnx")]
    model = ROOT / "tests" / "data" / "ort" / "add" / "model.ort"
    for name, given in ("ort_only", without), ("whole", flags):
        command("g++", "-std=c++20", f"-DFORMATS={'cameo::formats<cameo::ort_format>, ' if name == 'ort_only' else ''}",
                HERE / "clash" / "reads.cpp", "-o", made / name, f"-I{PREFIX / 'include'}", *given)
        text = command(made / name, model)
        expect(text == "ok\n", text)
    preload = {"LD_PRELOAD": str(made / "libstand_in.so")}
    text = command(made / "ort_only", model, env=preload)
    expect(text == "ok\n", text)
    done = command(made / "whole", model, env=preload, may_fail=True)
    expect(done.returncode == 77 and "the stand-in was called" in done.stdout, "the page says too much: nothing met")


@check
def python(args):
    """cameo works with PyPI's onnx and onnxruntime in one process."""
    made = OUT / "builds" / "python"
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    folder, = PREFIX.glob("lib*/**/pkgconfig")
    flags = command("pkg-config", "--cflags", "--libs", "cameo", env={"PKG_CONFIG_PATH": str(folder)}).split()
    command("g++", "-std=c++20", "-shared", "-fPIC", "-fvisibility=hidden", "-o", made / "libshim.so",
            HERE / "python" / "shim.cpp", *flags, f"-Wl,-rpath,{folder.parent}")
    for order in ("cameo-first", "cameo-last"):
        text = command(args.python, HERE / "python" / "beside.py", made / "libshim.so", order, made)
        expect(text.endswith("ok\n"), text)


def conan_profile(folder):
    """The sample profile, which uses Debian's libraries in place of Conan's, with the flags of build/release, so that the
    compiler cache has the objects."""
    text = (ROOT / "packaging" / "conan" / "debian-12.profile").read_text()
    version = command("g++", "-dumpversion").strip().split(".")[0]
    text = re.sub(r"(compiler.version)=\d+", rf"\1={version}", text)
    text = text.replace("[platform_requires]", "\n".join([
        "user.cameo:werror=True", "tools.cmake.cmaketoolchain:user_presets=",
        f"tools.cmake.cmake_layout:test_folder={folder}/test",
        'tools.cmake.cmaketoolchain:enabled_blocks=["cppstd", "find_paths", "rpath", "shared", "cmake_flags_init", "variables",'
        ' "preprocessor", "extra_variables"]', "[platform_requires]"]))
    path = folder / "profile"
    path.write_text(text)
    return path


@check
def conan(args):
    """The recipe makes a package, static and shared, and its test_package runs. A build without RE2 and image libraries runs,
    and its error for an operator that needs RE2 explains how to install it."""
    home = ROOT / "build" / "package_conan"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    profile = conan_profile(home)
    env = {"CONAN_HOME": str(home), "CCACHE_BASEDIR": str(home / "p"), "CCACHE_NOHASHDIR": "1"}
    tool = [args.tools, "-m", "conans.conan"]
    command(*tool, "remote", "remove", "*", env=env, may_fail=True)
    model = home / "regex.onnx"
    command(args.python, HERE / "python" / "regex_model.py", model)
    for shared, with_re2 in ("False", "False"), ("True", "True"):
        text = command(*tool, "create", ROOT, f"--profile:all={profile}", "--build=cameo/*", "--no-remote",
                       "-o", f"cameo/*:shared={shared}", "-o", "cameo/*:with_program=True",
                       "-o", f"cameo/*:with_re2={with_re2}", "-o", f"cameo/*:with_pictures={with_re2}", env=env)
        expect("cameo runs here" in text, text[-3000:])
        program = max(home.glob("p/b/*/p/bin/cameo"), key=lambda path: path.stat().st_mtime)
        listed = json.loads(command(program, "ops", "--json", env={"LD_LIBRARY_PATH": str(program.parent.parent / "lib")}))
        expect(("RegexFullMatch" in {op["op"] for op in listed["ops"]}) == (with_re2 == "True"),
               f"RegexFullMatch with with_re2={with_re2}")
        without = ["RegexFullMatch and Tokenizer on cpu, for want of RE2"]
        without += [f"{name} files of ImageDecoder on cpu, for want of {library}" for name, library in (
            ("JPEG", "libjpeg"), ("PNG", "libpng"), ("TIFF", "libtiff"), ("WebP", "libwebp"), ("JPEG 2000", "OpenJPEG"))]
        expect(listed["left_out"] == ([] if with_re2 == "True" else without),
               f"left out with with_re2={with_re2}: {listed['left_out']}")
        done = command(program, "run", model, may_fail=True,
                       env={"LD_LIBRARY_PATH": str(program.parent.parent / "lib")})
        expect((done.returncode == 0) == (with_re2 == "True"), f"a RegexFullMatch with with_re2={with_re2}: {done.stdout}")
        for words in () if with_re2 == "True" else ("NOT_IMPLEMENTED", "node 'find'", "has no RE2", "libre2-dev"):
            expect(words in done.stdout, f"a RegexFullMatch without RE2 does not say \"{words}\": {done.stdout}")


def widest_registers():
    """The compiler's options for the widest instruction set that this processor and the kernels have."""
    words = pathlib.Path("/proc/cpuinfo").read_text().split()
    if not {"avx2", "fma", "bmi2", "aes", "pclmulqdq"} <= set(words):
        return ""
    wide = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"} <= set(words)
    return f"-march=x86-64-{'v4' if wide else 'v3'} -maes -mpclmul"


@check
def newest_highway(args):
    """The kernels compile with the copy of Highway in numpy's source package, which is newer than Debian's, and their tests
    pass."""
    made = OUT / "builds" / "newest_highway"
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    numpy, = (line for line in (ROOT / "tests" / "requirements.txt").read_text().split() if line.startswith("numpy=="))
    command(args.tools, "-m", "pip", "download", "--disable-pip-version-check", "--no-binary", ":all:", "--no-deps",
            "--no-build-isolation", "--dest", made, numpy, env={"PYTHONPATH": str(HERE / "newest_highway")})
    package, = made.glob("numpy-*.tar.gz")
    command("tar", "-xzf", package, "-C", made, "--wildcards", "*/_core/src/highway/hwy/*")
    highway, = made.glob("numpy-*/numpy/_core/src/highway")
    base = (highway / "hwy" / "base.h").read_text()
    version = re.findall(r"^#define HWY_(?:MAJOR|MINOR|PATCH) (\d+)$", base, re.MULTILINE)
    command("cmake", "-G", "Ninja", "-S", ROOT, "-B", made / "build", "-DCAMEO_KERNELS_ONLY=ON", *RELEASE,
            f"-DCAMEO_BORROW_FROM={highway}", f"-DCMAKE_CXX_FLAGS={widest_registers()}")
    command("cmake", "--build", made / "build")
    used = (made / "build" / "borrowed" / "hwy").resolve()
    expect(used == (highway / "hwy").resolve(), f"the kernels were compiled with {used}")
    output = command(made / "build" / "cameo_kernel_tests", "--no-intro")
    print(f"Highway {'.'.join(version)}: {re.search('instruction sets run:.*', output)[0]}")


@check
def vcpkg(args):
    """The port's files have the format that vcpkg expects, as far as that can be checked without vcpkg."""
    port = ROOT / "packaging" / "vcpkg" / "ports" / "cameo"
    manifest = json.loads((port / "vcpkg.json").read_text())
    text = (ROOT / "include" / "cameo" / "core" / "version.hpp").read_text()
    version = ".".join(re.findall(r"^#define CAMEO_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", text, re.MULTILINE))
    expect(manifest["version"] == version, f"vcpkg.json is of version {manifest['version']}, cameo of {version}")
    for field in ("name", "description", "license", "dependencies", "supports"):
        expect(manifest.get(field), f"vcpkg.json has no {field}")
    names = [d if isinstance(d, str) else d["name"] for d in manifest["dependencies"]]
    expect(names == sorted(names), "the dependencies are not in order")
    made = OUT / "builds" / "vcpkg"
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    command(ROOT / "packaging" / "source_archive", made / "archive")
    alone = made / "ports" / "cameo"
    shutil.copytree(port, alone)
    shutil.copy(made / "archive" / f"cameo-{version}.tar.gz", alone)
    extracted = made / "alone" / "extracted" / f"cameo-{version}"
    for folder, out, source in (port, made, ROOT), (alone, made / "alone", extracted):
        command("cmake", f"-DPORT={folder}", f"-DOUT={out}", "-P", HERE / "vcpkg" / "port.cmake")
        log = (out / "log.txt").read_text()
        for words in (f"configure SOURCE_PATH {source} ", "-DCAMEO_PROGRAM=ON", "-DCAMEO_RE2=OFF", "-DCAMEO_LIBRARIES=static",
                      "install", "config_fixup CONFIG_PATH lib/cmake/cameo", "copyright FILE_LIST", "copy_tools TOOL_NAMES cameo"):
            expect(words in log, f"the portfile did not say \"{words}\":\n{log}")
    # The archive has all files that a package's build needs.
    command("cmake", "-G", "Ninja", "-S", extracted, "-B", made / "build", "-DCAMEO_TESTS=OFF", "-DCAMEO_BENCHMARKS=OFF")
    expect((made / "packages" / "share" / "cameo" / "usage").exists(), "no usage is installed")


def packages(args, generator, made):
    shutil.rmtree(made, ignore_errors=True)
    command("cpack", "-G", generator, "--config", args.build / "CPackConfig.cmake", "-B", made)
    return sorted(path for path in made.iterdir() if path.name.endswith((".deb", ".tar.gz")))


@check
def debian_packages(args):
    """The Debian packages can be installed into a separate root, have correct dependencies, run there, are sufficient to build
    a program, and leave no files when they are removed."""
    made, root = OUT / "builds" / "deb", OUT / "builds" / "deb_root"
    found = packages(args, "DEB", made)
    names = [path.name.partition("_")[0] for path in found]
    expect(len(found) == 3 and names[0] == "cameo" and names[1] == "libcameo-dev" and names[2].startswith("libcameo0."),
           f"packages: {names}")
    for path in found:
        needs = command("dpkg-deb", "--field", path, "Depends")
        for need in re.split(r",\s*", needs.strip()):
            name, _, version = need.partition(" ")
            if name.startswith("libcameo"):
                continue
            state = command("dpkg-query", "-W", "-f", "${db:Status-Status}", name, may_fail=True).stdout
            expect(state == "installed", f"{path.name} needs {need}, which cameo was built without ({state})")
    shutil.rmtree(root, ignore_errors=True)
    for folder in ("var/lib/dpkg/updates", "var/lib/dpkg/info"):
        (root / folder).mkdir(parents=True)
    (root / "var/lib/dpkg/status").touch()
    # The packages' scripts run outside of the root: they only update the linker's cache.
    dpkg = ["dpkg", f"--root={root}", "--force-not-root", "--force-depends", "--force-script-chrootless", f"--log={made}/log"]
    env = {"PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}
    command(*dpkg, "--install", *found, env=env)
    library, = root.glob("usr/lib/**/libcameo.so.0.*.*")
    run = {"LD_LIBRARY_PATH": str(library.parent)}
    text = command(root / "usr/bin/cameo", "inspect", "--json", ROOT / "examples/digits/digits.onnx", env=run)
    expect(json.loads(text), text)
    for kind in ("static", "shared"):
        app = build("find_package", f"deb_{kind}", f"-DCMAKE_PREFIX_PATH={root}/usr", "-DCMAKE_BUILD_TYPE=Debug", f"-DKIND={kind}")
        runs(app / "app")
    command(*dpkg, "--purge", *names, env=env)
    left = [str(path) for path in root.glob("usr/**/*") if path.is_file()]
    expect(not left, f"left behind: {left}")


@check
def tarball(args):
    """The program in the archive runs in every folder to which it is unpacked."""
    archive, = packages(args, "TGZ", OUT / "builds" / "tgz")
    for place in ("here", "a place with spaces"):
        folder = OUT / "builds" / "tgz" / place
        folder.mkdir()
        command("tar", "-xzf", archive, "-C", folder, "--strip-components=1")
        text = command(folder / "bin" / "cameo", "inspect", "--json", ROOT / "examples/digits/digits.onnx")
        expect(json.loads(text), text)
    app = build("find_package", "tgz_app", f"-DCMAKE_PREFIX_PATH={folder}", "-DCMAKE_BUILD_TYPE=Debug", "-DKIND=static")
    runs(app / "app")


def install(args):
    shutil.rmtree(OUT, ignore_errors=True)
    (OUT / "builds").mkdir(parents=True)
    command("cmake", "--install", args.build, "--prefix", OUT / "first")
    (OUT / "first").rename(PREFIX)


def one(function, args):
    begin = time.monotonic()
    try:
        function(args)
        words = ""
    except Failed as failed:
        words = str(failed)
    return function.__name__, words, time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--tools", default=sys.executable)
    parser.add_argument("--python", default=os.environ.get("CAMEO_VENV_PYTHON", sys.executable),
                        help="a python3 that has onnx and onnxruntime")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    args.build = args.build.resolve()
    chosen = [c for c in CHECKS if not args.only or c.__name__ in args.only]
    if args.list:
        print("\n".join(c.__name__ for c in chosen))
        return 0
    install(args)
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        for done in concurrent.futures.as_completed([pool.submit(one, c, args) for c in chosen]):
            name, words, seconds = done.result()
            passed, failed = passed + (not words), failed + bool(words)
            print(f"{'FAILED' if words else 'passed'}  {name:<18} {seconds:6.1f} s", flush=True)
            if words:
                print(words, flush=True)
    print(f"{passed} passed, {failed} failed")
    return failed != 0 or passed == 0


if __name__ == "__main__":
    sys.exit(main())
