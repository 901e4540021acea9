"""Runs several requests as one batch of a cameo.Session; used by both servers in this folder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

import cameo

Arrays = dict[str, numpy.ndarray]


def has_batches(session: cameo.Session) -> bool:
    """True if every input and output has several axes, the first of unknown size: that axis is taken as the batch."""
    shapes = [each.shape for each in (*session.inputs, *session.outputs)]
    return all(shape is not None and len(shape) > 1 and not isinstance(shape[0], int) for shape in shapes)


def rows_of(arrays: Arrays) -> int | None:
    """The size of the first axis, if it is the same for all arrays of a request; else None."""
    sizes = {each.shape[0] if each.ndim else None for each in arrays.values()}
    return sizes.pop() if len(sizes) == 1 else None


def groups_of(session: cameo.Session, requests: Sequence[Arrays]) -> list[list[int]]:
    """Groups requests whose inputs have the same names, types and sizes except for the first; returns their indices."""
    groups: dict[Any, list[int]] = {}
    can = has_batches(session)
    for number, arrays in enumerate(requests):
        key: Any = number
        if can and rows_of(arrays) is not None:
            key = tuple((name, arrays[name].dtype, arrays[name].shape[1:]) for name in sorted(arrays))
        groups.setdefault(key, []).append(number)
    return list(groups.values())


async def run_together(session: cameo.Session, requests: Sequence[Arrays], timeout: float) -> list[Arrays | cameo.Error]:
    """Returns the outputs of each request, or its error. `timeout` is the time limit of each run in seconds."""
    answers: list[Any] = [None] * len(requests)

    async def run(numbers: list[int]) -> None:
        given = [requests[i] for i in numbers]
        joined = given[0] if len(given) == 1 else {key: numpy.concatenate([each[key] for each in given]) for key in given[0]}
        rows = [rows_of(each) or 0 for each in given]
        try:
            made = await session.run_async(joined, timeout=timeout)
        except cameo.Error as error:
            if len(given) == 1 or isinstance(error, cameo.errors.DeadlineExceeded):
                for i in numbers:
                    answers[i] = error
                return
            made = {}
        if len(given) == 1:
            answers[numbers[0]] = made
        elif not made or any(len(each) != sum(rows) for each in made.values()):
            for i in numbers:  # one request may be invalid, or the first axis is not a batch
                await run([i])
        else:
            ends = numpy.cumsum(rows)
            for i, begin, end in zip(numbers, ends - rows, ends, strict=True):
                answers[i] = {key: each[begin:end] for key, each in made.items()}

    for numbers in groups_of(session, requests):
        await run(numbers)
    return answers
