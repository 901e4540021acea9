#!/usr/bin/env python3
"""Tests examples/serving/ray_serve.py with Ray Serve: two replicas answer requests with correct results while one of
them is killed, and clients only have to repeat the requests that the killed replica had started. Then Ray Data runs the
same model on a data set.

Usage: ray.py [--requests 2000]
Needs cameo (PYTHONPATH=build/python/site) and the packages of tests/serving/ray_requirements.txt. CI does not run it.
The last line of the output is: N passed, N failed.
"""
import argparse
import concurrent.futures
import http.client
import json
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:] = [each for each in sys.path if pathlib.Path(each or ".").resolve() != HERE]  # this file is named ray
ROOT = HERE.parent.parent
os.environ["PYTHONPATH"] = f"{ROOT / 'examples' / 'serving'}:{os.environ.get('PYTHONPATH', '')}"
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
sys.path[:0] = [str(ROOT / "examples" / "serving"), str(ROOT / "tests" / "program"), str(ROOT / "tests" / "python")]

import models  # noqa: E402
import numpy  # noqa: E402
import onnx  # noqa: E402
import ray  # noqa: E402
import ray_serve  # noqa: E402
from claims import conclude_with_counts, expect  # noqa: E402
from ray import serve  # noqa: E402

import cameo  # noqa: E402

DIGITS = ROOT / "examples" / "digits" / "digits.onnx"


def send_arrays(port, arrays, model):
    """Returns the status, and the first output or the error's message."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    body = {"inputs": ray_serve.body_of(model, arrays)["outputs"]}  # requests and responses have the same format
    connection.request("POST", "/", json.dumps(body), {"serve_multiplexed_model_id": model})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    if answer.status != 200:
        return answer.status, text
    output = json.loads(text)["outputs"][0]
    return 200, numpy.array(output["data"], numpy.float32).reshape(output["shape"])


def send(port, images, model="digits"):
    return send_arrays(port, {"image": images}, model)


def ancestors(pid):
    while pid > 1:
        try:
            pid = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            return
        yield pid


def replicas():
    """Returns the process ids of the replicas that descend from this script."""
    made = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if b"ServeReplica:default:Models" in path.read_bytes() and os.getpid() in ancestors(int(path.parent.name)):
                made.append(int(path.parent.name))
        except OSError:  # the process has ended
            pass
    return made


def serve_and_kill(port, count):
    images = numpy.random.default_rng(1).random((32, 1, 8, 8), numpy.float32)
    wanted = cameo.Session(DIGITS).run({"image": images})["logits"]
    again, bad, done = [0], [], threading.Event()

    def work(number):
        rows = [(number * 7 + i) % len(images) for i in range(1 + number % 3)]
        for _ in range(20):
            try:
                status, made = send(port, images[rows], ("digits", "other")[number % 2])
            except OSError as error:
                status, made = 0, str(error)
            if status == 200:
                if made.shape != (len(rows), 10) or not numpy.allclose(made, wanted[rows], rtol=1e-4, atol=1e-5):
                    bad.append(f"{number}: wrong numbers")
                return
            again[0] += 1
            time.sleep(0.05)
        bad.append(f"{number}: {made}")

    def kill():
        done.wait(2)
        found = replicas()
        expect(len(found) == 2, "there are two replicas:", found)
        if found:
            os.kill(found[0], signal.SIGKILL)  # a child of the Ray that this script started

    killer = threading.Thread(target=kill)
    killer.start()
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        list(pool.map(work, range(count)))
    done.set()
    killer.join()
    expect(not bad, "each request has correct results:", len(bad), bad[:3])
    print(f"{count} requests in {time.monotonic() - begin:.1f} s, {again[0]} repeated", flush=True)
    expect(again[0] <= 64 + 16, "only requests that the replica had started are repeated:", again[0])
    status, words = send(port, images[:1, :, :, :7])
    expect(status == 400 and "INVALID_ARGUMENT" in words, "a wrong shape is refused:", status, words)
    status, words = send(port, images[:1], "../digits")
    expect(status == 200, "a model's name cannot leave the folder:", status, words)
    status, words = send(port, images[:1], "absent")
    expect(status == 404 and "'absent'" in words and "/" not in words and ".onnx" not in words,
           "an unknown model is 404, without a path of the server:", status, words)


def data(folder):
    """Runs a data set of four blocks with two actors, each of which has a session."""
    images = numpy.random.default_rng(1).random((4, 250, 1, 8, 8), numpy.float32)
    made = ray.data.from_numpy(list(images)).rename_columns({"data": "image"}).map_batches(
        ray_serve.BatchModel, fn_constructor_args=[str(folder / "digits.onnx")], compute=ray.data.ActorPoolStrategy(size=2),
        batch_size=100).take_all()
    wanted = cameo.Session(DIGITS).run({"image": images.reshape(-1, 1, 8, 8)})["logits"]
    of_image = {row["image"].tobytes(): row["logits"] for row in made}  # the order of blocks is arbitrary
    expect(len(made) == 1000 and all(numpy.allclose(of_image[image.tobytes()], row, rtol=1e-4, atol=1e-5) for image, row in
                                     zip(images.reshape(-1, 1, 8, 8), wanted, strict=True)),
           "Ray Data gives the results of a session:", len(made))


def end_while_it_runs(port, folder):
    """Checks that a deployment that is deleted answers the requests that have started."""
    session, inputs = cameo.Session(folder / "slow.onnx", threads=1), {"m": numpy.array(500), "x": numpy.ones(1000, numpy.float32)}
    taken = 0.0
    while taken < 0.3:
        inputs["m"] *= 2
        begin = time.monotonic()
        session.run(inputs)
        taken = time.monotonic() - begin
    inputs["m"] = numpy.array(int(inputs["m"] * 2 / taken))  # iterations that take two seconds
    answers = []
    thread = threading.Thread(target=lambda: answers.append(send_arrays(port, inputs, "slow")))
    thread.start()
    time.sleep(0.4)
    expect(not answers, "the request is still running:", [status for status, _ in answers])
    serve.delete("default")
    thread.join()
    expect(answers[0][0] == 200 and answers[0][1].shape == (1000,), "the request that has started is answered:", answers[0][0])
    expect(not replicas(), "the replicas then end:", replicas())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=2000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for model in ("digits", "other"):
            shutil.copy(DIGITS, folder / f"{model}.onnx")
        onnx.save(models.endless(), str(folder / "slow.onnx"))
        ray.init(num_cpus=4, _node_ip_address="127.0.0.1", include_dashboard=False, logging_level="ERROR", log_to_driver=False)
        serve.start(http_options={"host": "127.0.0.1", "port": 18123})
        serve.run(ray_serve.app({"folder": str(folder)}), logging_config={"log_level": "ERROR"})
        try:
            serve_and_kill(18123, args.requests)
            data(folder)
            end_while_it_runs(18123, folder)
        finally:
            serve.shutdown()
            ray.shutdown()
    conclude_with_counts()


if __name__ == "__main__":
    main()
