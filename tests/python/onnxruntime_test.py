"""cameo.onnxruntime beside the real onnxruntime: the same calls to both, and what packages do that were written for it.

Usage: onnxruntime_test.py [unittest's arguments]
"""
import inspect
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

import models
import numpy
import onnxruntime as real
from onnx import TensorProto, helper

import cameo
import cameo.onnxruntime as ours

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DIGITS = str(ROOT / "examples" / "digits" / "digits.onnx")
CPU = ["CPUExecutionProvider"]
X = numpy.random.default_rng(1).random((3, 1, 8, 8), numpy.float32)

# Of the real module, what is about how it was made.
ASIDE = {"contextlib", "cuda_version", "import_capi_exception", "onnxruntime_validation", "package_name", "version", "capi"}


def both(call):
    return call(ours), call(real)


class Names(unittest.TestCase):
    def test_every_name_is_here_or_an_error_that_says_why_not(self):
        """And each of those errors is on the page."""
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
            self.assertIn("traceEvents", pathlib.Path(session.end_profiling()).read_text())
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
        for feed, wanted in (({"image": X}, ""), ({}, "missing")):
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
        self.assertRaises(cameo.errors.InvalidArgument, ours.OrtDevice.make, "cuda", 0)

    def test_values_are_the_same(self):
        (one, logits), (other, wanted) = both(self.values_of)
        self.assertEqual(one, other)
        numpy.testing.assert_allclose(logits, wanted, rtol=1e-4, atol=1e-6)

    def test_a_device_that_is_not_there_is_refused(self):
        with self.assertRaisesRegex(cameo.errors.InvalidArgument, "'cuda'"):
            ours.OrtValue.ortvalue_from_numpy(X, "cuda", 0)


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
        """Those that take no package beside onnxruntime, among them what imports functions of the compiled part by name."""
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
        """onnxruntime's quantization tools, with cameo's sessions, choose what they choose with their own."""
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
