"""Compares cameo.onnxruntime with the real onnxruntime: the same calls to both, and uses of it by other packages.

Usage: onnxruntime_test.py [unittest's arguments]
"""
import ast
import gc
import inspect
import json
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile
import textwrap
import threading
import unittest
import warnings
import weakref

import models
import numpy
import onnxruntime as real
from onnx import TensorProto, helper, numpy_helper

import cameo
import cameo.onnxruntime as ours

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DIGITS = str(ROOT / "examples" / "digits" / "digits.onnx")
CPU = ["CPUExecutionProvider"]
X = numpy.random.default_rng(1).random((3, 1, 8, 8), numpy.float32)

# Names of the real module that are about its own packaging.
ASIDE = {"contextlib", "cuda_version", "import_capi_exception", "onnxruntime_validation", "package_name", "version", "capi"}


def both(call):
    return call(ours), call(real)


class Names(unittest.TestCase):
    def test_every_name_is_here_or_an_error_that_says_why_not(self):
        """docs/python.md lists each of those errors."""
        from cameo.onnxruntime._absent import ABSENT

        instances = {"onnxruntime": ours, "SessionOptions": ours.SessionOptions(), "RunOptions": ours.RunOptions(),
                     "InferenceSession": ours.InferenceSession(DIGITS, providers=CPU),
                     "IOBinding": ours.InferenceSession(DIGITS, providers=CPU).io_binding(),
                     "OrtValue": ours.OrtValue.ortvalue_from_numpy(X)}
        page = (ROOT / "docs" / "python.md").read_text()
        for owner, made in instances.items():
            theirs = real if owner == "onnxruntime" else getattr(real, owner)
            public = {each for each in dir(theirs) if not each.startswith("_")} - (ASIDE if theirs is real else set())
            missing = {each for each in public if not hasattr(made, each)}
            self.assertEqual(missing, set(ABSENT.get(owner, ())), owner)
            for name in missing:
                with self.assertRaisesRegex(cameo.errors.NotImplemented, f"^NOT_IMPLEMENTED: .*{name} is not in cameo.onnxruntime: "):
                    getattr(made, name)
                self.assertIn(f"`{name}`", page, "docs/python.md lists what is absent")
        self.assertRaises(AttributeError, getattr, ours, "abacus")

    def test_every_name_of_the_compiled_part_is_here_or_an_error_that_says_why_not(self):
        from onnxruntime.capi import _pybind_state, onnxruntime_pybind11_state

        from cameo.onnxruntime._absent import ABSENT

        page = (ROOT / "docs" / "python.md").read_text()
        absent = {**ABSENT["onnxruntime"], **ABSENT["capi"]}
        for theirs in (onnxruntime_pybind11_state, _pybind_state):
            made = getattr(ours.capi, theirs.__name__.rpartition(".")[2])
            public = {each for each in dir(theirs) if not each.startswith("_")} - {"os", "platform", "warnings"}
            self.assertEqual({each for each in public if each not in dir(made)} - set(absent), set())
            self.assertEqual(set(ABSENT["capi"]) - public, set(), "onnxruntime has what is said to be absent here")
        for name in ABSENT["capi"]:
            with self.assertRaisesRegex(cameo.errors.NotImplemented, f"^NOT_IMPLEMENTED: .*{name} is not in cameo.onnxruntime: "):
                getattr(ours.capi._pybind_state, name)()
            self.assertIn(f"`{name}`", page, "docs/python.md lists what is absent")
        self.assertFalse(hasattr(ours.capi._pybind_state, "abacus"))

    def test_arguments_have_the_same_names(self):
        owners = [(ours, real), *((getattr(ours, name), getattr(real, name)) for name in (
            "InferenceSession", "IOBinding", "OrtValue", "OrtDevice"))]
        compared = 0
        for mine, theirs in owners:
            for name in dir(theirs):
                one, other = getattr(mine, name, None), getattr(theirs, name)
                if name.startswith("_") or not inspect.isfunction(one) or not inspect.isfunction(other):
                    continue
                compared += 1
                self.assertEqual(list(inspect.signature(one).parameters), list(inspect.signature(other).parameters), name)
        self.assertGreater(compared, 40)

    def test_numbers_are_the_same(self):
        for name in ("GraphOptimizationLevel", "ExecutionMode", "ExecutionOrder", "OrtAllocatorType", "OrtMemType"):
            for key, value in getattr(real, name).__members__.items():
                self.assertEqual(int(getattr(getattr(ours, name), key)), int(value), (name, key))
        self.assertEqual(ours.get_device(), real.get_device())
        self.assertEqual(ours.__version__, real.__version__)
        self.assertIn(CPU[0], ours.get_available_providers())

    def test_defaults_of_options_are_the_same(self):
        one, other = ours.SessionOptions(), real.SessionOptions()
        for name in ("intra_op_num_threads", "inter_op_num_threads", "enable_mem_pattern", "enable_mem_reuse",
                     "enable_cpu_mem_arena", "enable_profiling", "log_severity_level", "log_verbosity_level", "logid",
                     "use_deterministic_compute", "optimized_model_filepath"):
            self.assertEqual(getattr(one, name), getattr(other, name), name)
        self.assertEqual(int(one.graph_optimization_level), int(other.graph_optimization_level))
        self.assertEqual(int(one.execution_mode), int(other.execution_mode))
        for made in (one, other):
            made.add_session_config_entry("a.b", "1")
            self.assertEqual(made.get_session_config_entry("a.b"), "1")
            self.assertRaises(RuntimeError, made.get_session_config_entry, "absent")


