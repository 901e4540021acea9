#!/usr/bin/env python3
"""Tests cameo's backend with the Triton server of PyPI's nvidia-pytriton. Models of five kinds must give correct
results over HTTP and gRPC while models are unloaded and loaded, a file is corrupt, requests are invalid and clients
disconnect. The server's growth of memory is compared with that of a backend that only copies (identity.cpp), and the
speed with that of the same model in Triton's python backend with onnxruntime.

Usage: triton.py [--backend build/triton/libtriton_cameo.so] [--build build/release] [--requests 10000] [--only-cameo]
Needs a C++ compiler and the packages of tests/serving/requirements.txt. The server only listens on 127.0.0.1. CI runs
it with --only-cameo --requests 200. The last line of the output is: N passed, N failed.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import numpy
import onnx
import onnxruntime
import tritonclient.grpc
import tritonclient.http
from onnx import TensorProto, helper

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "program"))
from claims import conclude_with_counts, expect  # noqa: E402
from ports import free_port  # noqa: E402
OUT = ROOT / "build" / "serving"
DIGITS = ROOT / "examples" / "digits" / "digits.onnx"
PYTHON_MODEL = '''
import sys
sys.path.insert(0, {site!r})
import numpy, onnxruntime, os
import triton_python_backend_utils as utils

class TritonPythonModel:
    def initialize(self, args):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        path = os.path.join(args["model_repository"], args["model_version"], "model.onnx")
        self.session = onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"])

    def execute(self, requests):
        arrays = [utils.get_input_tensor_by_name(each, "image").as_numpy() for each in requests]
        made = self.session.run(None, {"image": numpy.concatenate(arrays)})
        responses, at = [], 0
        for array in arrays:
            rows = [each[at:at + len(array)] for each in made]
            responses.append(utils.InferenceResponse([utils.Tensor(n, r) for n, r in zip(("logits", "probabilities"), rows)]))
            at += len(array)
        return responses
'''


def write_config(folder, backend="cameo", more="", **parameters):
    lines = [f'backend: "{backend}"', more]
    lines += [f'parameters {{ key: "{key}" value {{ string_value: "{text}" }} }}' for key, text in parameters.items()]
    (folder / "config.pbtxt").write_text("\n".join(lines) + "\n")


def make_repository(args):
    """Makes models of five kinds, invalid ones, a slow one, and the model of digits for Triton's python backend."""
    shutil.rmtree(OUT, ignore_errors=True)
    folder = OUT / "models"

    def version(name):
        (folder / name / "1").mkdir(parents=True)
        return folder / name / "1"

    program = args.build / "cameo"
    shutil.copy(DIGITS, version("digits") / "model.onnx")
    subprocess.run([program, "convert", "--quiet", DIGITS, version("digits_ort") / "model.ort"], check=True)
    subprocess.run([program, "compile", "--quiet", "--ep", "frozen", "--embed", DIGITS, "--output",
                    version("digits_frozen") / "model.onnx"], check=True)
    package = version("digits_package") / "model"
    (package / "plain").mkdir(parents=True)
    shutil.copy(DIGITS, package / "plain" / "digits.onnx")
    (package / "manifest.json").write_text(json.dumps({"schema_version": "1.0", "components": {"part": {"variants": {"plain": {
        "ep": "CPUExecutionProvider", "executor_info": {"ort": {"model_file": "digits.onnx"}}}}}}}))
    value = helper.make_tensor_value_info
    texts = helper.make_graph([helper.make_node("StringConcat", ["a", "b"], ["y"])], "g",
                              [value("a", TensorProto.STRING, ["n"]), value("b", TensorProto.STRING, ["n"])],
                              [value("y", TensorProto.STRING, ["n"])])
    onnx.save(helper.make_model(texts, opset_imports=[helper.make_opsetid("", 20)], ir_version=9),
              str(version("texts") / "model.onnx"))
    body = helper.make_graph([helper.make_node("Identity", ["c"], ["d"]), helper.make_node("Sin", ["v"], ["w"])], "body",
                             [value("i", TensorProto.INT64, []), value("c", TensorProto.BOOL, []), value("v", 1, [1000])],
                             [value("d", TensorProto.BOOL, []), value("w", 1, [1000])])
    slow = helper.make_graph([helper.make_node("Squeeze", ["rounds"], ["m"]),
                              helper.make_node("Loop", ["m", "", "x"], ["y"], body=body)], "g",
                             [value("rounds", TensorProto.INT64, [1]), value("x", 1, [1000])], [value("y", 1, [1000])])
    onnx.save(helper.make_model(slow, opset_imports=[helper.make_opsetid("", 20)], ir_version=9),
              str(version("slow") / "model.onnx"))
    (version("corrupt") / "model.onnx").write_bytes(DIGITS.read_bytes()[:700])
    shutil.copy(DIGITS, version("misconfigured") / "model.onnx")
    for name in ("digits", "digits_ort", "digits_package", "texts", "corrupt"):
        write_config(folder / name, threads=1)
    shutil.copy(DIGITS, version("failing_warmup") / "model.onnx")
    warmup = """model_warmup [{ name: "zeros" batch_size: 4 inputs {
  key: "image" value { data_type: TYPE_FP32 dims: [1, 8, 8] zero_data: true } } }]"""
    write_config(folder / "digits", threads=1, more="instance_group [{ count: 2 kind: KIND_CPU }]\n" + warmup)
    write_config(folder / "failing_warmup", threads=1, memory_limit=1, more=warmup)
    write_config(folder / "digits_frozen", threads=1, providers="frozen")
    write_config(folder / "slow", threads=1, timeout_ms=200)
    write_config(folder / "misconfigured", color="red")
    version("identity")
    write_config(folder / "identity", "identity", more="""max_batch_size: 16
dynamic_batching {}
input [{ name: "x" data_type: TYPE_FP32 dims: [1, 8, 8] }]
output [{ name: "y" data_type: TYPE_FP32 dims: [1, 8, 8] }]""")
    if not args.only_cameo:
        (version("python_onnxruntime") / "model.py").write_text(PYTHON_MODEL.replace("{site!r}", repr(str(pathlib.Path(numpy.__file__).parent.parent))))
        shutil.copy(DIGITS, folder / "python_onnxruntime" / "1" / "model.onnx")
        write_config(folder / "python_onnxruntime", "python", more="""max_batch_size: 16
dynamic_batching {}
instance_group [{ count: 2 kind: KIND_CPU }]
input [{ name: "image" data_type: TYPE_FP32 dims: [1, 8, 8] }]
output [{ name: "logits" data_type: TYPE_FP32 dims: [10] }, { name: "probabilities" data_type: TYPE_FP32 dims: [10] }]""")
    return folder


