"""Recurrent networks and one-dimensional convolutions, as in models of speech and other sequences."""
import torch

from zoo_tools import both_exporters


def values(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(11))


class Recurrent(torch.nn.Module):
    """One-dimensional convolutions, then bidirectional recurrent layers, then scores of letters."""

    def __init__(self, kind):
        super().__init__()
        self.front = torch.nn.Sequential(
            torch.nn.Conv1d(20, 32, 5, stride=2, padding=2), torch.nn.BatchNorm1d(32), torch.nn.ReLU(),
            torch.nn.Conv1d(32, 32, 3, padding=2, dilation=2, groups=4), torch.nn.Hardtanh(), torch.nn.MaxPool1d(2))
        self.layer = kind(32, 24, num_layers=2, bidirectional=True, batch_first=True)
        self.head = torch.nn.Linear(48, 29)

    def forward(self, features):
        x = self.front(features).transpose(1, 2)
        y, state = self.layer(x)
        last = state[0] if isinstance(state, tuple) else state
        return torch.log_softmax(self.head(y), dim=-1), last


class Streaming(torch.nn.Module):
    """One step of a transducer's predictor, with its state as inputs and outputs."""

    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(40, 16)
        self.layer = torch.nn.LSTM(16, 24, num_layers=2)
        self.cell = torch.nn.GRUCell(24, 12)

    def forward(self, token, h, c, g):
        y, (h, c) = self.layer(self.table(token), (h, c))
        g = self.cell(y[-1], g)
        return torch.nn.functional.glu(g), h, c, g


class Vocoder(torch.nn.Module):
    """Upsampling by one-dimensional transposed convolutions, and residual blocks with dilation."""

    def __init__(self):
        super().__init__()
        n = torch.nn
        self.up = n.ModuleList([n.ConvTranspose1d(16, 16, 8, 4, 2), n.ConvTranspose1d(16, 8, 4, 2, 1)])
        self.mix = n.ModuleList([n.Conv1d(16, 16, 3, dilation=3, padding=3), n.Conv1d(8, 8, 7, padding=3)])
        self.out = n.Conv1d(8, 1, 7, padding=3)

    def forward(self, mel):
        x = mel
        for up, mix in zip(self.up, self.mix):
            x = up(torch.nn.functional.leaky_relu(x, 0.1))
            x = x + mix(torch.nn.functional.elu(x))
        return torch.tanh(self.out(x)).squeeze(1)


def entries():
    made = []
    for name, kind in (("lstm", torch.nn.LSTM), ("gru", torch.nn.GRU), ("rnn", torch.nn.RNN)):
        made += both_exporters(f"speech_{name}", "speech", lambda k=kind: (
            Recurrent(k).eval(), [values(1, 20, 60)], ["features"], ["letters", "state"], {}))
    made += both_exporters("streaming_step", "speech", lambda: (
        Streaming().eval(), [torch.tensor([[3]]), values(2, 1, 24), values(2, 1, 24), values(1, 12)],
        ["token", "h", "c", "g"], ["y", "h_out", "c_out", "g_out"], {}))
    made += both_exporters("vocoder", "speech", lambda: (
        Vocoder().eval(), [values(1, 16, 15)], ["mel"], ["wave"], {"mel": {2: "frames"}}))
    return made