class Sessions(unittest.TestCase):
    def test_descriptions_are_the_same(self):
        for model in (DIGITS, models.with_default().SerializeToString(), models.unary("Neg", models.F, 2, "n").SerializeToString()):
            one, other = both(lambda ort: ort.InferenceSession(model, providers=CPU))
            for ask in ("get_inputs", "get_outputs", "get_overridable_initializers"):
                self.assertEqual([(each.name, each.type, each.shape) for each in getattr(one, ask)()],
                                 [(each.name, each.type, each.shape) for each in getattr(other, ask)()], ask)
            self.assertEqual(one.get_providers(), other.get_providers())
            self.assertEqual(one.get_provider_options(), {CPU[0]: {}})
            mine, theirs = one.get_modelmeta(), other.get_modelmeta()
            for ask in ("producer_name", "graph_name", "domain", "description", "custom_metadata_map"):
                self.assertEqual(getattr(mine, ask), getattr(theirs, ask), ask)

    def test_results_are_the_same(self):
        one, other = both(lambda ort: ort.InferenceSession(DIGITS, providers=CPU).run(None, {"image": X}))
        self.assertEqual(len(one), 2)
        for mine, theirs in zip(one, other, strict=True):
            self.assertEqual((mine.dtype, mine.shape), (theirs.dtype, theirs.shape))
            numpy.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-6)
        one, other = both(lambda ort: ort.InferenceSession(DIGITS, providers=CPU).run(["probabilities"], {"image": X}))
        numpy.testing.assert_allclose(one[0], other[0], rtol=1e-4, atol=1e-6)

    def test_texts_sequences_and_maps_come_out_the_same(self):
        text = models.unary("Identity", TensorProto.STRING, "n").SerializeToString()
        one, other = both(lambda ort: ort.InferenceSession(text, providers=CPU).run(None, {"x": numpy.array(["a", "ü"])})[0])
        self.assertEqual((one.dtype, one.tolist()), (other.dtype, other.tolist()))
        split = models.made([helper.make_node("SplitToSequence", ["x"], ["s"], axis=0)], [models.info("x", models.F, 2, 2)],
                            [helper.make_tensor_sequence_value_info("s", models.F, None)]).SerializeToString()
        x = numpy.ones((2, 2), numpy.float32)
        one, other = both(lambda ort: ort.InferenceSession(split, providers=CPU).run(None, {"x": x})[0])
        self.assertEqual([each.tolist() for each in one], [each.tolist() for each in other])
        self.assertIs(type(one), type(other))
        zip_map = models.made(
            [helper.make_node("ZipMap", ["x"], ["y"], domain="ai.onnx.ml", classlabels_int64s=[4, 5])],
            [models.info("x", models.F, "n", 2)],
            [helper.make_value_info("y", helper.make_sequence_type_proto(helper.make_map_type_proto(
                TensorProto.INT64, helper.make_tensor_type_proto(models.F, []))))])
        zip_map.opset_import.append(helper.make_opsetid("ai.onnx.ml", 1))
        zip_map = zip_map.SerializeToString()
        one, other = both(lambda ort: ort.InferenceSession(zip_map, providers=CPU).run(None, {"x": x})[0])
        self.assertEqual(one, other)

    def test_errors_are_caught_by_the_same_names(self):
        from onnxruntime.capi import onnxruntime_pybind11_state as real_state

        cases = {
            "NoSuchFile": lambda ort: ort.InferenceSession("absent.onnx", providers=CPU),
            "InvalidProtobuf": lambda ort: ort.InferenceSession(b"rubbish", providers=CPU),
            "InvalidArgument": lambda ort: ort.InferenceSession(DIGITS, providers=CPU).run(None, {"image": X[0]}),
        }
        for name, call in cases.items():
            self.assertRaises(getattr(real_state, name), call, real)
            self.assertRaises(getattr(ours.capi.onnxruntime_pybind11_state, name), call, ours)
        missing = lambda ort: ort.InferenceSession(DIGITS, providers=CPU).run(None, {})  # noqa: E731
        self.assertRaises(ValueError, missing, real)
        self.assertRaises(ValueError, missing, ours)

    def test_providers_that_are_not_there_are_a_warning(self):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            session = ours.InferenceSession(DIGITS, providers=["AbacusExecutionProvider", ("CPUExecutionProvider", {"arena_extend_strategy": "kSameAsRequested"})])
        self.assertIn("'AbacusExecutionProvider' is not in available provider names", str(told[0].message))
        self.assertEqual(session.get_providers(), CPU)
        session.set_providers(CPU)
        self.assertEqual(session.run(None, {"image": X})[0].shape, (3, 10))

    def test_one_name_and_a_name_twice_are_providers_too(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.assertEqual(*both(lambda ort: ort.InferenceSession(DIGITS, providers=CPU * 2).get_providers()))
            self.assertEqual(ours.InferenceSession(DIGITS, providers=CPU[0]).get_providers(), CPU)
        for providers in ([3], [("CPUExecutionProvider", 3)]):
            with self.assertRaisesRegex(cameo.errors.InvalidArgument, "each is a name, or a pair"):
                ours.InferenceSession(DIGITS, providers=providers)

    def test_options_have_their_effect(self):
        options = ours.SessionOptions()
        options.intra_op_num_threads = 1
        options.graph_optimization_level = ours.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.execution_mode = ours.ExecutionMode.ORT_PARALLEL
        options.add_free_dimension_override_by_name("batch", 3)
        with tempfile.TemporaryDirectory() as folder:
            options.enable_profiling = True
            options.profile_file_prefix = folder + "/p"
            session = ours.InferenceSession(DIGITS, options, CPU)
            session.run(None, {"image": X})
            self.assertIn("_kernel_time", pathlib.Path(session.end_profiling()).read_text())
        self.assertEqual(session.get_inputs()[0].shape, [3, 1, 8, 8])
        self.assertEqual(session.cameo_session.threads, 1)
        self.assertEqual({each.domain for each in session.cameo_session.assignments}, {""})
        options.set_load_cancellation_flag(True)
        with self.assertRaises(cameo.errors.ModelLoadCanceled):
            ours.InferenceSession(DIGITS, options, CPU)

    def test_a_misspelled_option_is_an_error(self):
        for module in (ours, real):
            for made in (module.SessionOptions(), module.RunOptions()):
                self.assertRaises(AttributeError, setattr, made, "intra_op_threads", 1)

    def test_fewer_than_no_threads_are_the_default(self):
        for module in (ours, real):
            options = module.SessionOptions()
            options.intra_op_num_threads = -1
            self.assertEqual(module.InferenceSession(DIGITS, options, CPU).run(None, {"image": X})[0].shape, (3, 10))

    def test_an_enumeration_is_written_with_its_name(self):
        for value in ("GraphOptimizationLevel.ORT_ENABLE_ALL", "ExecutionMode.ORT_PARALLEL", "OrtMemType.DEFAULT", "OrtMemType.CPU",
                      "OrtAllocatorType.INVALID", "OrtDeviceVendorId.NVIDIA", "OrtSparseFormat.ORT_SPARSE_CSRC",
                      "OrtHardwareDeviceType.NPU"):
            kind, name = value.split(".")
            one, other = both(lambda ort: getattr(getattr(ort, kind), name))
            self.assertEqual((str(one), f"{one}", repr(one), one.name, one.value), (str(other), f"{other}", repr(other), other.name, other.value))

    def test_a_missing_input_is_named_in_onnxruntime_s_words(self):
        def words(ort, feed):
            try:
                ort.InferenceSession(models.with_default().SerializeToString(), providers=CPU).run(None, feed)
            except ValueError as error:
                return str(error)

        one, other = both(lambda ort: words(ort, {"other": X}))
        self.assertTrue(one.endswith(other), (one, other))
        self.assertIn("Required inputs (['x']) are missing from input feed (['other']).", one)

    def test_a_wrong_input_is_an_error_in_onnxruntime_s_words(self):
        cases = ({"image": X[0]}, {"image": X[:, :, :7]}, {"image": X.astype(numpy.float64)}, {"image": X, "other": X})
        for feed in cases:
            told = []
            for ort in (real, ours):
                with self.assertRaises(Exception) as raised:
                    ort.InferenceSession(DIGITS, providers=CPU).run(None, feed)
                told.append(str(raised.exception))
            self.assertIn(told[0].rpartition(" : INVALID_ARGUMENT : ")[2], told[1])
        with self.assertRaisesRegex(cameo.errors.InvalidArgument, "Invalid output name:absent"):
            ours.InferenceSession(DIGITS, providers=CPU).run(["absent"], {"image": X})

    def test_a_map_with_keys_of_another_type_is_an_error_in_onnxruntime_s_words(self):
        def session(ort, key):
            words = {"int64_vocabulary": [0, 1]} if key == TensorProto.INT64 else {"string_vocabulary": ["a", "b"]}
            node = helper.make_node("DictVectorizer", ["x"], ["y"], domain="ai.onnx.ml", **words)
            kind = helper.make_map_type_proto(key, helper.make_tensor_type_proto(models.F, []))
            model = models.made([node], [helper.make_value_info("x", kind)], [models.info("y", models.F, 1, 2)])
            model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 1))
            return ort.InferenceSession(model.SerializeToString(), providers=CPU)

        cases = (TensorProto.INT64, {0: 1.0, "a": 2.0}), (TensorProto.INT64, {"a": 2.0}), (TensorProto.INT64, {1.0: 2.0}), \
            (TensorProto.STRING, {0: 1.0}), (TensorProto.STRING, {numpy.int64(0): numpy.float32(1)})
        for key, feed in cases:
            told = []
            for ort in (real, ours):
                with self.assertRaises(Exception) as raised:
                    session(ort, key).run(None, {"x": feed})
                told.append(str(raised.exception))
            self.assertIn(told[0].rpartition(" : INVALID_ARGUMENT : ")[2], told[1])
        for key, feed in ((TensorProto.INT64, {0: None}), (TensorProto.STRING, {"a": "1.5"})):
            for ort in (real, ours):
                with self.assertRaisesRegex(Exception, "Unexpected value type  <class '(NoneType|str)'>, it cannot be linked to C type"):
                    session(ort, key).run(None, {"x": feed})
        for key, feed in ((TensorProto.INT64, {numpy.int32(1): numpy.float64(2), 0: 1}), (TensorProto.STRING, {numpy.str_("b"): 2})):
            one, other = both(lambda ort: session(ort, key).run(None, {"x": feed})[0].tolist())
            self.assertEqual(one, other)

    def test_an_operator_that_is_not_there_is_named_in_onnxruntime_s_words(self):
        absent = models.made([helper.make_node("Abacus", ["x"], ["y"], domain="com.microsoft")], [models.info("x", models.F, 2)], [models.info("y", models.F, 2)])
        absent.opset_import.append(helper.make_opsetid("com.microsoft", 1))
        for ort in (real, ours):
            with self.assertRaisesRegex(Exception, re.escape("com.microsoft:Abacus(-1) is not a registered function/op")):
                ort.InferenceSession(absent.SerializeToString(), providers=CPU)

    def test_an_argument_of_a_type_that_its_operator_does_not_allow_is_named_in_onnxruntime_s_words(self):
        half, floats = TensorProto.FLOAT16, models.F
        nodes = (helper.make_node("DynamicQuantizeLinear", ["image"], ["y", "s", "z"], "quantize"), half), \
            (helper.make_node("MatMulInteger", ["image", "image"], ["y"]), floats), \
            (helper.make_node("QGemm", ["image"] * 6, ["y"], domain="com.microsoft"), floats)
        for node, kind in nodes:
            model = models.made([node], [models.info("image", kind, 2, 2)], [models.info("y", TensorProto.UINT8, 2, 2)], 19)
            model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
            told = []
            for ort in (real, ours):
                with self.assertRaises(ort.capi._pybind_state.InvalidGraph) as raised:
                    ort.InferenceSession(model.SerializeToString(), providers=CPU)
                told.append(str(raised.exception))
            self.assertIn(told[0][told[0].index("Type Error: "):], told[1])

    def test_external_data_outside_the_folder_is_an_error_in_onnxruntime_s_words(self):
        with tempfile.TemporaryDirectory() as folder:
            inside = pathlib.Path(folder, "model")
            inside.mkdir()
            pathlib.Path(folder, "data").write_bytes(bytes(8))
            (inside / "link").symlink_to(pathlib.Path(folder, "data"))
            for location in ("link", "../data", f"{folder}/data", "absent"):
                weight = TensorProto(name="w", data_type=models.F, dims=[2], data_location=TensorProto.EXTERNAL)
                weight.external_data.add(key="location", value=location)
                model = models.made([helper.make_node("Add", ["x", "w"], ["y"])], [models.info("x", models.F, 2)],
                                    [models.info("y", models.F, 2)], 17, [weight])
                (inside / "m.onnx").write_bytes(model.SerializeToString())
                for ort in (real, ours):
                    with self.assertRaisesRegex(RuntimeError if ort is ours else Exception,
                                                "External data path validation failed for initializer: w. Error: "):
                        ort.InferenceSession(str(inside / "m.onnx"), providers=CPU)

    def test_an_anonymous_size_is_none_and_a_type_has_no_blank(self):
        count = models.made([helper.make_node("NonZero", ["x"], ["y"])], [models.info("x", models.F, None, 3)],
                            [helper.make_tensor_value_info("y", TensorProto.INT64, None)])
        named = models.unary("Neg", models.F, "unk__7", 2)
        zip_map = models.made(
            [helper.make_node("ZipMap", ["x"], ["y"], domain="ai.onnx.ml", classlabels_int64s=[4, 5])], [models.info("x", models.F, "n", 2)],
            [helper.make_value_info("y", helper.make_sequence_type_proto(helper.make_map_type_proto(
                TensorProto.INT64, helper.make_tensor_type_proto(models.F, []))))])
        zip_map.opset_import.append(helper.make_opsetid("ai.onnx.ml", 1))
        for model in (count, named, zip_map):
            one, other = both(lambda ort: ort.InferenceSession(model.SerializeToString(), providers=CPU))
            for ask in ("get_inputs", "get_outputs"):
                self.assertEqual([(each.name, each.type, each.shape) for each in getattr(one, ask)()],
                                 [(each.name, each.type, each.shape) for each in getattr(other, ask)()], ask)

    def test_names_that_public_code_uses_are_there(self):
        def seen(ort):
            model = pathlib.Path(DIGITS).read_bytes()
            options = ort.SessionOptions()
            session = ort.InferenceSession(model, options, CPU)
            return [each.name for each in session._inputs_meta], [each.shape for each in session._outputs_meta], session._providers, \
                session._provider_options, session._model_bytes == model, session._model_path, session._sess_options.intra_op_num_threads, \
                session._overridable_initializers, session._model_meta.graph_name, session._fallback_providers, session._enable_fallback, \
                session._sess.run(["logits"], {"image": X}, None)[0].shape, [each.name for each in session._sess.inputs_meta], \
                type(session._sess.run_with_ort_values({"image": ort.OrtValue.ortvalue_from_numpy(X)._get_c_value()}, ["logits"], None)).__name__

        self.assertEqual(*both(seen))

    def test_unknown_providers_are_refused_by_set_providers(self):
        for ort in (real, ours):
            session = ort.InferenceSession(DIGITS, providers=CPU)
            with warnings.catch_warnings(), self.assertRaisesRegex(RuntimeError, "Unknown Provider Type: Abacus"):
                warnings.simplefilter("ignore")
                session.set_providers(["Abacus"])
        self.assertEqual(session.run(None, {"image": X})[0].shape, (3, 10), "the session stays as it was")
        for ort in (real, ours):
            with warnings.catch_warnings(), self.assertRaisesRegex(RuntimeError, "Unknown Provider Type: Abacus"):
                warnings.simplefilter("ignore")
                ort.InferenceSession(DIGITS, providers=["Abacus"], enable_fallback=0)

    def test_the_fallback_comes_before_providers_that_are_chosen_on_purpose(self):
        names = ours.get_available_providers()
        accelerated = {each.long_name for each in cameo.devices() if each.kind != "cpu"}
        self.assertEqual(set(names[:names.index(CPU[0])]), accelerated)
        self.assertEqual(sorted(names), sorted(ours.get_all_providers()))
        self.assertEqual(ours.get_all_providers()[-1], CPU[0])
        if not accelerated:
            self.assertEqual(ours.InferenceSession(DIGITS, providers=names).get_providers(), CPU)

    def test_what_a_callback_of_run_async_raises_is_unraisable(self):
        told = {}
        before = sys.unraisablehook
        for ort in (real, ours):
            options, done = ort.SessionOptions(), threading.Event()
            options.intra_op_num_threads = 2
            session = ort.InferenceSession(DIGITS, options, CPU)

            def call_back(*_):
                raise ValueError("mine")

            def hook(unraisable, ort=ort, done=done):
                told[ort] = unraisable.exc_type, str(unraisable.exc_value), "callback" in str(unraisable.object)
                done.set()

            sys.unraisablehook = hook
            try:
                session.run_async(None, {"image": X}, call_back, None)
                self.assertTrue(done.wait(10), ort)
            finally:
                sys.unraisablehook = before
            self.assertRaisesRegex(ValueError, "Required inputs", session.run_async, None, {}, call_back, None)
        self.assertEqual(told[ours], told[real])

    def test_profiles_have_onnxruntime_s_layout(self):
        def events(ort, folder):
            options = ort.SessionOptions()
            options.enable_profiling = True
            options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
            options.profile_file_prefix = folder + "/" + ort.__name__
            session = ort.InferenceSession(DIGITS, options, CPU)
            session.run(None, {"image": X})
            session.run(None, {"image": X})
            path = session.end_profiling()
            self.assertEqual(session.end_profiling(), "")
            lines = pathlib.Path(path).read_text().splitlines()
            self.assertEqual((lines[0], lines[-1]), ("[", "]"))
            self.assertEqual(len(lines) - 2, len(json.loads("\n".join(lines))))
            return json.loads("\n".join(lines))

        with tempfile.TemporaryDirectory() as folder:
            mine, theirs = both(lambda ort: events(ort, folder))
        kernels = [sorted(each["name"] for each in made if each["cat"] == "Node") for made in (mine, theirs)]
        self.assertEqual(*kernels)
        self.assertEqual({each["name"] for each in mine if each["cat"] == "Session"}, {each["name"] for each in theirs if each["cat"] == "Session"})
        for each in mine:
            self.assertEqual(set(each), set(theirs[0]))
            if each["cat"] == "Node":
                self.assertEqual(each["args"]["provider"], CPU[0])
                self.assertIn(each["args"]["op_name"], {"Conv", "Relu", "MaxPool", "Flatten", "Gemm", "Softmax"})
        runs = [each for each in mine if each["name"] == "model_run"]
        for each in mine:
            if each["cat"] == "Node":
                self.assertTrue(any(run["ts"] - 2000 <= each["ts"] <= run["ts"] + run["dur"] + 2000 for run in runs), "a node is within a run")

    def test_onnxruntime_s_own_reader_reads_a_profile(self):
        from onnxruntime.transformers import profile_result_processor

        options = ours.SessionOptions()
        options.enable_profiling = True
        with tempfile.TemporaryDirectory() as folder:
            options.profile_file_prefix = folder + "/p"
            session = ours.InferenceSession(DIGITS, options, CPU)
            session.run(None, {"image": X})
            read = profile_result_processor.load_profile_json(session.end_profiling())
        lines = profile_result_processor.parse_node_results(read, False)
        self.assertTrue(any("Conv" in line for line in lines), lines)

    def test_options_are_read_from_the_model_where_that_is_wanted(self):
        model = models.unary("Neg")
        entry = model.metadata_props.add()
        entry.key, entry.value = "ort_config", json.dumps({"session_options": {"intra_op_num_threads": 2, "inter_op_num_threads": 5}})
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/m.onnx"
            pathlib.Path(path).write_bytes(model.SerializeToString())
            for ort in (real, ours):
                for wanted in (0, 1):
                    os.environ["ORT_LOAD_CONFIG_FROM_MODEL"] = str(wanted)
                    try:
                        session = ort.InferenceSession(path, providers=CPU)
                    finally:
                        del os.environ["ORT_LOAD_CONFIG_FROM_MODEL"]
                    got = session.get_session_options()
                    self.assertEqual((got.intra_op_num_threads, got.inter_op_num_threads), (2, 5) if wanted else (0, 0), ort)

    def test_packages_find_the_path_of_the_model(self):
        self.assertEqual(*both(lambda module: module.InferenceSession(pathlib.Path(DIGITS), providers=CPU)._model_path))

    def test_terminate_ends_a_run(self):
        session = ours.InferenceSession(models.endless().SerializeToString(), providers=CPU)
        how = ours.RunOptions()
        threading.Timer(0.05, lambda: setattr(how, "terminate", True)).start()
        with self.assertRaises(cameo.errors.Canceled):
            session.run(None, {"m": numpy.array(10**9), "x": numpy.ones(1000, numpy.float32)}, how)
        how.terminate = False
        session.run(None, {"m": numpy.array(1), "x": numpy.ones(1000, numpy.float32)}, how)

    def test_run_async_calls_back(self):
        session = ours.InferenceSession(DIGITS, providers=CPU)
        for feed, wanted in (({"image": X}, ""), ({"image": X[0]}, "Invalid rank")):
            done, told = threading.Event(), []

            def call_back(results, user_data, error, told=told, done=done):
                told.append((results, user_data, error))
                done.set()

            session.run_async(None, feed, call_back, "mine")
            self.assertTrue(done.wait(10))
            self.assertEqual(told[0][1], "mine")
            self.assertIn(wanted, told[0][2])
            self.assertEqual(len(told[0][0]), 0 if wanted else 2)


