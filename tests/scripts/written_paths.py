#!/usr/bin/env python3
"""Every command that writes a file respects what its path names: it follows links, writes into devices and pipes, and
refuses folders. WRITERS has one row for each place where the program takes the path of an output."""
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "program"))
from claims import conclude, expect  # noqa: E402
import onnx_bytes as ob  # noqa: E402

PROGRAM = os.environ.get("CAMEO_PROGRAM", "cameo")
HAS_FROZEN = b"\nfrozen " in b"\n" + subprocess.run([PROGRAM, "devices"], capture_output=True, check=True).stdout


def run(arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, timeout=120)


def made_cases(folder):
    """A conformance case that passes."""
    case = folder / "cases" / "add" / "test_data_set_0"
    case.mkdir(parents=True)
    (case.parent / "model.onnx").write_bytes(ob.one_node("Relu", ob.FLOAT, (1,)))
    (case / "input_0.pb").write_bytes(ob.floats("x0", (1,), [1]))
    (case / "output_0.pb").write_bytes(ob.floats("y", (1,), [1]))
    return folder / "cases"


def writers(folder, model):
    """The name of the file, the arguments that write it (by its path), and the bytes with which it begins."""
    cases = made_cases(folder)
    small = ("--random-inputs",)
    yield "page.html", lambda path: ["inspect", model, "--html", path], b"<!"
    yield "trace.json", lambda path: ["run", model, *small, "--profile", path], b"{"
    yield "warm.json", lambda path: ["bench", model, "--seconds", 0, "--profile", path], b"{"
    yield "y.npy", lambda path: ["run", model, *small, "--output-dir", path.parent], b"\x93NUMPY"
    yield "m.onnx", lambda path: ["convert", model, path], b"\x08"
    yield "m.ort", lambda path: ["convert", model, path], b""
    yield "o.onnx", lambda path: ["convert", model, path, "--optimize", "basic"], b"\x08"
    yield "saved.onnx", lambda path: ["run", model, *small, "--config", f"session.optimized_model_filepath={path}"], b"\x08"
    yield "list.hpp", lambda path: ["reduce", model, "-o", path], b""
    yield "ops.config", lambda path: ["reduce", model, "--ops-config", path], b""
    yield "report.json", lambda path: ["conformance", cases, "--json", path], b"["
    if HAS_FROZEN:
        yield "c.onnx", lambda path: ["compile", model, "-o", path, "--ep", "frozen", "--embed", "--force"], b"\x08"


def read_all(fifo, into):
    with open(fifo, "rb") as file:
        into.append(file.read())


def device_in(folder, name, minor):
    """A device that the test may overwrite. A user who may not create one is not root, and cannot harm those of the
    system."""
    try:
        os.mknod(folder / name, stat.S_IFCHR | 0o600, os.makedev(1, minor))
        return folder / name
    except PermissionError:
        if os.geteuid() == 0:
            sys.exit("root may not make a device here, and the test harms none of the system's")
        return pathlib.Path("/dev") / name


def check_writer(model, name, command, begins):
    with tempfile.TemporaryDirectory() as scratch:
        at = pathlib.Path(scratch)
        (at / "far").mkdir()

        def leaves_nothing_else():
            expect(not list(at.rglob("*.tmp")), name, "leaves no file behind", list(at.rglob("*.tmp")))

        def clean():
            (at / name).rmdir() if (at / name).is_dir() and not (at / name).is_symlink() else (at / name).unlink()

        # A symbolic link to an existing file, and one to a missing file.
        for old in (b"old", None):
            target = at / "far" / ("target" if old else "new")
            if old:
                target.write_bytes(old)
            (at / name).symlink_to(f"far/{target.name}")
            done = run(command(at / name))
            expect(done.returncode == 0, name, "is written through a link", done)
            expect((at / name).is_symlink() and not target.is_symlink(), name, "stays a link")
            content = target.read_bytes() if target.exists() else b""
            expect(content not in (b"", b"old") and content.startswith(begins), name, "is where the link leads", content[:20])
            clean()
        # A pipe.
        os.mkfifo(at / name)
        got = []
        reader = threading.Thread(target=read_all, args=(at / name, got), daemon=True)
        reader.start()
        done = run(command(at / name))
        reader.join(timeout=60)
        expect(done.returncode == 0, name, "is written into a pipe", done)
        expect(stat.S_ISFIFO(os.lstat(at / name).st_mode), name, "stays a pipe")
        expect(got and got[0] and got[0].startswith(begins), name, "goes through the pipe", got[:1])
        clean()
        # Devices, by themselves and behind a link.
        for device, minor, code in (("full", 7, 1), ("null", 3, 0)):
            node = device_in(at / "far", device, minor)
            for link in (True, False):
                if not link and node.parent == pathlib.Path("/dev"):
                    continue  # its name has not the extension that a writer needs
                (at / name).symlink_to(node) if link else node.rename(at / name)
                before = os.lstat(at / name)
                done = run(command(at / name))
                expect(done.returncode == code, name, "is written into", device, done)
                expect(code == 0 or b"error: FAIL: " in done.stderr and b"No space left" in done.stderr, name, "reports the full device", done)
                expect(b"18446744073709551615" not in done.stdout, name, "claims no size of a device", done.stdout)
                after = os.lstat(at / name)
                expect((before.st_ino, before.st_mode) == (after.st_ino, after.st_mode), name, "leaves", device, "as it is")
                if link:
                    expect(stat.S_ISCHR(os.stat(at / name).st_mode), name, "leaves", device, "behind the link as it is")
                clean()
        # A folder, and a link to one.
        for link in (False, True):
            (at / "far" / "folder").mkdir(exist_ok=True)
            (at / name).symlink_to("far/folder") if link else (at / name).mkdir()
            done = run(command(at / name))
            expect(done.returncode == 1 and b"error: " in done.stderr, name, "refuses a folder", done)
            expect((at / name).is_dir() and not os.listdir(at / name), name, "leaves the folder as it is")
            clean()
        leaves_nothing_else()


def check_standard_output(folder, model):
    """A page written to standard output, which is a file: it follows what the file has already, and precedes the text.
    The path is a link of this test, like /dev/stdout, which a test must not destroy."""
    page = folder / "stdout"
    page.symlink_to("/proc/self/fd/1")
    with tempfile.TemporaryFile() as out:
        out.write(b"before\n")
        out.flush()
        done = subprocess.run([PROGRAM, "inspect", model, "--html", page, "--quiet"], stdout=out, timeout=120)
        out.seek(0)
        text = out.read()
    expect(done.returncode == 0 and text.startswith(b"before\n<!"), "the page is appended to standard output", text[:40])
    expect(b"</html>\nmodel " in text, "the page is whole, and the text follows it", text[-400:])
    expect(page.is_symlink(), "the link stays")


def check_share(folder, model):
    """If a later model fails, `cameo share` removes what it wrote, and nothing else."""
    bad = folder / "bad.onnx"
    bad.write_bytes(b"no model")
    link = folder / f"{model.stem}_ctx.onnx"
    link.symlink_to("kept.onnx")
    done = run(["share", "--ep", "frozen", "--force", f"{model},{bad}"])
    expect(done.returncode == 1, "share fails with bytes that are not a model", done)
    expect(link.is_symlink() and not (folder / "kept.onnx").exists(), "share removes the model, and leaves the link")


with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    model = folder / "model.onnx"
    model.write_bytes(ob.one_node("Relu", ob.FLOAT, (2, 3)))
    for row in writers(folder, model):
        check_writer(model, *row)
    check_standard_output(folder, model)
    if HAS_FROZEN:
        check_share(folder, model)
conclude()
