"""The worker for OpenVINO: float32 as in the model, the performance hint LATENCY, inputs bound, outputs not copied."""
import openvino as ov

import worker


class Contender:
    def __init__(self, model, inputs, threads):
        self.model, self.inputs = model, inputs
        self.core = ov.Core()
        self.core.set_property("CPU", {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY",
                                       "INFERENCE_PRECISION_HINT": "f32"})

    def create(self):
        return self.core.compile_model(self.model, "CPU")

    def first(self):
        request = self.request = self.session.create_infer_request()
        for port in self.session.inputs:
            name = next(n for n in port.get_names() if n in self.inputs)
            request.set_tensor(port, ov.Tensor(self.inputs[name], shared_memory=True))
        self.run = lambda: request.infer(share_outputs=True)
        self.run()

    def outputs(self):
        return [(next(iter(port.get_names())), self.request.get_tensor(port).data) for port in self.session.outputs]


if __name__ == "__main__":
    worker.serve(Contender)