class Bindings(unittest.TestCase):
    def outputs_of(self, ort):
        session = ort.InferenceSession(DIGITS, providers=CPU)
        binding = session.io_binding()
        y = numpy.zeros((3, 10), numpy.float32)
        binding.bind_input("image", "cpu", 0, numpy.float32, X.shape, X.ctypes.data)
        binding.bind_output("probabilities", "cpu", 0, numpy.float32, y.shape, y.ctypes.data)
        binding.bind_output("logits")
        session.run_with_iobinding(binding)
        made = binding.copy_outputs_to_cpu()
        numpy.testing.assert_array_equal(made[0], y)
        return [*made, *[each.numpy() for each in binding.get_outputs()]]

    def test_outputs_stay_when_inputs_are_cleared(self):
        def made(ort):
            session = ort.InferenceSession(DIGITS, providers=CPU)
            binding = session.io_binding()
            binding.bind_cpu_input("image", X)
            binding.bind_output("logits")
            session.run_with_iobinding(binding)
            binding.clear_binding_inputs()
            return binding.get_outputs()[0].numpy()

        one, other = both(made)
        numpy.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)

    def test_a_binding_is_of_its_session(self):
        for ort in (ours, real):
            binding = ort.InferenceSession(DIGITS, providers=CPU).io_binding()
            binding.bind_cpu_input("image", X)
            binding.bind_output("logits")
            self.assertRaises(ValueError, ort.InferenceSession(DIGITS, providers=CPU).run_with_iobinding, binding)

    def test_they_give_the_same(self):
        for mine, theirs in zip(*both(self.outputs_of), strict=True):
            numpy.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-6)

    def test_the_binding_of_the_compiled_part_runs(self):
        def made(ort):
            inner = ort.capi._pybind_state
            device = inner.OrtDevice(inner.OrtDevice.cpu(), inner.OrtDevice.default_memory(), 0)
            session = ort.InferenceSession(DIGITS, providers=CPU)
            binding = inner.SessionIOBinding(session._sess)
            kept = inner.OrtValue.ortvalue_from_numpy(X, device)
            binding.bind_ortvalue_input("image", kept)
            binding.bind_output("logits", device)
            session._sess.run_with_iobinding(binding, None)
            first = binding.get_outputs()[0].numpy()
            other = session.io_binding()
            other._iobinding.bind_input("image", X)
            other.bind_output("logits")
            session.run_with_iobinding(other)
            return first, other.copy_outputs_to_cpu()[0], type(binding.get_outputs()).__name__, type(other.get_outputs_as_ortvaluevector()).__name__

        one, other = both(made)
        self.assertEqual(one[2:], other[2:])
        for mine, theirs in zip(one[:2], other[:2], strict=True):
            numpy.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-6)

    def test_an_output_is_not_the_memory_of_an_input(self):
        through = models.made([helper.make_node("Add", ["x", "x"], ["y"])], [models.info("x", models.F, 2)],
                              [models.info("y", models.F, 2), models.info("x", models.F, 2)]).SerializeToString()
        for ort in (real, ours):
            x = numpy.ones(2, numpy.float32)
            made = ort.InferenceSession(through, providers=CPU).run(None, {"x": x})
            self.assertFalse(numpy.shares_memory(made[1], x), ort)
            x[:] = 7
            self.assertEqual(made[1].tolist(), [1, 1], ort)

    def values_of(self, ort):
        value = ort.OrtValue.ortvalue_from_numpy(X)
        session = ort.InferenceSession(DIGITS, providers=CPU)
        made = session.run_with_ort_values(["logits"], {"image": value})[0]
        empty = ort.OrtValue.ortvalue_from_shape_and_type([3, 10], numpy.float32)
        binding = session.io_binding()
        binding.bind_ortvalue_input("image", value)
        binding.bind_ortvalue_output("logits", empty)
        session.run_with_iobinding(binding)
        numpy.testing.assert_array_equal(empty.numpy(), made.numpy())
        binding.clear_binding_outputs()
        binding.bind_output("probabilities")
        session.run_with_iobinding(binding)
        self.assertEqual(len(binding.get_outputs()), 1)
        other = ort.OrtValue.ortvalue_from_numpy(numpy.zeros((2, 2), numpy.int64))
        other.update_inplace(numpy.ones((2, 2), numpy.int64))
        return [made.data_type(), made.shape(), list(made.shape()), made.is_tensor(), made.has_value(), made.device_name(),
                made.element_type(), other.numpy().tolist(), other.data_type(), made.is_sparse_tensor(),
                made.is_tensor_sequence()], made.numpy()

    def test_numbers_that_are_no_types_are_refused(self):
        for number in (-1, 0, 99):
            with self.assertRaisesRegex(cameo.errors.InvalidArgument, f"{number} is not an element type"):
                ours.OrtValue.ortvalue_from_shape_and_type([1], number)

    def test_values_are_made_of_every_type_that_onnxruntime_makes(self):
        compared = 0
        for number in range(1, 29):
            try:
                theirs = real.OrtValue.ortvalue_from_shape_and_type([4], number)
            except RuntimeError:
                continue
            mine = ours.OrtValue.ortvalue_from_shape_and_type([4], number)
            for ask in ("data_type", "element_type", "tensor_size_in_bytes", "shape"):
                self.assertEqual(getattr(mine, ask)(), getattr(theirs, ask)(), (number, ask))
            compared += 1
        self.assertGreater(compared, 20)
        self.assertEqual(ours.OrtValue.ortvalue_from_shape_and_type([4], TensorProto.INT4).numpy().tolist(), [0] * 4)
        with self.assertRaisesRegex(cameo.errors.InvalidArgument, "no address"):
            ours.OrtValue.ortvalue_from_shape_and_type([4], TensorProto.INT4).data_ptr()

    def test_devices_have_the_same_numbers(self):
        def numbers(ort):
            made = ort.OrtDevice.make("cpu", 0)
            return made.device_type(), made.device_id(), made.device_vendor_id(), made.device_mem_type()

        self.assertEqual(*both(numbers))
        for ask in ("cpu", "cuda", "cann", "dml", "fpga", "gpu", "npu", "webgpu", "default_memory"):
            self.assertEqual(*both(lambda ort: getattr(ort.capi._pybind_state.OrtDevice, ask)()), ask)
        for numbers in ((0, 0, 3), (1, 0, 0x10DE, 2)):
            one, other = both(lambda ort: ort.capi._pybind_state.OrtDevice(*numbers))
            for ask in ("device_type", "mem_type", "vendor_id", "device_id"):
                self.assertEqual(getattr(one, ask)(), getattr(other, ask)(), (numbers, ask))
        for name in ("cuda", "dml", "cann", "webgpu", "gpu", "npu"):
            one, other = both(lambda ort: ort.OrtDevice.make(name, 1))
            self.assertEqual((one.device_type(), one.device_vendor_id()), (other.device_type(), other.device_vendor_id()), name)
        self.assertRaises(cameo.errors.InvalidArgument, ours.OrtDevice.make, "abacus", 0)

    def test_values_are_the_same(self):
        (one, logits), (other, wanted) = both(self.values_of)
        self.assertEqual(one, other)
        numpy.testing.assert_allclose(logits, wanted, rtol=1e-4, atol=1e-6)

    def test_a_device_that_is_not_there_is_refused(self):
        with self.assertRaisesRegex(cameo.errors.InvalidArgument, "'cuda'"):
            ours.OrtValue.ortvalue_from_numpy(X, "cuda", 0)

    def test_a_description_of_memory_that_no_allocator_has_is_refused(self):
        def info(ort, kind, name):
            return ort.OrtMemoryInfo.create_v2(name, getattr(ort.OrtMemoryInfoDeviceType, kind), 0xDEAD if kind == "GPU" else 0, 0,
                                               ort.OrtDeviceMemoryType.DEFAULT, 0, ort.OrtAllocatorType.ORT_DEVICE_ALLOCATOR)

        for ort in (real, ours):
            ort.create_and_register_allocator(info(ort, "CPU", "Cpu"), None)
            for kind in ("GPU", "NPU"):
                with self.assertRaisesRegex(RuntimeError, "No shared allocator found for.*Bogus"):
                    ort.OrtValue.ortvalue_from_shape_and_type([2], numpy.float32, memory_info=info(ort, kind, "Bogus"))
            for kind in ({"device_type": "cuda"}, {"device_id": 1}):
                with self.assertWarnsRegex(UserWarning, "ignored when memory_info is provided"):
                    made = ort.OrtValue.ortvalue_from_shape_and_type([2], numpy.float32, memory_info=info(ort, "CPU", "Cpu"), **kind)
                self.assertEqual((made.shape(), made.data_type()), ([2], "tensor(float)"))


