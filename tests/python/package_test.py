"""The Python package cameo: sessions, values, bindings, errors, tools.

Usage: package_test.py [unittest's arguments]
"""
import array
import ast
import asyncio
import ctypes
import gc
import io
import json
import logging
import mmap
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
import weakref

import ml_dtypes
import models
import numpy
import onnx
from onnx import TensorProto, helper

import cameo

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DIGITS = ROOT / "examples" / "digits" / "digits.onnx"


class OnlyDlpack:
    """A tensor of another framework, which only has DLPack's functions."""

    def __init__(self, of):
        self.of = of

    def __dlpack__(self, **how):
        return self.of.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.of.__dlpack_device__()


class RefusesBuffer(mmap.mmap):
    """An object that has no buffer although its type supports buffers, like jax's arrays of bfloat16."""

    def __new__(cls, of):
        made = super().__new__(cls, -1, 1)
        made.close()
        made.of = of
        return made

    __dlpack__, __dlpack_device__ = OnlyDlpack.__dlpack__, OnlyDlpack.__dlpack_device__


class Loading(unittest.TestCase):
    def test_a_model_is_a_path_a_buffer_a_file_or_a_proto(self):
        x = numpy.zeros((1, 1, 8, 8), numpy.float32)
        data = DIGITS.read_bytes()
        with DIGITS.open("rb") as file:
            made = [cameo.Session(each) for each in (str(DIGITS), DIGITS, os.fsencode(DIGITS) and data, memoryview(data),
                                                     bytearray(data), file, io.BytesIO(data), onnx.load(DIGITS))]
        wanted = made[0].run({"image": x})["logits"]
        for each in made:
            numpy.testing.assert_array_equal(each.run({"image": x})["logits"], wanted)

    def test_bytes_that_may_change_are_copied_and_others_kept(self):
        data = bytearray(DIGITS.read_bytes())
        session = cameo.Session(data)
        data[:] = bytes(len(data))
        x = numpy.zeros((1, 1, 8, 8), numpy.float32)
        self.assertAlmostEqual(session.run({"image": x})["probabilities"].sum(), 1, 5)
        kept = cameo.Session(DIGITS.read_bytes())
        gc.collect()
        self.assertAlmostEqual(kept.run({"image": x})["probabilities"].sum(), 1, 5)

    def test_errors_have_their_class_code_and_words(self):
        with self.assertRaises(cameo.errors.NoSuchFile) as caught:
            cameo.Session("absent.onnx")
        self.assertIsInstance(caught.exception, FileNotFoundError)
        self.assertEqual((caught.exception.code, caught.exception.name), (3, "NO_SUCHFILE"))
        self.assertIn("absent.onnx", caught.exception.words)
        with self.assertRaisesRegex(cameo.errors.InvalidProtobuf, "^INVALID_PROTOBUF: model"):
            cameo.Session(b"rubbish")
        unknown = models.made([helper.make_node("Abacus", ["x"], ["y"])], [models.info("x")], [models.info("y")])
        with self.assertRaisesRegex(cameo.Error, "Abacus"):
            cameo.Session(unknown)
        with self.assertRaisesRegex(ValueError, "optimize: needs none, basic, .*, not 'most'"):
            cameo.Session(DIGITS, optimize="most")
        with self.assertRaisesRegex(cameo.errors.InvalidArgument, "npu"):
            cameo.Session(DIGITS, ["npu"])

    def test_every_code_has_a_class(self):
        for name, code in cameo._core.codes.items():
            if code:
                error = cameo.errors.of_code(code, "words")
                self.assertEqual((error.name, error.code, str(error)), (name, code, f"{name}: words"))
        self.assertIsInstance(pickle.loads(pickle.dumps(cameo.errors.of_code(2, "w"))), cameo.errors.InvalidArgument)

    def test_options_reach_the_session(self):
        session = cameo.Session(DIGITS, threads=2, free_dims={"batch": 3}, config={"session.set_denormal_as_zero": True})
        self.assertEqual(session.threads, 2)
        self.assertEqual(session.config("session.set_denormal_as_zero"), "1")
        self.assertEqual(session.inputs[0].shape, (3, 1, 8, 8))
        self.assertEqual(cameo.Session(DIGITS, optimize="none").assignments[0].domain, "")

    def test_options_of_other_types_are_refused_in_words(self):
        for option, given in (("threads", -1), ("threads", "two"), ("threads", 2**70), ("memory_limit", -1), ("config", {1: 2}),
                              ("free_dims", {"n": "two"}), ("stop", 3), ("policy", 3), ("parallel", "yes"), ("log", 3), ("progress", 3)):
            with self.subTest(option, given=given), self.assertRaisesRegex(cameo.errors.InvalidArgument, f": {option}(:| is) "):
                cameo.Session(DIGITS, **{option: given})

    def test_options_are_those_of_the_table(self):
        with self.assertRaisesRegex(TypeError, "there is no option 'thread'; did you mean 'threads'?"):
            cameo.Session(DIGITS, thread=1)
        for name, (_, words, initial) in cameo._core.options.items():
            with self.subTest(name):
                self.assertIn(name, cameo.Session.__doc__)
                if initial:
                    cameo.Session(DIGITS, **{name: initial})

    def test_providers_and_pairs_of_other_kinds_are_refused_in_words(self):
        for options, words in (({"providers": 3}, "no list"), ({"providers": [3]}, "providers has 3"),
                               ({"providers": [("cpu",)]}, r"providers has \('cpu',\)"), ({"config": 3}, "config is 3"),
                               ({"config": ["a.b"]}, "pairs"), ({"provider_options": 3}, "provider_options is 3"),
                               ({"providers": ["cpu"], "provider_options": [{}, {}]}, "2 entries, for 1 providers"),
                               ({"providers": ["cpu"], "policy": "prefer_cpu"}, "one of the two")):
            with self.subTest(options), self.assertRaisesRegex(cameo.errors.InvalidArgument, words):
                cameo.Session(DIGITS, **options)

    def test_what_is_no_model_is_refused_in_words(self):
        for given in (None, 3, {}):
            with self.assertRaisesRegex(TypeError, f"a model is a path, bytes, .*; this is {type(given).__name__}$"):
                cameo.Session(given)
        for call in (cameo.Session, cameo.Package, lambda path: cameo.convert(DIGITS, path), lambda path: cameo.compile(DIGITS, path)):
            with self.assertRaisesRegex(cameo.errors.InvalidArgument, "null character"):
                call(f"{DIGITS}\0.onnx")
        with self.assertRaisesRegex(cameo.errors.InvalidArgument, "a folder"):
            cameo.Session(DIGITS.parent)

    def test_a_path_need_not_be_utf8(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.fsencode(folder) + b"/\xff.onnx"
            with open(path, "wb") as file:
                file.write(DIGITS.read_bytes())
            self.assertEqual(cameo.Session(os.fsdecode(path)).inputs[0].name, "image")

    def test_no_path_need_be_utf8(self):
        """Every function that takes a path to read or to write."""
        with tempfile.TemporaryDirectory() as plain:
            folder = os.fsdecode(os.fsencode(plain) + b"/\xff\xfe")
            os.mkdir(folder)
            for name in ("made.onnx", "made.ort"):
                cameo.convert(DIGITS, f"{folder}/{name}")
                self.assertEqual(cameo.Session(f"{folder}/{name}", external_data_folder=folder).inputs[0].name, "image")
            self.assertEqual(cameo.compile(DIGITS, f"{folder}/ctx.onnx", ["frozen"]), 1)
            cameo.Session(DIGITS, config={"session.optimized_model_filepath": f"{folder}/optimized.onnx"})
            with cameo.Session(DIGITS).profile(f"{folder}/trace.json"):
                pass
            for name in ("ctx.onnx", "optimized.onnx", "trace.json"):
                self.assertTrue(os.path.exists(f"{folder}/{name}"), name)
            self.assertIn("<html", cameo.inspect(f"{folder}/made.onnx").html)
            with self.assertRaisesRegex(cameo.errors.Fail, r"\\xff\\xfe: there is no file 'manifest.json'"):
                cameo.Package(folder)

    def test_names_in_models_need_not_be_utf8(self):
        """Bytes that are not UTF-8 become surrogates, and such a name can be passed back."""
        made = models.unary("Neg", models.F, "size")
        made.graph.input[0].name = made.graph.node[0].input[0] = "input"
        made.graph.output[0].name = made.graph.node[0].output[0] = "output"
        made.graph.node[0].name = "node"
        x = numpy.ones(2, numpy.float32)
        for name in (b"input", b"output", b"size", b"node"):
            with self.subTest(name):
                session = cameo.Session(made.SerializeToString().replace(name, b"\xff" + name[1:]))
                taken, given = session.inputs[0].name, session.outputs[0].name
                self.assertEqual(session.run({taken: x})[given].tolist(), [-1, -1])
                self.assertEqual(session.run_list([given], {taken: x})[0].tolist(), [-1, -1])
                binding, y = session.bind(), numpy.zeros(2, numpy.float32)
                binding.bind_input(taken, x)
                binding.bind_output(given, y)
                binding.run()
                self.assertEqual(binding.outputs()[given].tolist(), [-1, -1])
                shown = [taken, given, session.inputs[0].shape[0], session.assignments[0].node]
                self.assertIn(os.fsdecode(b"\xff" + name[1:]), shown)
                self.assertIn("<html", cameo.inspect(session).html)
        self.assertIn(r"\xff", repr(cameo.Value([b"\xff"])))

    def test_progress_is_told_and_may_raise(self):
        told = []
        cameo.Session(DIGITS, progress=lambda stage, fraction: told.append((stage, fraction)))
        self.assertEqual(told[-1], ("done", 1.0))
        self.assertEqual(sorted(fraction for _, fraction in told), [fraction for _, fraction in told])

        def stop(stage, fraction):
            raise KeyError(stage)

        with self.assertRaises(KeyError):
            cameo.Session(DIGITS, progress=stop)

    def test_a_stop_ends_loading(self):
        stop = cameo.Stop()
        stop.request()
        self.assertTrue(stop.requested)
        with self.assertRaises(cameo.errors.ModelLoadCanceled):
            cameo.Session(DIGITS, stop=stop)

    def test_messages_go_to_logging_or_a_function(self):
        with self.assertLogs("cameo", logging.WARNING) as logged:
            cameo.Session(DIGITS, free_dims={"absent": 1})
        self.assertIn("absent", logged.output[0])
        told = []
        cameo.Session(DIGITS, log=lambda *message: told.append(message), log_level="verbose")
        self.assertTrue(told and all(severity in (0, 1, 2) for severity, _ in told))

    def test_a_session_whose_callback_refers_to_its_owner_is_freed(self):
        class Owner:
            def __init__(self, how):
                self.session = cameo.Session(DIGITS, log=self.log, log_level="verbose")
                self.made = how(self.session)

            def log(self, severity, words):
                pass

        for how in (lambda session: None, lambda session: session.bind(), lambda session: session.profile().__enter__()):
            owners = [Owner(how) for _ in range(3)]
            seen = [weakref.ref(each) for each in owners] + [weakref.ref(each.session) for each in owners]
            del owners
            gc.collect()
            self.assertEqual([each() for each in seen], [None] * 6)

    def test_progress_is_let_go_after_loading(self):
        class Watch:
            def told(self, stage, fraction):
                pass

        watch = Watch()
        seen = weakref.ref(watch)
        session = cameo.Session(DIGITS, progress=watch.told)
        del watch
        self.assertIsNone(seen())
        self.assertEqual(len(session.run({"image": numpy.zeros((1, 1, 8, 8), numpy.float32)})), 2)

    def test_what_log_raises_is_raised_by_loading_and_by_the_run(self):
        def fail(severity, words):
            raise KeyError(words)

        with self.assertRaises(KeyError):
            cameo.Session(DIGITS, log=fail, log_level="verbose")
        told = []

        def fail_later(severity, words):
            told.append(words)
            if "y" in words and loaded:
                raise KeyError("mine")

        loaded = False
        wrong = models.made([helper.make_node("NonZero", ["x"], ["y"])], [models.info("x", models.F, 4)], [models.info("y", TensorProto.INT64, 1, 2)])
        session = cameo.Session(wrong, log=fail_later)
        loaded = True
        x = numpy.ones(4, numpy.float32)
        with self.assertRaises(KeyError):
            session.run({"x": x})
        self.assertEqual(session.run({"x": x})["y"].shape, (1, 4), "the run after it is right")

    def test_what_log_raises_is_raised_by_the_run_of_that_thread_whatever_other_threads_run(self):
        x = numpy.ones(4, numpy.float32)
        both_log, raised = threading.Barrier(2, timeout=60), {}

        def fail(severity, words):
            if not loaded:
                return
            both_log.wait()
            raise KeyError(threading.get_ident())

        def run(session):
            try:
                session.run({"x": x})
            except KeyError as error:
                raised[threading.get_ident()] = error.args[0]

        outputs = [models.info(name, TensorProto.INT64, 1, 2) for name in ("y", "z")]
        wrong = models.made([helper.make_node("NonZero", ["x"], [name]) for name in ("y", "z")], [models.info("x", models.F, 4)], outputs)
        loaded = False
        session = cameo.Session(wrong, log=fail)
        loaded = True
        threads = [threading.Thread(target=run, args=(session,)) for _ in range(2)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        self.assertEqual(set(raised), {each.ident for each in threads})
        self.assertTrue(all(thread == said for thread, said in raised.items()))
        self.assertEqual(session.run({"x": x})["y"].shape, (1, 4))

    def test_sessions_pickle_by_model_and_options(self):
        x = numpy.zeros((1, 1, 8, 8), numpy.float32)
        for model in (DIGITS, DIGITS.read_bytes()):
            session = cameo.Session(model, threads=2, progress=lambda *_: None)
            again = pickle.loads(pickle.dumps(session))
            self.assertEqual(again.threads, 2)
            numpy.testing.assert_array_equal(again.run({"image": x})["logits"], session.run({"image": x})["logits"])


class Running(unittest.TestCase):
    def test_inputs_and_outputs_are_described(self):
        session = cameo.Session(models.with_default())
        x, w = session.inputs
        self.assertEqual((x.name, x.type, x.dtype, x.shape, x.optional), ("x", "tensor(float)", "float", ("n", 3), False))
        self.assertTrue(w.optional)
        self.assertEqual(session.metadata["producer_name"], "tests")

    def test_wrong_inputs_are_refused_in_words(self):
        session = cameo.Session(models.unary("Neg", models.F, 2, 3))
        right = numpy.zeros((2, 3), numpy.float32)
        for inputs, words in (({}, "'x' is missing"), ({"z": right}, "no input 'z'"), ({"x": right[0]}, "rank 1"),
                              ({"x": right.astype(numpy.int32)}, "needs tensor"), ({"x": object()}, "is a object"),
                              ({1: right}, "not a text"), ({"x": right.astype("datetime64[s]")}, "datetime64"),
                              ([right], "dictionary"), ({"x": None}, "given nothing"), ({"x": [["a", 1.0, 2.0]] * 2}, "not a tensor"),
                              ({"x": right.astype(numpy.longdouble)}, "longdouble"), ({"x": [[1, 2, 3], [4]]}, "not a tensor"),
                              ({"x": {"a": 1.0}}, "a map"), ({"x": ["\ud800"]}, "not valid Unicode"), ({"x": [[1j] * 3] * 2}, "float")):
            with self.subTest(words), self.assertRaisesRegex(cameo.errors.InvalidArgument, words):
                session.run(inputs)

    def test_inputs_may_change_while_they_are_read(self):
        """The name of an input is used after its object has emptied the dictionary and its memory was reused."""
        others = []

        class Clears:
            def __array__(self, *_, **__):
                inputs.clear()
                others.extend("".join(["zz", str(i).zfill(4)]) for i in range(100))
                raise ValueError

        inputs = {"".join(["ab", str(1).zfill(4)]): Clears()}  # a text without other references
        with self.assertRaisesRegex(cameo.errors.InvalidArgument, "ARGUMENT: ab0001: is not a tensor"):
            cameo.Session(models.unary()).run(inputs)

    def test_a_mapping_of_another_kind_is_as_good_as_a_dictionary(self):
        session = cameo.Session(models.unary())
        x = numpy.ones(2, numpy.float32)
        self.assertEqual(session.run(types.MappingProxyType({"x": x}))["y"].tolist(), [-1, -1])

    def test_arrays_without_elements_and_without_dims(self):
        session = cameo.Session(models.unary("Neg", models.F, "a", "b"))
        for given in (numpy.zeros((0, 3), numpy.float32), numpy.zeros((3, 0), numpy.float32),
                      numpy.zeros((0, 6), numpy.float32)[:, ::2]):
            self.assertEqual(session.run({"x": given})["y"].shape, given.shape)
        self.assertEqual(cameo.Session(models.unary()).run({"x": []})["y"].shape, (0,))
        with self.assertRaisesRegex(cameo.errors.InvalidArgument, "rank 0"):
            session.run({"x": numpy.float32(1)})
        self.assertEqual(session.run({"x": numpy.broadcast_to(numpy.float32(3), (2, 2))})["y"].tolist(), [[-3, -3]] * 2)

    def test_numbers_are_not_cut_to_fit(self):
        whole = cameo.Session(models.unary("Neg", TensorProto.INT64, "n"))
        self.assertEqual(whole.run({"x": [1.0, 2.0, True]})["y"].tolist(), [-1, -2, -1])
        byte = cameo.Session(models.unary("Identity", TensorProto.UINT8, "n"))
        four = cameo.Session(models.unary("Identity", TensorProto.INT4, "n", opset=23), optimize="none")
        self.assertEqual(four.run({"x": [-8, 7.0]})["y"].tolist(), [-8, 7])
        for session, given in ((whole, [1.5]), (whole, [float("nan")]), (whole, [2**63]), (whole, [1e30]), (whole, [1j]),
                               (byte, [300]), (byte, [-1]), (four, [9]), (four, [1.5])):
            with self.subTest(given), self.assertRaises(cameo.errors.InvalidArgument):
                session.run({"x": given})

    def test_strided_unaligned_and_swapped_arrays_have_their_values(self):
        session = cameo.Session(models.unary("Neg", models.F, "a", "b"))
        x = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)
        unaligned = numpy.frombuffer(bytearray(49), numpy.uint8)[1:].view(numpy.float32).reshape(3, 4)
        unaligned[:] = x
        read_only = x.copy()
        read_only.flags.writeable = False
        for given in (x, x.T, x[::2], x[:, ::-1], x.astype(">f4"), unaligned, read_only, numpy.asfortranarray(x)):
            numpy.testing.assert_array_equal(session.run({"x": given})["y"], -given.astype(numpy.float32))

    def test_lists_numbers_and_numpy_scalars_take_the_declared_type(self):
        session = cameo.Session(models.unary("Neg", TensorProto.DOUBLE, "n"))
        self.assertEqual(session.run({"x": [1, 2]})["y"].tolist(), [-1, -2])
        scalar = models.made([helper.make_node("Neg", ["x"], ["y"])], [models.info("x", models.F)], [models.info("y")])
        for given in (2, 2.0, numpy.float32(2), numpy.array(2, numpy.float32)):
            self.assertEqual(cameo.Session(scalar).run({"x": given})["y"].tolist(), -2)

    def test_every_type_of_elements_goes_in_and_out(self):
        types = [*"bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 complex64 complex128".split(),
                 *(getattr(ml_dtypes, name) for name in "bfloat16 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz "
                   "int4 uint4 float4_e2m1fn".split())]
        for each in types:
            dtype = numpy.dtype(each)
            with self.subTest(dtype.name):
                x = numpy.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]]).astype(dtype)
                if dtype.name in ("int4", "int8"):
                    x[0, 0] = -7
                kind = helper.np_dtype_to_tensor_dtype(dtype)
                y = cameo.Session(models.unary("Identity", kind, "a", "b", opset=23), optimize="none").run({"x": x})["y"]
                self.assertEqual(y.dtype, x.dtype)
                numpy.testing.assert_array_equal(y.astype(numpy.complex64), x.astype(numpy.complex64))

    def test_texts_go_in_and_out(self):
        session = cameo.Session(models.unary("Identity", TensorProto.STRING, "n"))
        for given in (["a", "ü€"], numpy.array(["a", "ü€"]), numpy.array(["a", "ü€"], object), ("a", "ü€"),
                      numpy.array(["a".encode(), "ü€".encode()], object), cameo.Value(["a", "ü€"])):
            self.assertEqual(session.run({"x": given})["y"].tolist(), ["a", "ü€"])
        self.assertEqual(session.run({"x": "one"})["y"].tolist(), ["one"])
        self.assertEqual(session.run({"x": numpy.array(["\udc80"], object)})["y"].tolist(), ["\udc80"])
        two = cameo.Session(models.unary("Identity", TensorProto.STRING, 1, "n"))
        self.assertEqual(two.run({"x": ["a", "b"]})["y"].tolist(), [["a", "b"]])

    def test_sequences_optionals_and_maps(self):
        sequence = helper.make_tensor_sequence_value_info
        model = models.made([helper.make_node("SequenceInsert", ["s", "x"], ["t"])],
                            [sequence("s", models.F, None), models.info("x", models.F, "n")], [sequence("t", models.F, None)])
        one, two = numpy.ones(1, numpy.float32), numpy.ones(2, numpy.float32)
        made = cameo.Session(model).run({"s": [one, two], "x": two})["t"]
        self.assertEqual([each.tolist() for each in made], [[1], [1, 1], [1, 1]])
        kept = cameo.Session(model).run({"s": [one], "x": two}, values=True)["t"]
        self.assertEqual((kept.kind, [each.tolist() for each in kept.numpy()]), ("sequence", [[1], [1, 1]]))
        has = models.made([helper.make_node("OptionalHasElement", ["x"], ["y"])],
                          [helper.make_value_info("x", helper.make_optional_type_proto(
                              helper.make_tensor_type_proto(models.F, None)))], [models.info("y", TensorProto.BOOL)])
        session = cameo.Session(has)
        self.assertEqual([bool(session.run({"x": each})["y"]) for each in (None, one)], [False, True])
        zip_map = models.made(
            [helper.make_node("ZipMap", ["x"], ["y"], domain="ai.onnx.ml", classlabels_strings=["a", "b"])],
            [models.info("x", models.F, "n", 2)],
            [helper.make_value_info("y", helper.make_sequence_type_proto(helper.make_map_type_proto(
                TensorProto.STRING, helper.make_tensor_type_proto(models.F, []))))])
        zip_map.opset_import.append(helper.make_opsetid("ai.onnx.ml", 1))
        made = cameo.Session(zip_map).run({"x": numpy.array([[1, 2], [3, 4]], numpy.float32)})["y"]
        self.assertEqual(made, [{"a": 1, "b": 2}, {"a": 3, "b": 4}])
        vector = models.made([helper.make_node("DictVectorizer", ["x"], ["y"], domain="ai.onnx.ml",
                                               string_vocabulary=["a", "b", "c"])],
                             [helper.make_value_info("x", helper.make_map_type_proto(
                                 TensorProto.STRING, helper.make_tensor_type_proto(models.F, [])))],
                             [models.info("y", models.F, "m", "n")])
        vector.opset_import.append(helper.make_opsetid("ai.onnx.ml", 1))
        self.assertEqual(cameo.Session(vector).run({"x": {"c": 3.0, "a": 1.0}})["y"].ravel().tolist(), [1, 0, 3])

    def test_a_map_has_one_entry_for_each_key_and_a_sparse_tensor_its_parts(self):
        """Otherwise elements beyond the end would be read."""
        for given in ({"a": []}, {"a": [], "b": []}, {(): 1.0}, {(1, 2): 1.0}, {"a": [1.0, 2.0]}, {"a": numpy.zeros(0)}):
            with self.subTest(given), self.assertRaisesRegex(cameo.errors.InvalidArgument, "for each key"):
                cameo.Value(given)
        self.assertEqual(cameo.Value({"a": 1.0, "b": numpy.float32(2)}).numpy(), {"a": 1.0, "b": 2.0})
        self.assertEqual(cameo.Value({}).numpy(), {})
        values, indices = numpy.ones(1, numpy.float32), numpy.zeros(1, numpy.int64)
        for parts, words in (((values, indices, (1,) * 13), "12 whole numbers"), ((values, indices, ("a",)), "whole numbers"),
                             ((values, indices, None), "whole numbers"), ((None, indices, (1,)), "are tensors"),
                             ((values, {"a": 1.0}, (1,)), "are tensors")):
            with self.subTest(parts), self.assertRaisesRegex(cameo.errors.InvalidArgument, words):
                cameo.Value(cameo.SparseTensor(*parts))

    def test_maps_and_sparse_tensors_of_other_elements_are_refused(self):
        """Kernels read elements of the declared type without a check."""
        sparse = models.made([helper.make_node("SparseToDenseMatMul", ["a", "b"], ["y"], domain="com.microsoft")],
                             [helper.make_value_info("a", helper.make_sparse_tensor_type_proto(models.F, [2, 2])),
                              models.info("b", models.F, 2, 1)], [models.info("y", models.F, 2, 1)])
        sparse.opset_import.append(helper.make_opsetid("com.microsoft", 1))
        session, b = cameo.Session(sparse), numpy.ones((2, 1), numpy.float32)
        for values in (numpy.array([2, 3], numpy.float32), [2.0, 3.0]):  # a list takes the declared type
            made = session.run({"a": cameo.SparseTensor(values, numpy.array([0, 3]), (2, 2)), "b": b})["y"]
            self.assertEqual(made.tolist(), [[2], [3]])
        right, places = numpy.array([2, 3], numpy.float32), numpy.array([0, 3])
        for parts in ((right.astype(numpy.float64), places, (2, 2)), (right.astype(numpy.int8), places, (2, 2)),
                      (right, places.astype(numpy.int32), (2, 2)), (right, right, (2, 2)), (right, places, (-2, -2))):
            with self.subTest(parts), self.assertRaisesRegex(cameo.errors.InvalidArgument, "input 'a': (is given|has the impossible)"):
                session.run({"a": cameo.SparseTensor(*parts), "b": b})
        has = models.made([helper.make_node("DictVectorizer", ["x"], ["y"], domain="ai.onnx.ml", string_vocabulary=["a", "b"])],
                          [helper.make_value_info("x", helper.make_map_type_proto(
                              TensorProto.STRING, helper.make_tensor_type_proto(models.F, [])))], [models.info("y", models.F, "m", "n")])
        has.opset_import.append(helper.make_opsetid("ai.onnx.ml", 1))
        for given in ({1: 2.0}, {"a": 1.0}, {"a": 1}, {"a": "b"}):  # as a Value, with the types that numpy gives them
            with self.subTest(given), self.assertRaisesRegex(cameo.errors.InvalidArgument, r"input 'x': is given map\("):
                cameo.Session(has).run({"x": cameo.Value(given)})

    def test_a_list_of_texts_is_a_sequence_where_the_model_takes_one(self):
        sequence = helper.make_tensor_sequence_value_info("s", TensorProto.STRING, None)
        session = cameo.Session(models.made([helper.make_node("SequenceAt", ["s", "i"], ["y"])],
                                            [sequence, models.info("i", TensorProto.INT64)], [models.info("y", TensorProto.STRING)]))
        for given in (["a", "ü"], ("a", "ü"), [numpy.array("a", object), "ü"]):
            self.assertEqual(session.run({"s": given, "i": 1})["y"].tolist(), "ü")

    def test_names_of_outputs_are_a_list_of_texts(self):
        session = cameo.Session(models.unary())
        for names, words in (("y", "in a list"), ([3], "not a text"), (["z"], "no output of this name")):
            with self.subTest(names), self.assertRaisesRegex(cameo.errors.InvalidArgument, words):
                session.run_list(names, {"x": numpy.ones(2, numpy.float32)})

    def test_outputs_outlive_the_session(self):
        session = cameo.Session(models.unary())
        y = session.run({"x": numpy.arange(5, dtype=numpy.float32)})["y"]
        del session
        gc.collect()
        self.assertEqual(y.tolist(), [0, -1, -2, -3, -4])
        y[0] = 7  # the caller owns the array

    def test_a_run_ends_by_timeout_stop_and_cancel(self):
        session = cameo.Session(models.endless())
        inputs = {"m": numpy.array(10**9), "x": numpy.ones(1000, numpy.float32)}
        begin = time.monotonic()
        with self.assertRaises(TimeoutError):
            session.run(inputs, 0.02)
        stop = cameo.Stop()
        threading.Timer(0.05, stop.request).start()
        with self.assertRaises(cameo.errors.Canceled):
            session.run(inputs, stop=stop)
        threading.Timer(0.05, session.cancel).start()
        with self.assertRaises(cameo.errors.Canceled):
            session.run(inputs)
        self.assertLess(time.monotonic() - begin, 10)
        session.run({**inputs, "m": numpy.array(1)})  # later runs are not affected
        with self.assertRaisesRegex(cameo.errors.InvalidArgument, "cameo.Stop"):
            session.run(inputs, stop=3)

    def test_ctrl_c_ends_a_run_and_raises_what_its_handler_raises(self):
        session = cameo.Session(models.endless())
        inputs = {"m": numpy.array(10**9), "x": numpy.ones(1000, numpy.float32)}
        binding = session.bind()
        for name, given in inputs.items():
            binding.bind_input(name, given)
        # Jobs that a shell starts in the background ignore Ctrl-C, so the handler is set here.
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))
        begin = time.monotonic()
        for run in (lambda: session.run(inputs, 30), lambda: binding.run(30), lambda: session.run(inputs, 30, cameo.Stop())):
            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
            self.assertRaises(KeyboardInterrupt, run)
        self.assertLess(time.monotonic() - begin, 15)

        def handler(number, frame):
            told.append(number)
            if len(told) == 2:
                raise LookupError

        told, before = [], signal.signal(signal.SIGUSR1, handler)
        self.addCleanup(signal.signal, signal.SIGUSR1, before)
        for after in (0.1, 0.3):  # after the first signal the run continues
            threading.Timer(after, os.kill, (os.getpid(), signal.SIGUSR1)).start()
        self.assertRaises(LookupError, session.run, inputs, 30)
        self.assertEqual(len(told), 2)
        session.run({**inputs, "m": numpy.array(1)})

    def test_a_process_ends_while_daemon_threads_run(self):
        script = """if True:
            import sys, threading, time
            sys.path.insert(0, sys.argv[1])
            import cameo, models, numpy
            session, x = cameo.Session(models.endless()), numpy.ones(1000, numpy.float32)
            def work(rounds):
                while True:
                    session.run({"m": numpy.array(rounds), "x": x})
            def load():
                while True:
                    cameo.Session(models.endless(), progress=lambda *told: None)
            for work, arguments in ((work, [2]), (work, [2]), (work, [10**9]), (load, [])):
                threading.Thread(target=work, args=arguments, daemon=True).start()
            time.sleep(0.2)
            """
        for _ in range(3):
            done = subprocess.run([sys.executable, "-c", script, str(ROOT / "tests" / "python")], timeout=60, capture_output=True)
            self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_a_process_that_was_forked_runs_what_was_loaded_before(self):
        x = numpy.ones((256, 256), numpy.float32)
        product = models.made([helper.make_node("MatMul", ["x", "x"], ["y"])], [models.info("x", models.F, 256, 256)],
                              [models.info("y", models.F, 256, 256)])
        session = cameo.Session(product, threads=4)
        session.run({"x": x})
        child = os.fork()
        if not child:
            try:
                made = [each.run({"x": x})["y"] for each in (session, cameo.Session(product, threads=4))]
                os._exit(0 if all((each == 256).all() for each in made) else 1)
            finally:
                os._exit(2)
        deadline, ended = time.monotonic() + 20, (0, 0)
        while not ended[0] and time.monotonic() < deadline:
            ended = os.waitpid(child, os.WNOHANG)
            time.sleep(0.01)
        if not ended[0]:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        self.assertEqual(ended, (child, 0))

    def test_runs_let_go_of_the_interpreter(self):
        session = cameo.Session(models.endless())
        inputs = {"m": numpy.array(10**9), "x": numpy.ones(1000, numpy.float32)}
        thread = threading.Thread(target=lambda: self.assertRaises(cameo.errors.Canceled, session.run, inputs))
        thread.start()
        count, begin = 0, time.monotonic()
        while time.monotonic() - begin < 0.1:
            count += 1
        session.cancel()
        while thread.is_alive():
            session.cancel()  # the run may not have begun before
            time.sleep(0.01)
        self.assertGreater(count, 1000)

    def test_threads_share_a_session(self):
        session = cameo.Session(models.unary("Neg", models.F, "n"))
        wrong = []

        def work(number):
            x = numpy.full(7, number, numpy.float32)
            for _ in range(300):
                if session.run({"x": x})["y"][3] != -number:
                    wrong.append(number)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        [each.start() for each in threads]
        [each.join() for each in threads]
        self.assertEqual(wrong, [])

    def test_run_async_and_a_canceled_task(self):
        session = cameo.Session(models.endless())
        x = numpy.ones(1000, numpy.float32)

        async def work():
            made = await asyncio.gather(*(session.run_async({"m": numpy.array(1), "x": x}) for _ in range(4)))
            task = asyncio.create_task(session.run_async({"m": numpy.array(10**9), "x": x}))
            await asyncio.sleep(0.05)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            with self.assertRaises(cameo.errors.DeadlineExceeded):
                await session.run_async({"m": numpy.array(10**9), "x": x}, timeout=0.01)
            return made

        begin = time.monotonic()
        made = asyncio.run(work())
        self.assertLess(time.monotonic() - begin, 10)
        self.assertTrue(all(each["y"].shape == (1000,) for each in made))

    def test_nothing_leaks(self):
        session = cameo.Session(models.unary("Neg", models.F, "n"))
        x = numpy.ones(250_000, numpy.float32)

        def resident():
            return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096

        binding = session.bind()
        for round in range(60):
            if round == 20:
                before = resident()
            session.run({"x": x}, values=True)
            self.assertRaises(cameo.Error, session.run, {"x": x.reshape(1, -1)})
            binding.bind_input("x", x.copy())
            binding.run()
            binding.outputs()
            cameo.Session(models.unary(), log=lambda *_: None, progress=lambda *_: None)
        self.assertLess(resident() - before, 20_000_000)  # 120 arrays of a megabyte were allocated
        references = sys.getrefcount(x)
        session.run({"x": x})
        self.assertEqual(sys.getrefcount(x), references)


