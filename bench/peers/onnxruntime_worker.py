"""The worker for ONNX Runtime from Python, with default options and IO binding."""
import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"
import onnxruntime as ort  # noqa: E402 - reads the variable when it is loaded

import worker


class Contender:
    def __init__(self, model, inputs, threads):
        self.model, self.inputs = model, inputs
        self.options = ort.SessionOptions()
        self.options.intra_op_num_threads = threads
        self.options.inter_op_num_threads = 1
        self.options.log_severity_level = 3

    def create(self):
        return ort.InferenceSession(self.model, self.options, providers=["CPUExecutionProvider"])

    def first(self):
        self.binding = self.session.io_binding()
        for name, array in self.inputs.items():
            self.binding.bind_ortvalue_input(name, ort.OrtValue.ortvalue_from_numpy(array))
        for output in self.session.get_outputs():
            self.binding.bind_output(output.name)
        session, binding = self.session, self.binding
        self.run = lambda: session.run_with_iobinding(binding)
        self.run()

    def outputs(self):
        names = [o.name for o in self.session.get_outputs()]
        return list(zip(names, self.binding.copy_outputs_to_cpu()))


if __name__ == "__main__":
    worker.serve(Contender)