def build_identity(target):
    target.parent.mkdir(parents=True)
    subprocess.run(["c++", "-std=c++20", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", f"-I{ROOT / 'src'}",
                    ROOT / "tests" / "serving" / "identity.cpp", "-o", target], check=True)


class Server:
    def __init__(self, args, models):
        import pytriton

        triton = pathlib.Path(pytriton.__file__).parent / "tritonserver"
        backends = OUT / "backends"
        (backends / "cameo").mkdir(parents=True)
        shutil.copy(args.backend, backends / "cameo" / "libtriton_cameo.so")
        build_identity(backends / "identity" / "libtriton_identity.so")
        shutil.copytree(triton / "backends" / "python", backends / "python")
        stub = triton / "python_backend_stubs" / f"{sys.version_info.major}.{sys.version_info.minor}" / "triton_python_backend_stub"
        if stub.exists():
            shutil.copy(stub, backends / "python" / "triton_python_backend_stub")
        self.http, self.grpc = f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"
        self.metrics = free_port()
        # Where the warm-up of a model fails, the server sometimes ends with a segmentation fault in its own destructor of the
        # model's instance (TritonBackendThread::StopBackendThread). It is then started again.
        for _ in range(6):
            if self.start(triton, models, backends):
                return
            if self.process.poll() != -signal.SIGSEGV:
                break
        self.process.kill()
        raise SystemExit((OUT / "server.log").read_text()[-3000:])

    def start(self, triton, models, backends):
        """Starts the server; returns whether it is live within two minutes."""
        self.log = (OUT / "server.log").open("w")
        self.process = subprocess.Popen(
            [triton / "bin" / "tritonserver", f"--model-repository={models}", f"--backend-directory={backends}",
             f"--http-port={self.http.split(':')[1]}", f"--grpc-port={self.grpc.split(':')[1]}", "--http-address=127.0.0.1",
             "--grpc-address=127.0.0.1", "--metrics-address=127.0.0.1", f"--metrics-port={self.metrics}",
             "--model-control-mode=explicit", "--load-model=*",
             "--exit-on-error=false"], stdout=self.log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
            env=dict(os.environ, LD_LIBRARY_PATH=str(triton.parent.parent / "nvidia_pytriton.libs")))
        begin = time.monotonic()
        while time.monotonic() - begin < 120 and self.process.poll() is None:
            try:
                urllib.request.urlopen(f"http://{self.http}/v2/health/live", timeout=1)
                return True
            except OSError:
                time.sleep(0.2)
        return False

    def send(self, path, body=None):
        """Returns the status and the body of a request."""
        data = None if body is None else json.dumps(body).encode()
        try:
            with urllib.request.urlopen(f"http://{self.http}/v2/{path}", data, timeout=30) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def resident(self):
        text = pathlib.Path(f"/proc/{self.process.pid}/statm").read_text()
        return int(text.split()[1]) * 4096

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(60)