class Values(unittest.TestCase):
    def test_buffers_and_dlpack_go_in_without_a_copy(self):
        session = cameo.Session(models.unary("Neg", models.F, 3))
        x = numpy.arange(3, dtype=numpy.float32)
        for given in (memoryview(x), array.array("f", x), OnlyDlpack(x), cameo.Value(x), cameo.Value(OnlyDlpack(x)),
                      (ctypes.c_float * 3)(*x), RefusesBuffer(x)):
            self.assertEqual(session.run({"x": given})["y"].tolist(), [0, -1, -2])
        for given in (x, memoryview(x), OnlyDlpack(x), RefusesBuffer(x)):
            self.assertEqual(cameo.Value(given).address, x.ctypes.data)
        empty = cameo.Value(OnlyDlpack(numpy.zeros((0, 4), numpy.float32)[:, ::2]))
        self.assertEqual(empty.shape, (0, 2))
        with self.assertRaisesRegex(ValueError, "dense"):
            session.run({"x": memoryview(numpy.arange(6, dtype=numpy.float32))[::2]})
        with self.assertRaisesRegex(ValueError, "dense"):
            session.run({"x": OnlyDlpack(numpy.arange(6, dtype=numpy.float32)[::2])})
        with self.assertRaisesRegex(ValueError, "format"):
            session.run({"x": memoryview(b"abc").cast("c")})

    def test_outputs_are_buffers_and_dlpack_without_a_copy(self):
        value = cameo.Session(models.unary("Neg", models.F, "a", "b")).run({"x": numpy.ones((2, 3), numpy.float32)},
                                                                          values=True)["y"]
        self.assertEqual((value.dtype, value.shape, value.nbytes, value.kind), ("float", (2, 3), 24, "tensor"))
        self.assertEqual(value.tolist(), [[-1] * 3] * 2)
        view = memoryview(value)
        self.assertEqual((view.shape, view.format, view.readonly), ((2, 3), "f", False))
        for made in (numpy.asarray(value), numpy.from_dlpack(value), value.numpy()):
            self.assertEqual(made.ctypes.data, value.address)
        del value
        gc.collect()
        self.assertEqual(view.tolist(), [[-1] * 3] * 2)

    def test_dlpack_says_what_may_only_be_read(self):
        read_only = numpy.zeros(3, numpy.float32)
        read_only.flags.writeable = False
        self.assertFalse(numpy.from_dlpack(cameo.Value(read_only)).flags.writeable)
        self.assertRaises(BufferError, cameo.Value(read_only).__dlpack__)  # an old capsule has no flag for read-only
        self.assertRaises(BufferError, cameo.Value(read_only).__dlpack__, max_version=(0, 8))
        self.assertTrue(memoryview(cameo.Value(read_only)).readonly)
        self.assertTrue(memoryview(cameo.Value(OnlyDlpack(read_only))).readonly)
        self.assertFalse(memoryview(cameo.Value(OnlyDlpack(numpy.zeros(3, numpy.float32)))).readonly)

    def test_stubs_say_what_a_run_takes_and_gives(self):
        stubs = ast.parse((pathlib.Path(cameo.__file__).parent / "_core.pyi").read_text())
        told = {(owner.name, each.name): ast.unparse(each.args) + " -> " + ast.unparse(each.returns)
                for owner in stubs.body if isinstance(owner, ast.ClassDef) for each in owner.body if isinstance(each, ast.FunctionDef)}
        self.assertIn("inputs: Mapping[str, Any]", told["Session", "run"])
        for name, gives in ((("Session", "run"), "dict[str, Any]"), (("Session", "run_list"), "list[Any]"),
                            (("Binding", "outputs"), "dict[str, Any]"), (("Pipeline", "run"), "dict[str, Any]")):
            self.assertTrue(told[name].endswith(f"-> {gives}"), (name, told[name]))

    def test_stubs_say_that_a_value_is_a_buffer_and_a_tensor_of_dlpack(self):
        stub = ast.parse(pathlib.Path(cameo._core.__file__).with_name("_core.pyi").read_text())
        value = next(each for each in stub.body if isinstance(each, ast.ClassDef) and each.name == "Value")
        methods = {each.name: each.args for each in value.body if isinstance(each, ast.FunctionDef)}
        self.assertEqual([each.arg for each in methods["__buffer__"].posonlyargs], ["self", "flags"])
        self.assertIn("stream", [each.arg for each in methods["__dlpack__"].kwonlyargs])
        self.assertIn("tolist", methods)

    def test_a_value_keeps_what_it_refers_to(self):
        x = numpy.arange(3, dtype=numpy.float32)
        watch = weakref.ref(x)
        value = cameo.Value(x)
        del x
        gc.collect()
        self.assertIsNotNone(watch())
        made = numpy.asarray(value)
        del value
        gc.collect()
        self.assertEqual(made.tolist(), [0, 1, 2])
        del made
        gc.collect()
        self.assertIsNone(watch())

    def test_read_only_memory_stays_so(self):
        view = memoryview(cameo.Value(b"abc"))
        self.assertTrue(view.readonly)
        self.assertRaises(TypeError, view.__setitem__, 0, 1)
        self.assertFalse(numpy.asarray(cameo.Value(b"abc")).flags.writeable)

    def test_a_value_that_was_never_made_has_no_elements(self):
        self.assertRaises(BufferError, memoryview, cameo.Value.__new__(cameo.Value))

    def test_texts_have_no_bytes(self):
        value = cameo.Value(["a", "b"])
        self.assertEqual((value.dtype, value.tolist()), ("string", ["a", "b"]))
        for ask in (lambda: value.bytes(), lambda: value.address, lambda: value.nbytes, lambda: value.__dlpack__()):
            self.assertRaises(cameo.errors.InvalidArgument, ask)
        self.assertRaises(BufferError, memoryview, value)


