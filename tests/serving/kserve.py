#!/usr/bin/env python3
"""Tests examples/serving/kserve_model.py with KServe: requests over HTTP and gRPC get correct results, requests that
arrive together become one run, invalid requests get an error message, and a server that is ended by SIGTERM answers the
requests that it has started.

Usage: kserve.py [--requests 2000]
Needs cameo (PYTHONPATH=build/python/site) and the packages of tests/serving/kserve_requirements.txt. The server only
listens on 127.0.0.1. CI does not run it. The last line of the output is: N passed, N failed.
"""
import argparse
import asyncio
import http.client
import json
import logging
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:] = [each for each in sys.path if pathlib.Path(each or ".").resolve() != HERE]  # this file is named kserve
ROOT = HERE.parent.parent

import kserve  # noqa: E402
import numpy  # noqa: E402

import cameo  # noqa: E402

sys.path[:0] = [str(ROOT / "examples" / "serving"), str(ROOT / "tests" / "program")]
import batches  # noqa: E402
from claims import conclude_with_counts, expect, failed  # noqa: E402
from ports import free_port  # noqa: E402

DIGITS = ROOT / "examples" / "digits" / "digits.onnx"
# Starts KServe on 127.0.0.1 only, because it listens on all addresses by default, and prints the size of each run.
ON_LOOPBACK = """
import runpy, sys, grpc.aio, uvicorn
config, server = uvicorn.Config, grpc.aio.server
uvicorn.Config = lambda *words, **more: config(*words, **{**more, "host": "127.0.0.1"})
def of_loopback(*words, **more):
    made = server(*words, **more)
    add = made.add_insecure_port
    made.add_insecure_port = lambda address: add(address.replace("[::]", "127.0.0.1"))
    return made
grpc.aio.server = of_loopback
import cameo
run_async = cameo.Session.run_async
async def counted(self, inputs, **how):
    print("run of", len(next(iter(inputs.values()))), flush=True)
    return await run_async(self, inputs, **how)
cameo.Session.run_async = counted
sys.path.insert(0, sys.argv[1])
sys.argv[:2] = ["kserve_model.py"]
runpy.run_module("kserve_model", run_name="__main__")
"""


def slow_model(path):
    """Saves a model: y is the result of a Loop of `rounds` iterations over x."""
    from onnx import TensorProto, helper, save

    value = helper.make_tensor_value_info
    body = helper.make_graph([helper.make_node("Identity", ["c"], ["d"]), helper.make_node("Sin", ["v"], ["w"])], "body",
                             [value("i", TensorProto.INT64, []), value("c", TensorProto.BOOL, []), value("v", 1, [1000])],
                             [value("d", TensorProto.BOOL, []), value("w", 1, [1000])])
    graph = helper.make_graph([helper.make_node("Squeeze", ["rounds"], ["m"]),
                               helper.make_node("Loop", ["m", "", "x"], ["y"], body=body)], "g",
                              [value("rounds", TensorProto.INT64, [1]), value("x", 1, [1000])], [value("y", 1, [1000])])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), str(path))


def texts_model(path):
    from onnx import TensorProto, helper, save

    value = helper.make_tensor_value_info
    graph = helper.make_graph([helper.make_node("StringConcat", ["a", "a"], ["y"])], "g",
                              [value("a", TensorProto.STRING, ["n"])], [value("y", TensorProto.STRING, ["n"])])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), str(path))