def reference():
    """Returns images and their logits by onnxruntime."""
    session = onnxruntime.InferenceSession(str(DIGITS), providers=["CPUExecutionProvider"])
    images = numpy.random.default_rng(2).random((64, 1, 8, 8), numpy.float32)
    return images, session.run(["logits"], {"image": images})[0]


def client_of(server, kind):
    module = tritonclient.http if kind == "http" else tritonclient.grpc
    address = server.http if kind == "http" else server.grpc
    client = module.InferenceServerClient(address)

    def infer(model, arrays, output):
        given = []
        for name, array in arrays.items():
            kind_name = "BYTES" if array.dtype == object else {"float32": "FP32", "int64": "INT64"}[str(array.dtype)]
            one = module.InferInput(name, array.shape, kind_name)
            one.set_data_from_numpy(array)
            given.append(one)
        return client.infer(model, given, outputs=[module.InferRequestedOutput(output)]).as_numpy(output)

    return infer


def one_request(infer, kind, number, images, wanted):
    """Sends a random request; returns whether its results are correct."""
    chance = random.Random(number)
    if kind == "texts":
        made = infer("texts", {"a": numpy.array([b"a", str(number).encode()], object),
                               "b": numpy.array(["ü".encode(), b""], object)}, "y")
        return made.tolist() == ["aü".encode(), str(number).encode()]
    rows = [chance.randrange(len(images)) for _ in range(chance.choice((1, 1, 1, 2, 5)))]
    if kind == "identity":
        return numpy.array_equal(infer(kind, {"x": images[rows]}, "y"), images[rows])
    made = infer(kind, {"image": images[rows]}, "logits")
    return made.shape == (len(rows), 10) and numpy.allclose(made, wanted[rows], rtol=1e-4, atol=1e-5)


def load(server, kinds, count, concurrency=16):
    """Sends requests; returns the list of errors, the time of each request, and the time of all."""
    images, wanted = reference()
    local, taken, bad = threading.local(), [], []

    def work(number):
        name = ("http", "grpc")[number % 2]
        if not hasattr(local, name):
            setattr(local, name, client_of(server, name))
        begin = time.monotonic()
        try:
            if not one_request(getattr(local, name), kinds[number % len(kinds)], number, images, wanted):
                bad.append(f"{number}: wrong numbers")
        except Exception as error:  # noqa: BLE001 - each is counted
            bad.append(f"{number}: {error}")
        taken.append(time.monotonic() - begin)

    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(concurrency) as pool:
        list(pool.map(work, range(count)))
    return bad, taken, time.monotonic() - begin