class Binding(unittest.TestCase):
    def test_runs_read_and_write_where_arrays_lie(self):
        session = cameo.Session(models.unary("Neg", models.F, "n"))
        x, y = numpy.arange(4, dtype=numpy.float32), numpy.zeros(4, numpy.float32)
        binding = session.bind()
        binding.bind_input("x", x)
        binding.bind_output("y", y)
        binding.run()
        self.assertEqual(y.tolist(), [0, -1, -2, -3])
        self.assertIs(binding.outputs()["y"], y)
        x[:] = 5
        binding.run()
        self.assertEqual(y.tolist(), [-5] * 4)
        binding.bind_input("x", x[:2].copy())  # a smaller output fits
        binding.run()
        self.assertEqual(binding.outputs()["y"].tolist(), [-5, -5])
        binding.bind_input("x", numpy.ones(5, numpy.float32))
        self.assertRaises(cameo.errors.InvalidArgument, binding.run)
        binding.bind_output("y", None)
        binding.run()
        self.assertEqual(binding.outputs()["y"].tolist(), [-1] * 5)

    def test_what_cannot_be_written_to_is_refused(self):
        binding = cameo.Session(models.unary("Neg", models.F, "n")).bind()
        read_only = numpy.zeros(4, numpy.float32)
        read_only.flags.writeable = False
        for given in (read_only, numpy.zeros(8, numpy.float32)[::2], [1.0, 2.0], b"abcd", numpy.zeros(4)):
            with self.assertRaises(cameo.errors.InvalidArgument):
                binding.bind_output("y", given)
        for call in (lambda: binding.bind_input("z", read_only), lambda: binding.bind_output("z", numpy.zeros(1)),
                     binding.run, binding.outputs):
            self.assertRaises(cameo.errors.InvalidArgument, call)

    def test_a_run_that_failed_has_no_outputs(self):
        binding = cameo.Session(models.unary("Neg", models.F, "n")).bind()
        binding.bind_input("x", numpy.ones(3, numpy.float32))
        binding.run()
        self.assertRaises(cameo.errors.DeadlineExceeded, binding.run, 0)
        with self.assertRaisesRegex(cameo.errors.InvalidArgument, "its last run failed"):
            binding.outputs()
        binding.run()
        self.assertEqual(binding.outputs()["y"].tolist(), [-1] * 3)

    def test_an_optional_input_may_be_bound_to_nothing(self):
        optional = helper.make_value_info("x", helper.make_optional_type_proto(helper.make_tensor_type_proto(models.F, None)))
        session = cameo.Session(models.made([helper.make_node("OptionalHasElement", ["x"], ["y"])], [optional],
                                            [models.info("y", TensorProto.BOOL)]))
        binding = session.bind()
        for given in (numpy.ones(1, numpy.float32), None):
            binding.bind_input("x", given)
            binding.run()
            self.assertEqual(bool(binding.outputs()["y"]), given is not None)
        with self.assertRaisesRegex(cameo.errors.InvalidArgument, "given nothing"):
            cameo.Session(models.unary()).bind().bind_input("x", None)

    def test_runs_write_into_a_value_that_a_run_gave_and_into_tensors_of_dlpack(self):
        session = cameo.Session(models.unary("Neg", models.F, "n"))
        value = session.run({"x": numpy.ones(3, numpy.float32)}, values=True)["y"]
        binding = session.bind()
        binding.bind_input("x", numpy.full(3, 5, numpy.float32))
        binding.bind_output("y", value)
        binding.run()
        self.assertEqual(value.tolist(), [-5] * 3)
        self.assertIs(binding.outputs()["y"], value)
        tensor = numpy.zeros(3, numpy.float32)
        binding.bind_output("y", OnlyDlpack(tensor))
        binding.run()
        self.assertEqual(tensor.tolist(), [-5] * 3)
        tensor.flags.writeable = False
        for given in (cameo.Value(b"abc"), cameo.Value(["a"]), cameo.Value({"a": 1.0}), OnlyDlpack(tensor)):
            self.assertRaises(cameo.errors.InvalidArgument, binding.bind_output, "y", given)

    def test_what_is_bound_does_not_move(self):
        session = cameo.Session(models.unary("Neg", models.F, "n"))
        binding, x, y = session.bind(), array.array("f", [1, 2]), array.array("f", [0, 0])
        binding.bind_input("x", x)
        binding.bind_output("y", y)
        for bound in (x, y):
            self.assertRaises(BufferError, bound.extend, range(100_000))
        binding.run()
        self.assertEqual(y.tolist(), [-1, -2])
        binding.bind_output("y", None)
        y.extend(range(100_000))

    def test_it_keeps_arrays_and_session(self):
        binding = cameo.Session(models.unary("Neg", models.F, "n")).bind()
        binding.bind_input("x", numpy.full(1000, 3, numpy.float32))
        gc.collect()
        binding.run()
        self.assertEqual(set(binding.outputs()["y"].tolist()), {-3})

    def test_a_second_thread_is_refused(self):
        binding = cameo.Session(models.endless()).bind()
        binding.bind_input("m", numpy.array(10**9))
        binding.bind_input("x", numpy.ones(1000, numpy.float32))
        stop = cameo.Stop()
        thread = threading.Thread(target=lambda: self.assertRaises(cameo.errors.Canceled, binding.run, None, stop))
        thread.start()
        time.sleep(0.05)
        with self.assertRaisesRegex(cameo.errors.InvalidArgument, "another thread"):
            binding.run()
        stop.request()
        thread.join()