class Server:
    def __init__(self, models, log):
        self.http, self.grpc, self.log = free_port(), free_port(), log
        self.process = subprocess.Popen(
            [sys.executable, "-c", ON_LOOPBACK, ROOT / "examples" / "serving", f"--model_dir={models}",
             f"--http_port={self.http}", f"--grpc_port={self.grpc}", "--enable_docs_url=false"],
            stdout=log.open("w"), stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        begin = time.monotonic()
        while time.monotonic() - begin < 60 and self.process.poll() is None:
            try:
                if self.send("health/ready")[0] == 200:
                    return
            except OSError:  # the server does not listen yet
                pass
            time.sleep(0.2)
        self.process.kill()
        raise SystemExit(log.read_text()[-3000:])

    def send(self, path, inputs=None):
        """Returns the status and the body of a request over HTTP."""
        connection = http.client.HTTPConnection("127.0.0.1", self.http, timeout=30)
        body = None if inputs is None else json.dumps({"inputs": inputs})
        connection.request("POST" if body else "GET", f"/v2/{path}", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, json.loads(text) if text else None


def image_input(images):
    return [{"name": "image", "shape": list(images.shape), "datatype": "FP32", "data": images.ravel().tolist()}]


async def infer_by_grpc(client, images, model="digits"):
    given = kserve.InferInput("image", list(images.shape), "FP32")
    given.set_data_from_numpy(images)
    made = await client.infer(kserve.InferRequest(model, [given]))
    return {each.name: each.as_numpy() for each in made.outputs}["logits"]


async def by_grpc(server, count, images, wanted):
    """Sends requests over gRPC, 16 at a time, and returns a list of errors."""
    bad, free = [], asyncio.Semaphore(16)
    client = kserve.InferenceGRPCClient(f"127.0.0.1:{server.grpc}")

    async def one(number):
        rows = [(number * 5 + i) % len(images) for i in range(1 + number % 3)]
        async with free:
            try:
                made = await infer_by_grpc(client, images[rows])
                if made.shape != (len(rows), 10) or not numpy.allclose(made, wanted[rows], rtol=1e-4, atol=1e-5):
                    bad.append(f"{number}: wrong numbers")
            except Exception as error:  # noqa: BLE001 - each is counted
                bad.append(f"{number}: {error}")

    await asyncio.gather(*(one(number) for number in range(count)))
    try:
        await infer_by_grpc(client, images[:1, :, :, :7])
        bad.append("a wrong shape was not refused")
    except Exception as error:  # noqa: BLE001 - the message is checked
        expect("INVALID_ARGUMENT" in str(error), "gRPC reports a wrong shape:", error)
    await client.close()
    return bad


def by_http(server, count, images, wanted):
    bad, numbers, lock = [], iter(range(count)), threading.Lock()

    def work():
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            rows = [(number * 7 + i) % len(images) for i in range(1 + number % 3)]
            try:
                status, body = server.send("models/digits/infer", image_input(images[rows]))
                made = numpy.array({each["name"]: each["data"] for each in body["outputs"]}["logits"]).reshape(len(rows), 10)
                if status != 200 or not numpy.allclose(made, wanted[rows], rtol=1e-4, atol=1e-5):
                    bad.append(f"{number}: {status}, wrong numbers")
            except Exception as error:  # noqa: BLE001 - each is counted
                bad.append(f"{number}: {error}")

    threads = [threading.Thread(target=work) for _ in range(16)]
    [each.start() for each in threads]
    [each.join() for each in threads]
    return bad


def wrong_requests(server, images):
    status, body = server.send("models/digits")
    expect(status == 200 and body["inputs"] == [{"name": "image", "datatype": "FP32", "shape": [-1, 1, 8, 8]}],
           "the metadata have the model's inputs:", status, body)
    for inputs, words in ((image_input(images[:1, :, :, :7]), "INVALID_ARGUMENT"),
                          ([{**image_input(images[:1])[0], "name": "picture"}], "picture"),
                          ([{**image_input(images[:1])[0], "shape": [2, 1, 8, 8]}], "elements")):
        status, body = server.send("models/digits/infer", inputs)
        expect(status == 400 and words in body["error"], "an invalid request gets an error message:", status, body)
    expect(server.send("models/absent/infer", image_input(images[:1]))[0] == 404, "an unknown model is an error 404")
    status, body = server.send("models/texts/infer", [{"name": "a", "shape": [2], "datatype": "BYTES", "data": ["ü", ""]}])
    expect(status == 200 and body["outputs"][0]["data"] == ["üü", ""], "strings are inputs and outputs:", status, body)
    begin = time.monotonic()
    status, body = server.send("models/slow/infer", slow_inputs(10**9))
    expect(status == 500 and "DEADLINE_EXCEEDED" in body["error"] and time.monotonic() - begin < 20,
           "a run ends at its deadline:", status, body)


def slow_inputs(rounds):
    return [{"name": "rounds", "shape": [1], "datatype": "INT64", "data": [rounds]},
            {"name": "x", "shape": [1000], "datatype": "FP32", "data": [1] * 1000}]


def rounds_of_a_second(server):
    """Returns the number of iterations of the slow model that take about a second."""
    rounds = 1000
    while True:
        begin = time.monotonic()
        server.send("models/slow/infer", slow_inputs(rounds))
        taken = time.monotonic() - begin
        if taken > 0.2:
            return int(rounds / taken)
        rounds *= 4


def end_while_it_runs(server):
    """Checks that requests that have started over both protocols are answered after SIGTERM, and that the server
    ends."""
    rounds, answers = rounds_of_a_second(server), {}

    async def by_grpc():
        client = kserve.InferenceGRPCClient(f"127.0.0.1:{server.grpc}")
        given = [kserve.InferInput("rounds", [1], "INT64", [rounds]), kserve.InferInput("x", [1000], "FP32", [1.0] * 1000)]
        made = await client.infer(kserve.InferRequest("slow", given))
        answers["grpc"] = len(made.outputs[0].as_numpy())
        await client.close()

    def by_http():
        status, body = server.send("models/slow/infer", slow_inputs(rounds))
        answers["http"] = len(body["outputs"][0]["data"]) if status == 200 else (status, body)

    threads = [threading.Thread(target=by_http), threading.Thread(target=asyncio.run, args=(by_grpc(),))]
    [each.start() for each in threads]
    time.sleep(0.4)
    begin = time.monotonic()
    server.process.send_signal(signal.SIGTERM)
    [each.join() for each in threads]
    expect(answers == {"http": 1000, "grpc": 1000}, "requests that have started are answered:", answers)
    try:
        code = server.process.wait(30)
    except subprocess.TimeoutExpired:
        code = "none after 30 s"
    expect(code in (0, -signal.SIGTERM), "the server ends by itself:", code)
    print(f"the server ended {time.monotonic() - begin:.1f} s after SIGTERM", flush=True)


def joining():
    """Checks which requests become one run, and that only an invalid request gets an error."""
    from onnx import TensorProto, helper, numpy_helper

    value = helper.make_tensor_value_info
    rows = numpy_helper.from_array(numpy.arange(4, dtype=numpy.float32), "rows")

    def session_of(size):
        graph = helper.make_graph([helper.make_node("Gather", ["rows", "x"], ["y"])], "g", [value("x", TensorProto.INT64, size)],
                                  [value("y", 1, size)], [rows])
        made = cameo.Session(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), threads=1)
        made.sizes = []
        run = made.run_async

        async def counted(inputs, **how):
            made.sizes.append(len(inputs["x"]))
            return await run(inputs, **how)

        made.run_async = counted
        return made

    def answers(session, *indices):
        given = [{"x": numpy.array(each)} for each in indices]
        made = asyncio.run(batches.run_together(session, given, 5))
        return [each if isinstance(each, cameo.Error) else each["y"].tolist() for each in made]

    open_size, fixed_size = session_of(["n", 1]), session_of([1, 1])
    made = answers(open_size, [[1]], [[2], [3]])
    expect((made, open_size.sizes) == ([[[1]], [[2], [3]]], [3]), "requests of one shape are one run:", made, open_size.sizes)
    made = answers(open_size, [[1]], [[9]], [[3]])
    expect((made[0], made[2]) == ([[1]], [[3]]) and isinstance(made[1], cameo.Error),
           "only an invalid request gets an error:", made)
    made = answers(fixed_size, [[1]], [[2]])
    expect((made, fixed_size.sizes) == ([[[1]], [[2]]], [1, 1]), "a model with a fixed size runs requests one by one:", made)
    made = answers(open_size, [[1]], [1], [[0]])
    expect((made[0], made[2]) == ([[1]], [[0]]) and isinstance(made[1], cameo.Error),
           "a request of another rank is a separate run:", made)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=2000)
    args = parser.parse_args()
    images = numpy.random.default_rng(3).random((32, 1, 8, 8), numpy.float32)
    wanted = cameo.Session(DIGITS).run({"image": images})["logits"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shutil.copy(DIGITS, folder / "digits.onnx")
        slow_model(folder / "slow.onnx")
        texts_model(folder / "texts.onnx")
        server = Server(folder, folder / "log")
        try:
            for kind, work in (("HTTP", lambda: by_http(server, args.requests // 2, images, wanted)),
                               ("gRPC", lambda: asyncio.run(by_grpc(server, args.requests // 2, images, wanted)))):
                begin = time.monotonic()
                bad = work()
                expect(not bad, f"each request over {kind} has correct results:", len(bad), bad[:3])
                print(f"{args.requests // 2} requests over {kind} in {time.monotonic() - begin:.1f} s", flush=True)
            runs = server.log.read_text().count("run of ")
            expect(0 < runs < args.requests * 3 // 4, "requests that arrive together are one run:", runs)
            print(f"{args.requests} requests were {runs} runs", flush=True)
            wrong_requests(server, images)
            joining()
            end_while_it_runs(server)
        finally:
            if server.process.poll() is None:
                server.process.kill()
            if failed():
                print(server.log.read_text()[-3000:])
    conclude_with_counts()


if __name__ == "__main__":
    logging.disable()  # KServe's client logs each error; this test counts them
    main()
