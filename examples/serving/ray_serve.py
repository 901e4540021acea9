"""Serves models with Ray Serve and cameo.Session, with batching and several models per replica; and runs a model on the
batches of Ray Data. Needs cameo, numpy and ray[serve].

    serve run --name digits ray_serve:app folder=models      # models/digits.onnx is served as the model "digits"

A request is JSON as in the Open Inference Protocol: {"inputs": [{"name", "shape", "datatype", "data"}]}. The header
serve_multiplexed_model_id names the model.
"""

from __future__ import annotations

import pathlib
from typing import Any

import numpy
from batches import Arrays, run_together
from ray import serve

import cameo

TYPES = {"FP32": "float32", "FP64": "float64", "INT64": "int64", "INT32": "int32", "UINT8": "uint8", "BOOL": "bool"}
NAMES = {numpy.dtype(name): word for word, name in TYPES.items()}


def arrays_in(body: dict[str, Any]) -> Arrays:
    """Returns the inputs of a request. Raises KeyError or ValueError if it is invalid."""
    return {
        each["name"]: numpy.array(each["data"], TYPES[each["datatype"]]).reshape(each["shape"]) for each in body["inputs"]
    }


def body_of(model: str, arrays: Arrays) -> dict[str, Any]:
    """Returns the body of a response with these outputs."""
    outputs = [
        {"name": name, "shape": list(each.shape), "datatype": NAMES[each.dtype], "data": each.ravel().tolist()}
        for name, each in arrays.items()
    ]
    return {"model_name": model, "outputs": outputs}


@serve.deployment(num_replicas=2, max_ongoing_requests=64, graceful_shutdown_timeout_s=10)
class Models:
    """A replica, which holds several models of a folder. Sessions have one thread, because replicas use the
    processors."""

    def __init__(self, folder: str, threads: int = 1, timeout: float = 5) -> None:
        self.folder, self.threads, self.timeout = pathlib.Path(folder), threads, timeout

    @serve.multiplexed(max_num_models_per_replica=4)
    async def model(self, name: str) -> cameo.Session:
        return cameo.Session(self.folder / f"{pathlib.PurePath(name).name}.onnx", threads=self.threads)

    @serve.batch(max_batch_size=16, batch_wait_timeout_s=0.002)
    async def run(self, requests: list[tuple[str, Arrays]]) -> list[Arrays | Exception]:
        """Runs waiting requests of the same model together if their shapes permit it."""
        answers: list[Any] = [None] * len(requests)
        for model in {name for name, _ in requests}:
            numbers = [number for number, (name, _) in enumerate(requests) if name == model]
            try:
                made = await run_together(await self.model(model), [requests[i][1] for i in numbers], self.timeout)
            except cameo.Error as error:
                made = [error] * len(numbers)
            for i, answer in zip(numbers, made, strict=True):
                answers[i] = answer
        return answers

    async def __call__(self, request: Any) -> Any:
        from starlette.responses import JSONResponse

        name = serve.get_multiplexed_model_id() or "digits"
        try:
            made = await self.run((name, arrays_in(await request.json())))
            if isinstance(made, Exception):
                raise made
        except cameo.errors.NoSuchFile:  # the message has a path of the server
            return JSONResponse({"error": f"there is no model {name!r}"}, 404)
        except (cameo.Error, KeyError, ValueError) as error:
            return JSONResponse({"error": str(error)}, 400)
        return body_of(name, made)


def app(arguments: dict[str, str]) -> Any:
    """The application that `serve run` starts."""
    return Models.bind(arguments.get("folder", "."))


class BatchModel:
    """A callable for Ray Data: `dataset.map_batches(BatchModel, fn_constructor_args=[path],
    compute=ray.data.ActorPoolStrategy(size=2))` adds the model's outputs to each batch of columns."""

    def __init__(self, path: str) -> None:
        self.session = cameo.Session(path, threads=1)

    def __call__(self, batch: Arrays) -> Arrays:
        inputs = {each.name: batch[each.name] for each in self.session.inputs}
        return {**batch, **self.session.run(inputs)}
