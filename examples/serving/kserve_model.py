"""Serves models with KServe's model server and cameo.Session: the Open Inference Protocol over HTTP and gRPC, with
batching, a time limit for each run, and a shutdown that answers all requests that have started. Needs cameo, numpy and
kserve.

    python kserve_model.py --model_dir=/mnt/models          # /mnt/models/digits.onnx is served as the model "digits"

The default of --model_dir is the folder where KServe mounts the models of an InferenceService with a custom predictor.
"""

from __future__ import annotations

import argparse
import asyncio
import pathlib
import uuid
from typing import Any

import kserve
from batches import Arrays, run_together
from kserve.errors import InferenceError, InvalidInput
from kserve.utils.numpy_codec import from_np_dtype

import cameo

NUMBERS = {"float": "FP32", "double": "FP64", "float16": "FP16", "bool": "BOOL", "string": "BYTES"}


def described(infos: tuple[Any, ...]) -> list[dict[str, Any]]:
    """Describes inputs or outputs as the protocol requires; an unknown size is -1."""
    return [
        {
            "name": each.name,
            "datatype": NUMBERS.get(each.dtype, str(each.dtype).upper()),
            "shape": [size if isinstance(size, int) else -1 for size in each.shape or ()],
        }
        for each in infos
    ]


class CameoModel(kserve.Model):
    """A model of a file. Requests that arrive within `wait` seconds are run together if their shapes permit it."""

    def __init__(
        self, name: str, path: pathlib.Path, threads: int = 1, timeout: float = 5, max_batch: int = 16, wait: float = 0.002
    ) -> None:
        super().__init__(name)
        self.path, self.threads, self.timeout, self.max_batch, self.wait = path, threads, timeout, max_batch, wait
        self.waiting: list[tuple[Arrays, asyncio.Future[Any]]] = []
        self.runs: set[asyncio.Task[None]] = set()

    def load(self) -> bool:
        self.session = cameo.Session(self.path, threads=self.threads)
        self.ready = True
        return True

    def stop(self) -> None:
        """Stops accepting requests; those that have started keep the session until they are answered."""
        self.ready = False

    def get_input_types(self) -> list[dict[str, Any]]:
        return described(self.session.inputs)

    def get_output_types(self) -> list[dict[str, Any]]:
        return described(self.session.outputs)

    def begin(self, after: float) -> None:
        """Schedules a run of the waiting requests in `after` seconds."""
        task = asyncio.get_running_loop().create_task(self.run(after))
        self.runs.add(task)  # the event loop only holds a weak reference
        task.add_done_callback(self.runs.discard)

    async def run(self, after: float) -> None:
        await asyncio.sleep(after)
        batch, self.waiting = self.waiting[: self.max_batch], self.waiting[self.max_batch :]
        if self.waiting:
            self.begin(0)
        try:
            answers: list[Any] = await run_together(self.session, [arrays for arrays, _ in batch], self.timeout)
        except Exception as error:  # noqa: BLE001 - each request must get an answer
            answers = [error] * len(batch)
        for (_, future), answer in zip(batch, answers, strict=True):
            if not future.done():  # the client may have disconnected
                future.set_result(answer)

    async def predict(self, payload: Any, headers: Any = None, response_headers: Any = None) -> kserve.InferResponse:
        if not isinstance(payload, kserve.InferRequest):
            raise InvalidInput("use the Open Inference Protocol: /v2/models/NAME/infer")
        try:
            arrays = {each.name: each.as_numpy() for each in payload.inputs}
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"the elements do not match the datatype and shape: {error}") from error
        future = asyncio.get_running_loop().create_future()
        self.waiting.append((arrays, future))
        if len(self.waiting) == 1:
            self.begin(self.wait)
        answer = await future
        if isinstance(answer, cameo.errors.InvalidArgument):
            raise InvalidInput(str(answer))
        if isinstance(answer, Exception):
            raise InferenceError(str(answer))
        outputs = []
        for name, each in answer.items():
            outputs.append(kserve.InferOutput(name, list(each.shape), from_np_dtype(each.dtype)))
            outputs[-1].set_data_from_numpy(each, binary_data=payload.use_binary_outputs)
        return kserve.InferResponse(
            payload.id or str(uuid.uuid4()),
            self.name,
            outputs,
            use_binary_outputs=payload.use_binary_outputs,
            requested_outputs=payload.request_outputs,
        )


def main() -> None:
    parser = argparse.ArgumentParser(parents=[kserve.model_server.parser], conflict_handler="resolve")
    parser.add_argument("--model_dir", type=pathlib.Path, default=pathlib.Path("/mnt/models"))
    parser.add_argument("--threads", type=int, default=1, help="threads per run; 0: all processors of the container")
    parser.add_argument("--timeout", type=float, default=5, help="time limit of a run in seconds")
    args = parser.parse_args()
    models = [CameoModel(path.stem, path, args.threads, args.timeout) for path in sorted(args.model_dir.glob("*.onnx"))]
    for model in models:
        model.load()
    kserve.ModelServer(workers=1, grace_period=10).start(models)


if __name__ == "__main__":
    main()