class Weights(unittest.TestCase):
    """Initializers that a program replaces, and those in a file beside an optimized model."""

    def scaled(self, external=False):
        weight = numpy_helper.from_array(numpy.array([[1, 2, 3]], numpy.float32), "w")
        if external:
            weight.ClearField("raw_data")
            weight.data_location = TensorProto.EXTERNAL
            for key, value in (("location", "absent.bin"), ("offset", "4"), ("length", "12")):
                entry = weight.external_data.add()
                entry.key, entry.value = key, value
        return models.made([helper.make_node("Mul", ["x", "w"], ["y"])], [models.info("x", models.F, "n", 3)],
                           [models.info("y", models.F, "n", 3)], initializers=[weight]).SerializeToString()

    def run_with(self, ort, model, add):
        options = ort.SessionOptions()
        add(ort, options)
        session = ort.InferenceSession(model, options, CPU)
        return session.run(None, {"x": numpy.ones((2, 3), numpy.float32)})[0].tolist()

    def test_add_initializer_replaces_one_of_the_model(self):
        w = numpy.array([[4, 5, 6]], numpy.float32)
        kept = {ort: ort.OrtValue.ortvalue_from_numpy(w) for ort in (ours, real)}
        one, other = both(lambda ort: self.run_with(ort, self.scaled(), lambda ort, options: options.add_initializer("w", kept[ort])))
        self.assertEqual(one, other)
        self.assertEqual(one, [[4, 5, 6]] * 2)
        one, other = both(lambda ort: self.run_with(ort, self.scaled(), lambda ort, options: options.add_initializer("other", kept[ort])))
        self.assertEqual(one, other)

    def test_an_initializer_of_another_shape_or_type_is_refused(self):
        for w in (numpy.zeros((1, 2), numpy.float32), numpy.zeros((1, 3), numpy.float64)):
            with self.assertRaisesRegex(cameo.errors.InvalidArgument, "'w'.* cannot be replaced by .*type and shape must be the same"):
                cameo.Session(self.scaled(), initializers={"w": w})
        with self.assertRaisesRegex(cameo.errors.InvalidArgument, "has to be an OrtValue"):
            ours.SessionOptions().add_initializer("w", w)

    def test_external_initializers_need_no_file(self):
        w = numpy.array([[4, 5, 6]], numpy.float32)
        kept = {ort: ort.OrtValue.ortvalue_from_numpy(w) for ort in (ours, real)}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "m.onnx"
            path.write_bytes(self.scaled(external=True))
            one, other = both(lambda ort: self.run_with(
                ort, str(path), lambda ort, options: options.add_external_initializers(["w"], [kept[ort]])))
            self.assertEqual(one, other)
            self.assertRaises(cameo.errors.InvalidGraph, ours.InferenceSession, str(path), providers=CPU)
        self.assertEqual(one, [[4, 5, 6]] * 2)

    def test_files_of_external_data_may_be_in_memory(self):
        data = bytes(4) + numpy.array([[7, 8, 9]], numpy.float32).tobytes()

        def add(ort, options):
            options.add_external_initializers_from_files_in_memory(["absent.bin"], [data], [len(data)])

        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "m.onnx"
            path.write_bytes(self.scaled(external=True))
            one, other = both(lambda ort: self.run_with(ort, str(path), add))
        self.assertEqual(one, other)
        self.assertEqual(self.run_with(ours, self.scaled(external=True), add), one, "and so may the model")
        with self.assertRaisesRegex(cameo.errors.InvalidGraph, "has 8 bytes, needs 12 from byte 4"):
            cameo.Session(self.scaled(external=True), external_files={"absent.bin": data[:8]})
        with self.assertRaisesRegex(cameo.errors.InvalidArgument, "has 16 bytes, and is to have 17"):
            ours.SessionOptions().add_external_initializers_from_files_in_memory(["absent.bin"], [data], [17])

    def test_what_was_given_lives_as_long_as_the_session(self):
        w = numpy.full((1, 3), 5, numpy.float32)
        seen = weakref.ref(w)
        session = cameo.Session(self.scaled(), initializers={"w": w})
        del w
        session._made_of = None
        gc.collect()
        self.assertIsNotNone(seen())
        self.assertEqual(session.run({"x": numpy.ones((1, 3), numpy.float32)})["y"].tolist(), [[5, 5, 5]])
        del session
        gc.collect()
        self.assertIsNone(seen())

    def test_an_optimized_model_may_have_its_weights_beside_it(self):
        def saved(ort, folder):
            options = ort.SessionOptions()
            options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
            options.optimized_model_filepath = str(folder / f"{ort.__name__}.onnx")
            options.add_session_config_entry("session.optimized_model_external_initializers_file_name", f"{ort.__name__}.bin")
            options.add_session_config_entry("session.optimized_model_external_initializers_min_size_in_bytes", "100")
            ort.InferenceSession(DIGITS, options, CPU)
            self.assertLess((folder / f"{ort.__name__}.onnx").stat().st_size, 4000)
            self.assertGreater((folder / f"{ort.__name__}.bin").stat().st_size, 10000)
            return real.InferenceSession(str(folder / f"{ort.__name__}.onnx"), providers=CPU).run(None, {"image": X})[1]

        with tempfile.TemporaryDirectory() as folder:
            one, other = both(lambda ort: saved(ort, pathlib.Path(folder)))
            numpy.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)
            for path, name, words in (("m.ort", "w.bin", "only an ONNX file"), ("m.onnx", "../w.bin", "must be a separate file beside the model"),
                                      ("m.onnx", "m.onnx", "separate file")):
                config = {"session.optimized_model_filepath": f"{folder}/{path}",
                          "session.optimized_model_external_initializers_file_name": name}
                with self.assertRaisesRegex(cameo.errors.InvalidArgument, words):
                    cameo.Session(DIGITS, optimize="basic", config=config)
            config |= {"session.optimized_model_external_initializers_file_name": "w.bin",
                       "session.optimized_model_external_initializers_min_size_in_bytes": "many"}
            with self.assertRaisesRegex(cameo.errors.InvalidArgument, "a number of bytes"):
                cameo.Session(DIGITS, optimize="basic", config=config)