def answers_and_memory(server, kinds, count):
    """Checks the results of requests, and that the server's memory grows by at most 2 MB more than for a backend that
    only copies. Both alternate, so that growth of Triton itself counts for both."""
    bad, seconds, grown = [], 0, {True: 0, False: 0}
    for models in (kinds, ["identity"]):  # first requests allocate more
        bad += load(server, models, min(count, 1000))[0]
    for _ in range(4):
        for is_cameo, models in ((True, kinds), (False, ["identity"])):
            before = server.resident()
            more, _, taken = load(server, models, count // 4)
            grown[is_cameo] += server.resident() - before
            bad += more
            seconds += taken * is_cameo
    expect(not bad, "all results are correct:", len(bad), bad[:3])
    expect(grown[True] <= max(grown[False], 0) + 2_000_000, "memory grows as for a backend that only copies:", grown)
    print(f"{count} requests in {seconds:.1f} s, the server grew by {grown[True] / 1e6:.1f} MB, and by "
          f"{grown[False] / 1e6:.1f} MB for as many requests that are only copied", flush=True)


def wrong_requests(server):
    status, words = server.send("models/corrupt")
    expect(status >= 400 and "corrupt" in words, "a corrupt file is an error of its model:", status, words)
    log = (OUT / "server.log").read_text()
    expect("failed to load 'corrupt' version 1" in log and "model.onnx" in log, "the log has the error of the file")
    expect("there is no option 'color'" in log, "an unknown parameter is an error, which lists the known ones")
    image = {"name": "image", "shape": [1, 1, 8, 7], "datatype": "FP32", "data": [0] * 56}
    status, words = server.send("models/digits/infer", {"inputs": [image]})
    expect(status == 400, "a wrong shape is refused:", status, words)
    status, words = server.send("models/digits/infer", {"inputs": [{**image, "name": "picture"}]})
    expect(status == 400, "a wrong name is refused:", status, words)
    slow = [{"name": "rounds", "shape": [1], "datatype": "INT64", "data": [10**9]},
            {"name": "x", "shape": [1000], "datatype": "FP32", "data": [1] * 1000}]
    begin = time.monotonic()
    status, words = server.send("models/slow/infer", {"inputs": slow})
    expect(status >= 400 and "DEADLINE_EXCEEDED" in words and time.monotonic() - begin < 5, "a run ends at its deadline:", words)
    client = tritonclient.grpc.InferenceServerClient(server.grpc)
    inputs = []
    for name, array in (("rounds", numpy.array([10**9])), ("x", numpy.ones(1000, numpy.float32))):
        one = tritonclient.grpc.InferInput(name, array.shape, {"int64": "INT64", "float32": "FP32"}[str(array.dtype)])
        one.set_data_from_numpy(array)
        inputs.append(one)
    errors = []
    call = client.async_infer("slow", inputs, lambda result, error: errors.append(error))
    time.sleep(0.05)
    call.cancel()  # as if the client had disconnected
    time.sleep(0.5)
    expect(errors and errors[0] is not None, "a request that is canceled gets an error:", errors)
    status, words = server.send("models/slow/infer", {"inputs": [{**slow[0], "data": [3]}, slow[1]]})
    expect(status == 200, "other requests are still served:", status, words[:200])


def statistics(server):
    _, text = server.send("models/digits/stats")
    stats = json.loads(text)["model_stats"][0]
    expect(stats["inference_stats"]["success"]["count"] > 0, "successes are counted")
    expect(0 < stats["execution_count"] <= stats["inference_count"], "executions are counted per batch:",
           stats["execution_count"], stats["inference_count"])


def warmup_and_metrics(server):
    """Checks features of Triton: a model whose warmup run fails is not ready, and metrics count inferences."""
    expect(server.send("models/failing_warmup/ready")[0] == 400, "a model whose warmup fails is not ready")
    _, models = server.send("repository/index", {})
    reason = next((each.get("reason", "") for each in json.loads(models) if each["name"] == "failing_warmup"), "")
    expect("OUT_OF_MEMORY" in reason, "the reason is the run's error:", reason)
    with urllib.request.urlopen(f"http://127.0.0.1:{server.metrics}/metrics", timeout=10) as answer:
        counted = re.findall(r'^nv_inference_count\{model="digits",.*\} (\d+)', answer.read().decode(), re.MULTILINE)
    expect(bool(counted) and int(counted[0]) > 0, "metrics count inferences of the model:", counted)


def reload_under_load(server, count):
    """Sends requests while their model and another one are unloaded and loaded."""
    done = threading.Event()

    def churn():
        while not done.is_set():
            for path in ("digits_ort/unload", "digits_ort/load", "digits/load"):
                server.send(f"repository/models/{path}", {})

    thread = threading.Thread(target=churn)
    thread.start()
    bad, _, _ = load(server, ["digits", "digits_frozen", "texts"], count)
    done.set()
    thread.join()
    expect(not bad, "all requests are answered while models are unloaded and loaded:", len(bad), bad[:3])
    server.send("repository/models/digits_ort/load", {})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", type=pathlib.Path, default=ROOT / "build" / "triton" / "libtriton_cameo.so")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--only-cameo", action="store_true")
    args = parser.parse_args()
    server = Server(args, make_repository(args))
    try:
        kinds = ["digits", "digits_ort", "digits_frozen", "digits_package", "texts"]
        for kind in kinds:
            expect(server.send(f"models/{kind}/ready")[0] == 200, f"{kind} is ready")
        answers_and_memory(server, kinds, args.requests)
        wrong_requests(server)
        reload_under_load(server, max(args.requests // 5, 100))
        statistics(server)
        warmup_and_metrics(server)
        if not args.only_cameo:
            print("| digits, 16 clients | requests in a second | p50 ms | p99 ms |\n|---|---|---|---|")
            for kind in ("digits", "python_onnxruntime"):
                bad, taken, seconds = load(server, [kind], max(args.requests // 4, 100))
                expect(not bad, f"{kind} answers:", bad[:3])
                taken.sort()
                print(f"| {kind} | {len(taken) / seconds:.0f} | {taken[len(taken) // 2] * 1000:.1f} | "
                      f"{taken[len(taken) * 99 // 100] * 1000:.1f} |", flush=True)
        expect(server.process.poll() is None, "the server still runs")
    finally:
        code = server.stop()
    expect(code == 0, "the server ends after unloading all models:", code)
    conclude_with_counts()


if __name__ == "__main__":
    main()
