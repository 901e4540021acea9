"""`cameo devices` lists the devices of this machine, and `--policy` of other commands chooses among exactly these."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "program"))
from claims import conclude, expect  # noqa: E402

CAMEO = os.environ["CAMEO_PROGRAM"]
SOURCE = pathlib.Path(os.environ["CAMEO_SOURCE_DIR"])
DIGITS = SOURCE / "examples/digits/digits.onnx"
COMPILED = SOURCE / "tests/data/epctx/two_partitions_external"  # compiled by ONNX Runtime, with OpenVINO
KINDS = ["npu", "gpu", "cpu"]  # in the order in which the default policy prefers them


def cameo(*arguments, **environment):
    return subprocess.run([CAMEO, *map(str, arguments)], capture_output=True, text=True,
                          env={**os.environ, **environment})


def object_of(done):
    expect(done.returncode == 0 and not done.stderr, f"{done.args}: {done.stderr}")
    return json.loads(done.stdout or "{}")


def run(*arguments):
    return object_of(cameo("run", DIGITS, "--random-inputs", "--json", "--quiet", *arguments))


def check_list():
    providers = object_of(cameo("devices", "--json"))["providers"]
    names = [p["name"] for p in providers]
    expect(names == object_of(cameo("ops", "--json"))["providers"], f"all providers, in their order: {names}")
    expect(names[-1] == "cpu" and [p["fallback"] for p in providers] == [False] * (len(names) - 1) + [True], providers)
    cpu = providers[-1]
    expect(cpu["ep"] == "CPUExecutionProvider" and cpu["vendor"] == "cameo", cpu)
    expect([o["key"] for o in cpu["options"]] == ["math"], cpu)
    device, = cpu["devices"]
    expect(device["kind"] == "cpu" and device["options"] == {}, device)
    expect({"version", "instruction_set"} <= set(device["metadata"]), device)
    text = cameo("devices").stdout
    for p in providers:
        expect(f"{p['name']}  {p['ep']}, by {p['vendor']}" in text, text)
        for d in p["devices"]:
            expect(f"  device {d['name']}: {d['kind']}, {d['vendor']}" in text, text)
            keys = {o["key"] for o in p["options"]}
            expect(set(d["options"]) <= keys, f"{d} has options of {keys}")
        for o in p["options"]:
            expect(f"  option {o['key']} (" in text and o["meaning"] in text, text)
            # Each listed option can be set, and the provider accepts its listed default.
            run("--ep", p["name"], "--config", f"ep.{p['name']}.{o['key']}={o['default']}")
    expect(object_of(cameo("devices", "--ep", "CPUExecutionProvider", "--json"))["providers"] == [cpu], "one of them")
    done = cameo("devices", "--ep", "nobody")
    expect(done.returncode == 1 and done.stderr.startswith("error: INVALID_ARGUMENT: "), done.stderr)
    return providers


def check_preference(providers):
    devices = object_of(cameo("devices", "--preference", "--json"))["devices"]
    ranks = [KINDS.index(d["kind"]) for d in devices]
    expect(ranks == sorted(ranks) and devices[-1]["provider"] == "cpu", devices)
    listed = [(p["name"], d["name"]) for p in providers for d in p["devices"]]
    expect(sorted((d["provider"], d["name"]) for d in devices) == sorted(listed), devices)
    lines = cameo("devices", "--preference").stdout.splitlines()
    expect([line.split(" ")[0] for line in lines] == [str(i) for i in range(len(devices))], lines)
    return devices


def check_policies(devices):
    def wanted(kind):
        first = [d["provider"] for d in devices if d["kind"] == kind][:1] if kind != "cpu" else []
        cpu = next(d["provider"] for d in devices if d["kind"] == "cpu")
        return list(dict.fromkeys([*first, cpu, "cpu"]))

    for policy, kind in [("default", "cpu"), ("prefer_npu", "npu"), ("max_performance", "gpu")]:
        expect(run("--policy", policy)["eps"] == wanted(kind), f"{policy}: {wanted(kind)}")
    with tempfile.TemporaryDirectory() as folder:
        for command in [["inspect", DIGITS], ["bench", DIGITS, "--random-inputs", "--seconds", "0"],
                        ["compile", DIGITS, "-o", pathlib.Path(folder) / "m.onnx"]]:
            object_of(cameo(*command, "--policy", "prefer_cpu", "--json", "--quiet"))
    for wrong in [["--policy", "best"], ["--policy"], ["--policy", "default", "--ep", "cpu"]]:
        done = cameo("run", DIGITS, "--random-inputs", *wrong)
        expect(done.returncode == 2 and not done.stdout, f"{wrong} is wrong usage: {done.stderr}")
    # Without the fallback, a provider list that a policy chose is empty if it was the fallback alone.
    done = cameo("run", DIGITS, "--random-inputs", "--policy", "default", "--config",
                 "session.disable_cpu_ep_fallback=1")
    if wanted("cpu") == ["cpu"]:
        expect(done.returncode == 1 and done.stderr.startswith("error: FAIL: "), done.stderr)


def check_provider_without_its_library():
    done = cameo("devices", "--json", CAMEO_OPENVINO_LIBRARIES="/nowhere")
    mute = [p for p in object_of(done)["providers"] if p["devices"] is None]
    for p in mute:
        expect("OpenVINO's library was not found; set CAMEO_OPENVINO_LIBRARIES to the folder of " in p["error"], p)
        asked = cameo("run", DIGITS, "--random-inputs", "--ep", p["name"], CAMEO_OPENVINO_LIBRARIES="/nowhere")
        expect(asked.returncode == 1 and asked.stderr.startswith("error: EP_FAIL: ") and p["error"] in asked.stderr,
               asked.stderr)
        expect("can't list its devices" in cameo("devices", CAMEO_OPENVINO_LIBRARIES="/nowhere").stdout, "in words, too")
    done = cameo("run", DIGITS, "--random-inputs", "--policy", "default", "--quiet",
                 CAMEO_OPENVINO_LIBRARIES="/nowhere")
    expect(done.returncode == 0, f"a policy works without it: {done.stderr}")
    return len(mute)


def check_compiled_for_another_provider(providers):
    """The error names the provider that runs the compiled model if the program has it, and else reports that it has
    none."""
    done = cameo("run", COMPILED / "model_ctx.onnx", "--random-inputs", "--quiet")
    able = [name for name in ("openvino", "ort_plugin") if name in names_of(providers)]
    advice = (f"add the provider '{able[0]}', which does (--ep {able[0]})" if able else
              "use a program that was built with a provider for it")
    expect(done.returncode == 1 and done.stderr.startswith("error: NOT_IMPLEMENTED: "), done.stderr)
    for words in ("was compiled for source 'OpenVINOExecutionProvider'", advice):
        expect(words in done.stderr, f"{words}: {done.stderr}")


def check_auto(providers):
    """OpenVINO runs what its AUTO device compiled, but cannot export it."""
    if not any(p["name"] == "openvino" and p["devices"] for p in providers):
        return
    auto = ["--ep", "openvino", "--ep", "cpu", "--config", "ep.openvino.device_type=AUTO", "--quiet"]
    done = cameo("run", COMPILED / "model.onnx", "--random-inputs", *auto)
    expect(done.returncode == 0, done.stderr)
    with tempfile.TemporaryDirectory() as folder:
        done = cameo("compile", COMPILED / "model.onnx", "-o", f"{folder}/out.onnx", *auto)
        expect(done.returncode == 1 and not os.listdir(folder), f"nothing is written: {os.listdir(folder)}")
    for words in ("error: EP_FAIL: ", "device_type is AUTO, for which OpenVINO writes no contexts; name one device, as in "
                  "ep.openvino.device_type=CPU"):
        expect(words in done.stderr, f"{words}: {done.stderr}")


def names_of(providers):
    return [p["name"] for p in providers]


providers = check_list()
check_compiled_for_another_provider(providers)
check_auto(providers)
devices = check_preference(providers)
check_policies(devices)
expect(check_provider_without_its_library() == sum(p["name"] == "openvino" for p in providers), "who needs a library")
conclude()