class Values(unittest.TestCase):
    def test_numpy_makes_an_array_of_a_value_without_a_copy(self):
        for ort in (real, ours):
            x = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
            value = ort.OrtValue.ortvalue_from_numpy(x)
            for made in (numpy.asarray(value), numpy.array(value, copy=False), numpy.asarray(value, dtype=numpy.float32)):
                self.assertEqual((made.dtype, made.shape, numpy.shares_memory(made, x)), (numpy.float32, (2, 3), True), ort)
            self.assertFalse(numpy.shares_memory(numpy.array(value), x))
            self.assertEqual(numpy.asarray(value, dtype=numpy.float64).dtype, numpy.float64)
            self.assertRaises(ValueError, numpy.array, value, dtype=numpy.float64, copy=False)

    def test_dlpack_comes_in_as_a_capsule_too(self):
        x = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
        for ort in (real, ours):
            inner = ort.capi._pybind_state
            made = ort.OrtValue.from_dlpack(x.__dlpack__())
            self.assertEqual((made.data_ptr(), made.shape()), (x.ctypes.data, [2, 3]))
            capsule = x.__dlpack__()
            self.assertFalse(inner.is_dlpack_uint8_tensor(capsule))
            self.assertTrue(inner.is_dlpack_uint8_tensor(numpy.ones(2, numpy.uint8).__dlpack__()))
            self.assertEqual(inner.OrtValue.from_dlpack(capsule, False).shape(), [2, 3])
            self.assertRaises(TypeError, inner.OrtValue.from_dlpack, capsule, False)
            self.assertRaises(TypeError, ort.OrtValue.from_dlpack, "text")
            self.assertEqual(inner.OrtValue.from_dlpack(numpy.ones(2, numpy.uint8).__dlpack__(), True).data_type(), "tensor(bool)")
            self.assertEqual(list(inner.OrtValue.from_dlpack(numpy.zeros((2, 0, 3), numpy.float32).__dlpack__(), False).shape()), [2, 0, 3])

    def test_vectors_of_values_hold_and_give_tensors(self):
        def seen(ort):
            inner = ort.capi._pybind_state
            vector = inner.OrtValueVector()
            vector.push_back(ort.OrtValue.ortvalue_from_numpy(X)._ortvalue)
            vector.push_back(numpy.ones(2, numpy.uint8).__dlpack__(), True)
            vector.reserve(8)
            vector.shrink_to_fit()
            fetches, feeds = inner.OrtValueVector(), inner.OrtValueVector()
            feeds.push_back(ort.OrtValue.ortvalue_from_numpy(X)._ortvalue)
            session = ort.InferenceSession(DIGITS, providers=CPU)
            session.run_with_ortvaluevector(ort.RunOptions(), ["image"], feeds, ["logits"], fetches, [inner.OrtDevice(0, 0, 0)])
            return len(vector), bool(vector), [each.data_type() for each in vector], vector[0].shape(), vector.element_type_at(0), \
                vector.bool_tensor_indices(), vector.to_dlpacks(lambda capsule: 3), type(vector.dlpack_at(0)).__name__, \
                len(fetches), fetches[0].shape(), type(vector).__name__

        self.assertEqual(*both(seen))
        for ort in (real, ours):
            self.assertRaises(IndexError, ort.capi._pybind_state.OrtValueVector().__getitem__, 0)

    def test_numpy_void_and_bytes_are_texts(self):
        text = models.unary("Identity", TensorProto.STRING, "n").SerializeToString()
        for x in (numpy.array([b"must", b"have", b"sa"], "V4"), numpy.array([b"mu\0t", b"\0ave"], "V4"),
                  numpy.array([b"must", b"have", b"same"], "V4")[::2]):
            one, other = both(lambda ort: ort.InferenceSession(text, providers=CPU).run(None, {"x": x})[0].tolist())
            self.assertEqual(one, other)
        self.assertRaisesRegex(cameo.errors.InvalidArgument, "Unexpected input data type", ours.InferenceSession(DIGITS, providers=CPU).run, None,
                               {"image": numpy.zeros((3, 1, 8, 8), "V4")})

    def test_texts_have_no_elements_at_an_address(self):
        text = models.unary("Identity", TensorProto.STRING, "n").SerializeToString()
        for ort in (real, ours):
            binding = ort.InferenceSession(text, providers=CPU).io_binding()
            for kind in (numpy.object_, str, numpy.str_, TensorProto.STRING):
                for bind, name in ((binding.bind_input, "x"), (binding.bind_output, "y")):
                    self.assertRaisesRegex(RuntimeError, "Only binding non-string Tensors is currently supported", bind, name, "cpu", 0, kind, [2], 64)
            self.assertRaises(ValueError, binding.bind_output, "y", "cpu", 0, None, None, 64)

    def test_sparse_tensors_have_onnxruntime_s_methods(self):
        def seen(ort):
            device, values = ort.OrtDevice.make("cpu", 0), numpy.array([1, 2, 3], numpy.float32)
            coo = ort.SparseTensor.sparse_coo_from_numpy([9, 9], values, numpy.array([3, 5, 15], numpy.int64), device)
            inner, outer = numpy.array([1, 1, 1], numpy.int64), numpy.array([0, 1, 2, 3, 3, 3, 3, 3, 3, 3], numpy.int64)
            csr = ort.SparseTensor.sparse_csr_from_numpy([9, 9], values, inner, outer, device)
            value = ort.OrtValue.ort_value_from_sparse_tensor(coo)
            return [(each.format().name, each.dense_shape(), each.data_type(), each.device_name(), each.values().tolist(), each.values().flags.writeable)
                    for each in (coo, csr, value.as_sparse_tensor())], coo.as_coo_view().indices().tolist(), \
                csr.as_csrc_view().inner().tolist(), csr.as_csrc_view().outer().tolist(), coo.as_coo_view().indices().flags.writeable, \
                value.data_type(), value.is_sparse_tensor(), value.is_tensor(), value.has_value()

        self.assertEqual(*both(seen))
        for ort in (real, ours):
            device = ort.OrtDevice.make("cpu", 0)
            coo = ort.SparseTensor.sparse_coo_from_numpy([4], numpy.ones(1, numpy.float32), numpy.zeros(1, numpy.int64), device)
            self.assertRaises(RuntimeError, coo.to_cuda, ort.OrtDevice.make("cuda", 0))
            self.assertRaises(RuntimeError, coo.as_csrc_view)


    def test_a_sparse_constant_is_a_sparse_output(self):
        values = numpy_helper.from_array(numpy.array([5, 7], numpy.float32), "w")
        sparse = helper.make_sparse_tensor(values, numpy_helper.from_array(numpy.array([1, 5]), "at"), [2, 3])
        output = helper.make_value_info("w", helper.make_sparse_tensor_type_proto(models.F, [2, 3]))
        initializer = models.made([], [], [output], 12)
        initializer.graph.sparse_initializer.append(sparse)
        constant = models.made([helper.make_node("Constant", [], ["w"], sparse_value=sparse)], [], [output], 12)
        for model in (initializer, constant):
            def seen(ort):
                made, = ort.InferenceSession(model.SerializeToString(), providers=CPU).run_with_ort_values(["w"], {})
                made = made.as_sparse_tensor()
                return made.dense_shape(), made.values().tolist(), made.as_coo_view().indices().tolist(), made.data_type()

            self.assertEqual(*both(seen))