class Tools(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = pathlib.Path(made.name)

    def test_providers_and_devices(self):
        self.assertEqual(cameo.providers()[-1].name, "cpu")
        self.assertIn("cpu", {device.kind for device in cameo.devices()})

    def test_convert_writes_a_model_that_gives_the_same(self):
        x = numpy.ones((2, 1, 8, 8), numpy.float32)
        wanted = cameo.Session(DIGITS).run({"image": x})["logits"]
        for target in ("digits.ort", "digits.onnx"):
            for level in ("none", "extended"):
                cameo.convert(DIGITS, self.folder / target, optimize=level)
                made = cameo.Session(self.folder / target).run({"image": x})["logits"]
                numpy.testing.assert_allclose(made, wanted, rtol=1e-5)
        with self.assertRaises(cameo.Error):
            cameo.convert(DIGITS, self.folder / "absent" / "digits.ort")

    def test_compile_makes_nodes_that_hold_programs(self):
        name = "frozen"
        target = self.folder / "digits_ctx.onnx"
        self.assertEqual(cameo.compile(DIGITS, target, [name], embed=True), 1)
        x = numpy.ones((2, 1, 8, 8), numpy.float32)
        numpy.testing.assert_allclose(cameo.Session(target, [name]).run({"image": x})["logits"],
                                      cameo.Session(DIGITS).run({"image": x})["logits"], rtol=1e-5)
        with self.assertRaisesRegex(cameo.errors.InvalidArgument, "npu"):
            cameo.compile(DIGITS, target, provider_options={"npu": {"a": 1}})

    def test_inspect_shows_the_page_in_a_notebook(self):
        seen = cameo.inspect(DIGITS)
        self.assertEqual((seen.providers, seen.parameters), ({"cpu": 6}, 2730))
        self.assertIn("<html", seen.html)
        self.assertRegex(seen._repr_html_(), r'^<iframe [^>]*srcdoc="&lt;!')
        self.assertNotRegex(seen._repr_html_().split('srcdoc="')[1].rstrip('"></iframe>'), '"')
        self.assertIn("digits.onnx", repr(seen))

    def test_profile_writes_a_trace(self):
        session = cameo.Session(DIGITS)
        x = numpy.ones((2, 1, 8, 8), numpy.float32)
        with session.profile(self.folder / "trace.json") as profile:
            session.run({"image": x})
        steps = profile.steps
        session.run({"image": x})
        self.assertEqual(profile.steps, steps)
        events = json.loads((self.folder / "trace.json").read_text())["traceEvents"]
        self.assertEqual(sum(event["ph"] == "X" for event in events), steps)
        self.assertGreater(steps, 3)
        with self.assertRaisesRegex(cameo.errors.InvalidArgument, "nothing was recorded"):
            session.profile().write(self.folder / "other.json")
        with self.assertRaisesRegex(cameo.errors.InvalidArgument, "capacity is -1"):
            session.profile(capacity=-1)

    def test_assignments_say_where_nodes_run(self):
        made = cameo.Session(DIGITS).assignments
        self.assertEqual({each.provider for each in made}, {"cpu"})
        self.assertIn("Softmax", {each.op_type for each in made})

    def test_a_package_loads_as_one_model(self):
        (self.folder / "package" / "plain").mkdir(parents=True)
        (self.folder / "package" / "plain" / "model.onnx").write_bytes(DIGITS.read_bytes())
        manifest = {"schema_version": "1.0", "package_name": "digits", "components": {"part": {"variants": {"plain": {
            "ep": cameo.providers()[-1].long_name,
            "executor_info": {"ort": {"model_file": "model.onnx"}}}}}}}
        (self.folder / "package" / "manifest.json").write_text(json.dumps(manifest))
        package = cameo.Package(self.folder / "package")
        self.assertEqual(package.name, "digits")
        self.assertEqual([each.name for each in package.components["part"]], ["plain"])
        whole = package.load()
        self.assertEqual(whole.inputs[0].name, "image")
        x = numpy.ones((2, 1, 8, 8), numpy.float32)
        numpy.testing.assert_array_equal(whole.run({"image": x})["logits"], cameo.Session(DIGITS).run({"image": x})["logits"])
        with self.assertRaises(cameo.Error):
            cameo.Package(self.folder)


if __name__ == "__main__":
    unittest.main()