class Quantizing(unittest.TestCase):
    def both_of(self, name, arrays, *more):
        made = []
        for ort in (real, ours):
            given = [each.copy() for each in arrays]
            getattr(ort.capi._pybind_state, name)(*given, *more)
            made.append(given)
        for mine, theirs in zip(*made, strict=True):
            numpy.testing.assert_array_equal(mine, theirs, name)

    def test_weights_get_the_codes_that_onnxruntime_gives(self):
        random = numpy.random.default_rng(3)
        for kind in (numpy.float32, numpy.float16):
            for rows, columns, block in ((64, 16, 32), (72, 5, 16), (52, 9, 32), (16, 1, 16)):
                weights = random.standard_normal((rows, columns)).astype(kind)
                weights[:, 0] = 0
                blocks = -(-rows // block)
                for is_symmetric in (True, False):
                    for bits in (2, 4, 8):
                        arrays = [numpy.zeros((columns, blocks, block * bits // 8), numpy.uint8), weights, numpy.zeros(columns * blocks, kind),
                                  numpy.zeros(columns * -(-blocks * bits // 8), numpy.uint8)]
                        self.both_of(f"quantize_matmul_{bits}bits", arrays, block, columns, rows, is_symmetric)
                        arrays[1] = numpy.pad(weights, ((0, blocks * block - rows), (0, 0)))  # as onnxruntime's quantizer pads
                        self.both_of(f"quantize_matmul_{bits}bits", arrays, block, columns, rows, is_symmetric)
                    arrays = [numpy.zeros((rows * columns + 1) // 2, numpy.uint8), weights, numpy.zeros((blocks, columns), kind),
                              numpy.zeros((blocks * columns + 1) // 2, numpy.uint8)]
                    self.both_of("quantize_qdq_matmul_4bits", arrays, block, columns, rows, is_symmetric)
                for quant_type in (0, 1):
                    arrays = [numpy.zeros((rows * columns + 1) // 2, numpy.uint8), weights, numpy.zeros(-(-rows * columns // block), kind)]
                    self.both_of("quantize_matmul_bnb4", arrays, block, quant_type, columns, rows)


class Devices(unittest.TestCase):
    def test_memory_and_devices_are_described_as_onnxruntime_does(self):
        def seen(ort):
            inner = ort.capi._pybind_state
            info = ort.OrtMemoryInfo("Cpu", ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, ort.OrtMemType.DEFAULT)
            other = ort.OrtMemoryInfo.create_v2("T", ort.OrtMemoryInfoDeviceType.CPU, 0, 1, ort.OrtDeviceMemoryType.DEFAULT, 128,
                                                ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR)
            arena = ort.OrtArenaCfg({"max_mem": 16, "arena_extend_strategy": 1, "initial_growth_chunk_size_bytes": 2})
            session = ort.InferenceSession(DIGITS, providers=CPU)
            infos = session.get_input_memory_infos() + session.get_output_memory_infos() + [info, other]
            device = [each for each in ort.get_ep_devices() if each.ep_name == CPU[0]][0]
            return [(each.name, int(each.mem_type), int(each.allocator_type), int(each.device_mem_type), each.device_id, each.device_vendor_id)
                    for each in infos], (arena.max_mem, arena.arena_extend_strategy, arena.initial_growth_chunk_size_bytes), \
                ort.create_and_register_allocator(info, arena), device.device.type.name, session.get_input_epdevices()[0].ep_name, \
                session.get_tuning_results(), inner.get_hardware_devices()[0].type.name, \
                inner.get_hardware_device_ep_incompatibility_details(CPU[0], inner.get_hardware_devices()[0]), \
                inner.get_model_compatibility_for_ep_devices([device], "arbitrary").name, ort.preload_dlls(), ort.has_collective_ops()

        self.assertEqual(*both(seen))
        for ort in (real, ours):
            self.assertRaises(RuntimeError, ort.OrtArenaCfg, {"abacus": 1})

    def test_a_compiled_model_says_what_a_provider_needs(self):
        model = models.unary("Neg")
        entry = model.metadata_props.add()
        entry.key, entry.value = "ep_compatibility_info.Some", "v1"
        for ort in (real, ours):
            inner = ort.capi._pybind_state
            ask = inner.get_compatibility_info_from_model_bytes
            self.assertEqual((ask(model.SerializeToString(), "Some"), ask(model.SerializeToString(), "Other")), ("v1", None))
            self.assertRaises(RuntimeError, ask, b"rubbish", "Some")
            self.assertRaises(RuntimeError, ask, b"", "Some")
            self.assertRaises(RuntimeError, inner.get_compatibility_info_from_model, "absent.onnx", "Some")

    def test_assignments_are_told_where_the_configuration_wants_them(self):
        def seen(ort):
            options = ort.SessionOptions()
            options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
            options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
            session = ort.InferenceSession(DIGITS, options, CPU)
            return sorted((each.ep_name, node.domain, node.op_type, node.name)
                          for each in session.get_provider_graph_assignment_info() for node in each.get_nodes())

        self.assertEqual(*both(seen))
        for ort in (real, ours):
            with self.assertRaisesRegex(Exception, 'record_ep_graph_assignment_info.* must be set to "1"'):
                ort.InferenceSession(DIGITS, providers=CPU).get_provider_graph_assignment_info()

    def test_a_model_compiler_writes_what_nothing_can_compile_as_it_is(self):
        for ort in (real, ours):
            with tempfile.TemporaryDirectory() as folder:
                path = folder + "/m.onnx"
                flags = ort.OrtCompileApiFlags.ERROR_IF_OUTPUT_FILE_EXISTS
                compiler = ort.ModelCompiler(ort.SessionOptions(), DIGITS, flags=flags)
                compiler.compile_to_file(path)
                self.assertTrue(pathlib.Path(path).exists())
                self.assertRaisesRegex(Exception, "exists already", compiler.compile_to_file, path)
                made = ort.ModelCompiler(ort.SessionOptions(), pathlib.Path(DIGITS).read_bytes()).compile_to_bytes()
                self.assertEqual(ort.InferenceSession(made, providers=CPU).run(None, {"image": X})[0].shape, (3, 10))
                self.assertRaisesRegex(Exception, "Unable to compile any nodes", ort.ModelCompiler(
                    ort.SessionOptions(), DIGITS, flags=ort.OrtCompileApiFlags.ERROR_IF_NO_NODES_COMPILED).compile_to_file, path + "2")

                def write(_):
                    raise ValueError("my words")

                self.assertRaisesRegex(ort.capi.onnxruntime_pybind11_state.Fail, "my words", ort.ModelCompiler(ort.SessionOptions(), DIGITS).compile_to_stream, write)
                weights, seen = open(folder + "/w.bin", "wb"), []
                with weights:
                    def place(name, value, info, seen=seen, weights=weights, ort=ort):
                        seen.append(name)
                        if value.tensor_size_in_bytes() < 100:
                            return None
                        at = weights.tell()
                        weights.write(value.numpy().tobytes())
                        return ort.OrtExternalInitializerInfo("w.bin", at, value.tensor_size_in_bytes())

                    ort.ModelCompiler(ort.SessionOptions(), DIGITS, get_initializer_location_func=place).compile_to_file(folder + "/placed.onnx")
                self.assertGreater(len(seen), 3)
                self.assertEqual(ort.InferenceSession(folder + "/placed.onnx", providers=CPU).run(None, {"image": X})[0].shape, (3, 10))


class Installed(unittest.TestCase):
    def python(self, text):
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True,
                              cwd=ROOT / "tests" / "python")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_import_onnxruntime_means_cameo(self):
        text = self.python("""
            import cameo.onnxruntime
            cameo.onnxruntime.install()
            import importlib.util
            import onnxruntime
            from onnxruntime import InferenceSession
            from onnxruntime.capi.onnxruntime_pybind11_state import InvalidArgument
            import onnxruntime.capi._pybind_state as state
            assert InferenceSession is cameo.onnxruntime.InferenceSession
            assert InvalidArgument is cameo.errors.InvalidArgument is state.InvalidArgument
            assert importlib.util.find_spec("onnxruntime")
            assert cameo.onnxruntime.install() is onnxruntime
            print(onnxruntime.get_build_info())
        """)
        self.assertRegex(text, r"^cameo \d")

    def test_the_real_ones_packages_in_plain_python_stay_importable(self):
        """Packages that need only onnxruntime, including one that imports functions of the compiled part by name."""
        program = """
            import sys
            if {ours}:
                import cameo.onnxruntime
                cameo.onnxruntime.install()
            import importlib, pathlib
            import onnxruntime
            root = pathlib.Path(list(onnxruntime.__path__)[-1])
            for path in sorted([*root.glob("quantization/**/*.py"), *root.glob("datasets/*.py"), *root.glob("backend/*.py"),
                                *root.glob("tools/*.py"), root / "capi" / "onnxruntime_inference_collection.py"]):
                name = ".".join(path.relative_to(root.parent).with_suffix("").parts).removesuffix(".__init__")
                try:
                    importlib.import_module(name)
                except ImportError:
                    print(name, "has not what it imports")
                except BaseException:
                    print(name, "is a program")
        """
        one, other = (self.python(textwrap.dedent(program).format(ours=which)) for which in (True, False))
        self.assertEqual(one, other)
        self.python("""
            import cameo.onnxruntime
            cameo.onnxruntime.install()
            import onnxruntime
            assert onnxruntime.capi.onnxruntime_inference_collection.InferenceSession is onnxruntime.InferenceSession
            from onnxruntime.quantization import matmul_bnb4_quantizer
        """)

    def test_the_module_has_a_file_and_metadata(self):
        program = """
            import cameo.onnxruntime
            cameo.onnxruntime.install()
            import importlib.metadata, importlib.util
            import onnxruntime
            print(importlib.metadata.version("onnxruntime"), onnxruntime.__file__ == cameo.onnxruntime.__file__,
                  onnxruntime.__spec__.origin == onnxruntime.__file__,
                  [each.metadata["Name"] for each in importlib.metadata.distributions()].count("onnxruntime"))
        """
        self.assertEqual(self.python(textwrap.dedent(program)).split(), ["1.31.1", "True", "True", "1"])
        with tempfile.TemporaryDirectory() as folder:  # an environment with only cameo and numpy
            for each in pathlib.Path(numpy.__file__).parent.parent.glob("numpy*"):
                (pathlib.Path(folder) / each.name).symlink_to(each)
            done = subprocess.run([sys.executable, "-S", "-c", textwrap.dedent(program)],
                                  env={"PYTHONPATH": f"{pathlib.Path(cameo.__file__).parent.parent}:{folder}"}, capture_output=True, text=True)
            self.assertEqual(done.stdout.split(), ["1.31.1", "True", "True", "1"], done.stderr)

    def test_checkers_are_told_of_what_is_there_alone(self):
        """With a __getattr__ in a module or class, a type checker would accept every name; so it is defined at run time
        only."""
        package = pathlib.Path(cameo.__file__).parent / "onnxruntime"
        for path in package.glob("**/*.py"):
            tree = ast.parse(path.read_text())
            for owner in [tree, *(each for each in tree.body if isinstance(each, ast.ClassDef))]:
                named = [each.name for each in owner.body if isinstance(each, ast.FunctionDef)]
                named += [target.id for each in owner.body if isinstance(each, ast.Assign) for target in each.targets if isinstance(target, ast.Name)]
                named += [name.asname or name.name for each in owner.body if isinstance(each, ast.ImportFrom) for name in each.names]
                self.assertNotIn("__getattr__", named, path)

    def test_global_threads_are_for_sessions_without_their_own(self):
        program = """
            if {ours}:
                import cameo.onnxruntime
                cameo.onnxruntime.install()
            import onnxruntime
            onnxruntime.set_global_thread_pool_sizes(2, 2)
            options = onnxruntime.SessionOptions()
            for own in (True, False):
                options.use_per_session_threads = own
                try:
                    onnxruntime.InferenceSession({digits!r}, options, providers=["CPUExecutionProvider"], enable_fallback=0)
                    print("loaded")
                except RuntimeError as error:
                    print("use_per_session_threads must be false" in str(error))
            try:
                onnxruntime.set_global_thread_pool_sizes(2, 2)
            except Exception as error:
                print("already been created" in str(error))
        """
        one, other = (self.python(textwrap.dedent(program).format(ours=which, digits=DIGITS)) for which in (True, False))
        self.assertEqual(one, other)

    def test_it_comes_before_the_real_one(self):
        text = self.python("""
            import onnxruntime
            import cameo.onnxruntime
            try:
                cameo.onnxruntime.install()
            except RuntimeError as error:
                print(error)
        """)
        self.assertIn("is loaded already", text)

    def test_the_real_one_s_calibration_runs_on_cameo(self):
        """onnxruntime's quantization tools compute the same scales with cameo's sessions as with onnxruntime's."""
        program = """
            import sys, tempfile, pathlib
            if {ours}:
                import cameo.onnxruntime
                cameo.onnxruntime.install()
            import numpy, onnx
            from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_static
            import onnxruntime

            class Images(CalibrationDataReader):
                def __init__(self):
                    random = numpy.random.default_rng(7)
                    self.all = iter([dict(image=random.random((4, 1, 8, 8), numpy.float32)) for _ in range(5)])
                def get_next(self):
                    return next(self.all, None)

            with tempfile.TemporaryDirectory() as folder:
                quantize_static({digits!r}, folder + "/q.onnx", Images(), quant_format=QuantFormat.QDQ)
                model = onnx.load(folder + "/q.onnx")
                for each in model.graph.initializer:
                    if each.name.endswith("_scale") and not each.dims:
                        print(each.name, "%.5g" % float(onnx.numpy_helper.to_array(each)))
                x = numpy.ones((1, 1, 8, 8), numpy.float32)
                made = onnxruntime.InferenceSession(folder + "/q.onnx", providers=["CPUExecutionProvider"]).run(None, dict(image=x))
                print(int(made[1].argmax()))
        """
        one, other = (self.python(textwrap.dedent(program).format(ours=which, digits=DIGITS)) for which in (True, False))
        self.assertEqual(one, other)
        self.assertGreater(len(re.findall("_scale", one)), 3)


if __name__ == "__main__":
    unittest.main()
