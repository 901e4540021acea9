#!/usr/bin/env python3
"""The page of `cameo inspect --html` in a headless Chromium without a network.

--screenshot FILE writes the image of docs/inspect.md instead. The times that are printed are for display only.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "program"))
import onnx_bytes as ob  # noqa: E402
import page_models  # noqa: E402
from browser import Browser  # noqa: E402

PROGRAM = os.environ.get("CAMEO_PROGRAM", "cameo")
THREE = pathlib.Path(os.environ.get("CAMEO_BINARY_DIR", ".")) / "tests" / "page_of_three"
FRAMES = """new Promise(done => {
  const first = cameo.stats.frames, start = performance.now();
  let n = 0;
  const next = () => {
    cameo.pan(0, n % 40 < 20 ? -37 : 37);
    if (++n <= 200) requestAnimationFrame(next);
    else done([cameo.stats.frames - first, performance.now() - start]);
  };
  next();
})"""
DRAWING = "(() => { const t = performance.now(); cameo.drawGraph(); return performance.now() - t; })()"


def cameo(*arguments, ok=True):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, timeout=120)
    assert (done.returncode == 0) == ok, (arguments, done)
    return done


def data_of(page):
    """The data in a page, up to the first end tag of its element, as a browser parses it."""
    text = page.read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="data">(.*?)</script', text, re.DOTALL | re.IGNORECASE)
    return json.loads(found.group(1))


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.dir = pathlib.Path(self.folder.name)
        self.addCleanup(self.folder.cleanup)

    def write(self, content, name="model.onnx"):
        (self.dir / name).write_bytes(content)
        return self.dir / name

    def page_of_three(self):
        model = self.write(page_models.small_cnn(), "small_cnn.onnx")
        subprocess.run([THREE, model, self.dir / "page.html", self.dir / "trace.json"], check=True, timeout=120)
        return self.dir / "page.html"


class Files(Case):
    """Tests that need no browser."""

    def test_text_and_json_are_the_same_with_and_without_html(self):
        model, page = self.write(page_models.small_cnn()), self.dir / "page.html"
        wrote = b"wrote %s\n" % bytes(page)
        for more, says in [([], wrote), (["--json"], wrote), (["--json", "--quiet"], b"")]:
            with_page = cameo("inspect", model, *more, "--html", page)
            self.assertEqual(with_page.stdout, cameo("inspect", model, *more).stdout)
            self.assertEqual(with_page.stderr, says)
        facts = json.loads(cameo("inspect", model, "--json").stdout)
        data = data_of(page)
        self.assertEqual(data["memory"]["bytes"], facts["arena_bytes"])
        self.assertEqual(data["nodes"], facts["nodes"])
        self.assertEqual(sum(b["k"] == "node" for b in data["graphs"][0]["boxes"]), facts["nodes"])
        self.assertEqual(len(data["graphs"][0]["steps"]), facts["steps"])

    def test_constant_nodes_that_remain_are_drawn(self):
        kind = ob.tensor_type(ob.FLOAT, [2])
        two = page_models.tensor_attribute("value", ob.floats("", [2], [2, 2]))
        nodes = [ob.node("Constant", [], ["c"], "two") + two,
                 ob.node("Add", ["x", "c"], ["y"], "add")]
        model = self.write(ob.model(ob.graph(nodes, [("x", kind)], [("y", kind)])))
        for level, ops in [("none", ["Constant", "Add"]), ("basic", ["Add"])]:
            cameo("inspect", model, "--optimize", level, "--html", self.dir / "page.html")
            data = data_of(self.dir / "page.html")
            self.assertEqual([b["op"] for b in data["graphs"][0]["boxes"] if b["k"] == "node"], ops)
            self.assertEqual(data["nodes"], len(ops))

    def test_the_same_page_every_time(self):
        model = self.write(page_models.tangle(300))
        pages = []
        for _ in range(2):
            cameo("inspect", model, "--html", self.dir / "page.html")
            pages.append((self.dir / "page.html").read_bytes())
        self.assertEqual(pages[0], pages[1])

    def test_impossible_profiles_and_paths_are_errors(self):
        model, page, trace = self.write(page_models.small_cnn()), self.dir / "page.html", self.dir / "trace.json"
        cameo("run", model, "--random-inputs", "--quiet", "--profile", trace)
        cameo("inspect", model, "--html", page, "--profile", trace)
        page.unlink()

        def fails(code, words, profile=trace, *arguments, of=model, to=page):
            done = cameo("inspect", of, "--html", to, "--profile", profile, *arguments, ok=False)
            self.assertEqual((done.returncode, done.stdout), (1, b""), done)
            self.assertRegex(done.stderr.decode(), r"\Aerror: %s: [^\n]*%s[^\n]*\n\Z" % (code, words))
            self.assertFalse(page.exists())
        fails("INVALID_ARGUMENT", "of another model", of=self.write(page_models.looping(), "loop.onnx"))
        fails("INVALID_ARGUMENT", "of another model", trace, "--optimize", "none")
        fails("NO_SUCHFILE", "nobody.json", self.dir / "nobody.json")
        fails("FAIL", "nowhere", to=self.dir / "nowhere" / "page.html")
        good = json.loads(trace.read_text())

        def renumbered(t, number):
            return json.loads(json.dumps(t).replace('"step": [0]', '"step": ' + number))
        for change, words in [(lambda t: [], "traceEvents"), (lambda t: {**t, "traceEvents": 1}, "traceEvents"),
                              (lambda t: {**t, "traceEvents": []}, "args.step"),
                              (lambda t: json.loads(json.dumps(t).replace('"step"', '"stop"')), "args.step"),
                              (lambda t: renumbered(t, "[99]"), "no step"), (lambda t: renumbered(t, "[]"), "no step"),
                              (lambda t: renumbered(t, "[0, 1]"), "no step"),
                              (lambda t: renumbered(t, "[-1]"), "no step"),
                              (lambda t: renumbered(t, "[1]"), "step .1. is"),
                              (lambda t: json.loads(re.sub(r'"dur": [\d.]+', '"dur": -1', json.dumps(t))), "length")]:
            broken = self.dir / "broken.json"
            broken.write_text(json.dumps(change(good)))
            fails("INVALID_ARGUMENT", words, broken)
        broken.write_bytes(b'{"traceEvents":[')
        fails("INVALID_ARGUMENT", "not JSON", broken)
        done = cameo("inspect", model, "--profile", trace, ok=False)  # a profile needs --html
        self.assertEqual((done.returncode, done.stdout), (2, b""))

    def test_boxes_stand_apart_and_values_flow_down(self):
        model, page = self.write(page_models.tangle(500)), self.dir / "page.html"
        cameo("inspect", model, "--optimize", "none", "--html", page)
        graph = data_of(page)["graphs"][0]
        rows = {}
        for box in graph["boxes"]:
            rows.setdefault(box["y"], []).append(box)
        for row in rows.values():
            row.sort(key=lambda b: b["x"])
            for a, b in zip(row, row[1:]):
                self.assertLessEqual(a["x"] + a["w"] / 2, b["x"] - b["w"] / 2)
        edges = 0
        for source, value, chain, targets in graph["flows"]:
            levels = [graph["boxes"][source]["y"], *chain[1::2]]
            self.assertEqual(levels, sorted(set(levels)))
            for target, leaves in zip(targets[::2], targets[1::2]):
                edges += 1
                self.assertLess(levels[leaves + 1], graph["boxes"][target]["y"])
                self.assertIn(value, graph["boxes"][target].get("in", [graph["boxes"][target].get("v")]))
        wanted = {(v, i) for i, b in enumerate(graph["boxes"])
                  for v in b.get("in", [b["v"]] if b["k"] == "output" else [])}
        self.assertEqual(edges, len(wanted))

    def test_memory_equals_the_sizes_of_the_values(self):
        memory = data_of(self.page_of_three())["memory"]
        self.assertGreater(max(memory["live"]), 0)
        for step, live in enumerate(memory["live"]):
            spans = sorted((o, o + n) for _, _, o, n, first, last in memory["values"] if first <= step <= last)
            total, end = 0, 0
            for low, high in spans:
                self.assertLessEqual(high, memory["bytes"])
                total, end = total + max(0, high - max(low, end)), max(end, high)
            self.assertEqual(live, total, step)
        values = memory["values"]
        for i, (_, _, offset, size, first, last) in enumerate(values):
            for _, _, other, other_size, begins, ends in values[i + 1:]:
                if first < begins < last and begins != ends:  # alive at the same time, and not reused in place
                    self.assertTrue(offset + size <= other or other + other_size <= offset)
        self.assertEqual(memory["known"], sorted(memory["known"]))
        self.assertEqual(memory["known"][-1], data_of(self.dir / "page.html")["parameters"][2])


    def test_initializers_that_are_inputs_are_not_drawn(self):
        """Before IR version 4 each initializer is also a graph input."""
        kind, of_weights = ob.tensor_type(ob.FLOAT, [2, 3]), ob.tensor_type(ob.FLOAT, [3, 4])
        nodes = [ob.node("MatMul", ["x", "w"], ["y"], "product")]
        graph = ob.graph(nodes, [("x", kind), ("w", of_weights)], [("y", ob.tensor_type(ob.FLOAT, [2, 4]))],
                         [ob.floats("w", (3, 4), [1] * 12)])
        model = self.write(ob.model(graph).replace(ob.integer(1, 8), ob.integer(1, 3), 1))
        cameo("inspect", model, "--html", self.dir / "page.html")
        data = data_of(self.dir / "page.html")
        self.assertEqual(data["ir_version"], 3)
        graph = data["graphs"][0]
        self.assertEqual([graph["values"][b["v"]][0] for b in graph["boxes"] if b["k"] == "input"], ["x"])

    def test_boxes_say_attributes_and_shapes_of_weights(self):
        model = self.write(page_models.small_cnn())
        cameo("inspect", model, "--optimize", "none", "--html", self.dir / "page.html")
        boxes = {b["name"]: b for b in data_of(self.dir / "page.html")["graphs"][0]["boxes"] if b["k"] == "node"}
        weights, *_ = boxes["stem"]["notes"]
        self.assertIn("W 16\u00d73\u00d73\u00d73", weights)
        self.assertGreater(boxes["stem"]["h"], boxes["stem.relu"]["h"])
        self.assertNotIn("notes", boxes["stem.relu"])

    def test_shapes_of_weights_come_before_single_numbers(self):
        """When a line is too long for its box, the shapes of weights are what remains of it."""
        kind, scale, zero = ob.tensor_type(ob.FLOAT, [4, 4]), ob.floats("scale", [], [0.5]), ob.floats("mean", [4], [1] * 4)
        nodes = [ob.node("Sub", ["x", "mean"], ["s"], "sub"), ob.node("Sum", ["scale", "s", "mean"], ["y"], "sum")]
        model = self.write(ob.model(ob.graph(nodes, [("x", kind)], [("y", kind)], [scale, zero])))
        cameo("inspect", model, "--optimize", "none", "--html", self.dir / "page.html")
        boxes = {b["name"]: b for b in data_of(self.dir / "page.html")["graphs"][0]["boxes"] if b["k"] == "node"}
        self.assertEqual(boxes["sum"]["notes"], ["data_0 4  data_0 0.5"])
        self.assertEqual(boxes["sum"]["formal"], [["data_0"] * 3, ["sum"]])
        self.assertEqual(boxes["sub"]["formal"], [["A", "B"], ["C"]])

    def test_values_of_constants_begin_with_their_first_elements(self):
        model = self.write(page_models.small_cnn())
        cameo("inspect", model, "--optimize", "none", "--html", self.dir / "page.html")
        values = {v[0]: v for v in data_of(self.dir / "page.html")["graphs"][0]["values"]}
        self.assertRegex(values["stem.weight"][3], r"^float\[16,3,3,3\]( -?[\d.e-]+){8} \.\.\.$")

    def named(self, names):
        """A chain of nodes with the given names."""
        kind = ob.tensor_type(ob.FLOAT, [2])
        nodes = [ob.node("Neg", ["v%d" % i], ["v%d" % (i + 1)], name) for i, name in enumerate(names)]
        return self.write(ob.model(ob.graph(nodes, [("v0", kind)], [("v%d" % len(names), kind)])))

    def folded(self, names):
        cameo("inspect", self.named(names), "--optimize", "none", "--html", self.dir / "page.html")
        graphs = data_of(self.dir / "page.html")["graphs"]
        return graphs, [g for g in graphs if g.get("folded")]

    def test_names_fold_to_boxes_with_the_nodes_inside(self):
        names = ["/m/a/0/x", "/m/a/0/y", "/m/a/1/x", "/m/a/1/y", "/m/lone", "/m/b/x", "/m/b/y", "/m/a/2/x", "/m/a/2/y"]
        graphs, folded = self.folded(names)
        self.assertNotIn("of", folded[0])

        def shape(graph):
            return [(b["op"], b["fold"], shape(graphs[b["graphs"][0]])) if "fold" in b else b["name"]
                    for b in graph["boxes"] if b["k"] == "node"]
        self.assertEqual(shape(folded[0]), [
            ("a", 4, [("0", 2, names[0:2]), ("1", 2, names[2:4])]), "/m/lone", ("b", 2, names[5:7]), ("a", 2, names[7:9])])
        for graph in folded:  # each is a complete graph: every edge has a source and a target
            readers = sum(len(b["in"]) if b["k"] == "node" else b["k"] == "output" for b in graph["boxes"])
            self.assertEqual(sum(len(targets) // 2 for _, _, _, targets in graph["flows"]), readers)

    def test_names_without_parts_do_not_fold(self):
        for names in [["a", "b", "c"], ["/a", "/b", "/c"], ["", "", ""], ["x/a", "y/b", "x/c"]]:
            self.assertEqual(self.folded(names)[1], [], names)

    def test_saved_optimizations_of_an_ort_file_and_compiled_nodes(self):
        samples = pathlib.Path(__file__).resolve().parent.parent / "data" / "ort"
        cameo("inspect", samples / "qdq_runtime_opt" / "model.ort", "--optimize", "none", "--html", self.dir / "page.html")
        saved = data_of(self.dir / "page.html")["saved"]
        self.assertEqual([each[:2] for each in saved][:1], [["QDQSelectorActionTransformer", "Conv"]])
        if b"\nfrozen " not in b"\n" + cameo("devices").stdout:
            self.skipTest("nothing here compiles")
        out = self.dir / "c.onnx"
        cameo("compile", self.write(page_models.small_cnn()), "-o", out, "--ep", "frozen", "--ep", "cpu")
        cameo("inspect", out, "--ep", "frozen", "--ep", "cpu", "--html", self.dir / "page.html")
        (node, source, version, _, _, where), *_ = data_of(self.dir / "page.html")["compiled"]
        self.assertEqual((source, where), ("FrozenExecutionProvider", "c_FrozenExecutionProvider.bin"))
        self.assertRegex(version, r"^\d+\.\d+\.\d+$")


class InBrowser(Case):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.__exit__)

    def open(self, path, dark=False):
        page = self.browser.open(path, dark)
        self.addCleanup(page.close)
        page.frame()
        return page

    def is_well(self, page):
        self.assertEqual(page.complaints(), [])
        self.assertEqual(page.requests(), [page.url])

    def number_of(self, page, name):
        return page.run("cameo.data.graphs[cameo.view.graph].boxes.findIndex(b => b.name === %s)" % json.dumps(name))

    def panel(self, page):
        return page.run("document.getElementById('panel').innerText")

    def test_a_model_of_three_providers(self):
        page = self.open(self.page_of_three())
        data = data_of(self.dir / "page.html")
        boxes = data["graphs"][0]["boxes"]
        self.assertEqual(page.run("document.title"), "small_cnn.onnx · cameo inspect")
        self.assertEqual([name for name, _ in data["providers"]], ["npu", "fusing", "cpu"])
        for name, count in data["providers"]:
            self.assertIn("%s · %d nodes" % (name, count), page.run("document.getElementById('legend').innerText"))
        page.run("cameo.fit()")
        page.frame()
        self.assertEqual(page.run("cameo.stats.boxes"), len(boxes))
        corners = """(() => {
          const canvas = document.getElementById("graph"), {width, height} = canvas;
          const pixels = canvas.getContext("2d").getImageData(0, 0, width, height).data;
          return [...Array(%d).keys()].map(i => {
            const [x, y, w, h] = cameo.rectangle(i);
            return [x + w * 0.1, x - 3].map(x => {
              const at = 4 * (Math.round(y + h / 2) * width + Math.round(x));
              return [...pixels.slice(at, at + 4)];
            });
          });
        })()""" % len(boxes)
        colors = {}
        patches = []
        for box, (inside, beside) in zip(boxes, page.run(corners)):
            colors.setdefault(box.get("provider"), set()).add(tuple(inside))
            if box["k"] == "node":
                patches.append(tuple(beside))
        self.assertEqual([len(of) for of in colors.values()], [1] * 4, colors)  # each pill has a different color
        self.assertEqual(len(set.union(*colors.values())), 4)
        self.assertEqual(len(set(patches)), 3)  # partitions, in the colors of their providers

        relu = self.number_of(page, "stem.relu")
        x, y, w, h = page.run("cameo.rectangle(%d)" % relu)
        page.click(x + w / 2, y + h / 2 + page.run("document.getElementById('graph').getBoundingClientRect().top"))
        self.assertEqual(page.run("cameo.view.selected"), relu)
        for words in ["Relu", "stem.relu", "ai.onnx", "tensor(float)[1,16,32,32]", "npu has no kernel for it",
                      "fusing has no group for it", "stem.out", "share"]:
            self.assertIn(words, self.panel(page))
        page.run("cameo.select(%d)" % self.number_of(page, "stem"))
        for words in ["W stem.weight", "constant, 1.73 kB", "tensor(float)[16,3,3,3]", "pads", "[1, 1, 1, 1]", "Y stem"]:
            self.assertIn(words, self.panel(page))
        self.assertNotIn("Why not earlier".upper(), self.panel(page).upper())
        fused = page.run("cameo.data.graphs[0].boxes.findIndex(b => b.label)")
        page.run("cameo.select(%d)" % fused)
        self.assertIn("fused from", self.panel(page))
        page.key("Enter")
        self.assertNotEqual(page.run("cameo.view.graph"), 0)  # the optimized graph
        self.assertEqual(page.run("cameo.stats.boxes"), page.run("cameo.data.graphs[cameo.view.graph].boxes.length"))
        page.key("Escape")
        self.assertEqual(page.run("[cameo.view.graph, cameo.view.selected]"), [0, fused])
        self.is_well(page)

    def test_search_zoom_and_keys(self):
        page = self.open(self.page_of_three())
        page.key("/")
        self.assertEqual(page.run("document.activeElement.id"), "query")
        self.browser.call("Input.insertText", session=page.session, text="SOFTMAX")
        self.assertEqual(page.run("[cameo.hits(), cameo.view.selected]"), [1, self.number_of(page, "softmax")])
        page.run("cameo.search('scores')")  # a value matches the node that produces it, and the output
        self.assertEqual(page.run("cameo.hits()"), 2)
        page.run("cameo.search('no such thing')")
        self.assertEqual(page.run("document.getElementById('hits').textContent"), "no hit")
        page.run("cameo.search('fusing')")
        hits = page.run("cameo.hits()")
        page.run("document.getElementById('graph').focus()")
        seen = []
        for key in ["n"] * hits + ["N"]:
            seen.append(page.run("cameo.view.selected"))
            page.key(key)
        self.assertEqual(len(set(seen)), hits)
        self.assertEqual(page.run("cameo.view.selected"), seen[-2])
        scales = [page.run("cameo.view.scale")]
        page.mouse("mouseWheel", 400, 400, deltaX=0, deltaY=-240)
        page.frame()
        scales.append(page.run("cameo.view.scale"))
        page.key("-")
        scales.append(page.run("cameo.view.scale"))
        self.assertGreater(scales[1], scales[0])
        self.assertLess(scales[2], scales[1])
        before = page.run("[cameo.view.x, cameo.view.y]")
        page.mouse("mousePressed", 500, 400, button="left", clickCount=1)
        page.mouse("mouseMoved", 540, 425, button="left", buttons=1)
        page.mouse("mouseReleased", 540, 425, button="left")
        self.assertEqual(page.run("[cameo.view.x, cameo.view.y]"), [before[0] + 40, before[1] + 25])
        page.key("f")
        self.assertEqual(page.run("cameo.stats.boxes"), page.run("cameo.data.graphs[0].boxes.length"))
        page.key("]")
        frames = page.run("cameo.stats.frames")
        time.sleep(0.2)
        self.assertEqual(page.run("cameo.stats.frames"), frames)  # without a change nothing is drawn
        self.is_well(page)

    def test_memory_shows_its_steps(self):
        page = self.open(self.page_of_three())
        box = page.run("document.getElementById('chart').getBoundingClientRect().toJSON()")
        page.mouse("mouseMoved", box["x"] + box["width"] / 2, box["y"] + box["height"] - 20)
        page.frame()
        self.assertRegex(page.run("document.getElementById('tip').textContent"), r"^step \d+: .*\nlive .* of weights")
        step = (box["width"] - 136) / page.run("cameo.data.memory.live.length")
        page.click(box["x"] + 68 + 1.5 * step, box["y"] + 60)  # the first step is a copy
        self.assertEqual(page.run("cameo.view.selected"), self.number_of(page, "stem"))
        self.is_well(page)

    def test_times_of_a_profile(self):
        page = self.open(self.page_of_three())
        trace = json.loads((self.dir / "trace.json").read_text(encoding="utf-8"))
        steps = {e["name"]: e for e in trace["traceEvents"] if e["ph"] == "X"}
        stem = self.number_of(page, "stem")
        calls, total, own = page.run("cameo.data.graphs[0].boxes[%d].time" % stem)
        self.assertEqual((calls, total), (1, own))
        self.assertAlmostEqual(total, steps["stem"]["dur"] * 1000, delta=1)
        self.assertIn("Time by operator".upper(), self.panel(page).upper())
        plain = page.run("document.getElementById('graph').toDataURL()")
        page.key("h")
        self.assertNotEqual(page.run("document.getElementById('graph').toDataURL()"), plain)
        self.assertEqual(page.run("document.getElementById('heat').getAttribute('aria-pressed')"), "true")
        page.run("cameo.select(%d)" % stem)
        self.assertRegex(self.panel(page), r"own\s+[\d.]+ [µm]s\s+share\s+[\d.]+ %\s+calls\s+1")
        self.is_well(page)

    def test_graphs_in_nodes(self):
        model, trace, html = self.write(page_models.looping()), self.dir / "trace.json", self.dir / "page.html"
        cameo("run", model, "--random-inputs", "--quiet", "--profile", trace)
        cameo("inspect", model, "--html", html, "--profile", trace)
        page = self.open(html)
        graphs = data_of(html)["graphs"]
        self.assertEqual([g.get("as") for g in graphs], [None, "body", "then_branch", "else_branch"])
        loop = self.number_of(page, "loop")
        page.run("cameo.select(%d)" % loop)
        self.assertIn("body · ", self.panel(page))
        page.run("cameo.openGraph(1)")
        page.frame()
        self.assertEqual(page.run("cameo.stats.boxes"), len(graphs[1]["boxes"]))
        self.assertIn("outer", [b["k"] for b in graphs[1]["boxes"]])  # x is a value of the outer graph
        self.assertIn("loop", page.run("document.getElementById('path').innerText"))
        work = {b["op"]: b["work"] for b in graphs[0]["boxes"] + graphs[1]["boxes"] if "time" in b}
        self.assertEqual(work["Loop"], [None, None, None])
        steps = [e["args"] for e in json.loads(trace.read_text())["traceEvents"] if e.get("args", {}).get("op") == "Add"]
        peak = json.loads(trace.read_text())["otherData"]["peak"]
        operations, moved = sum(a["operations"] for a in steps), sum(a["bytes"] for a in steps)
        least = 1e9 * max(operations / peak["operations"], moved / peak["bytes_per_second"])
        self.assertEqual(work["Add"][:2], [operations, moved])
        self.assertAlmostEqual(work["Add"][2], least, delta=1e-6 * least)
        page.run("cameo.select(%d)" % next(i for i, b in enumerate(graphs[1]["boxes"]) if b.get("op") == "Add"))
        self.assertRegex(self.panel(page), r"operations\s+%d\s+bytes\s+%d\s+of the roofline\s+[\d.]+ %%" %
                         (operations, moved))
        times = {b["op"]: b["time"] for b in graphs[0]["boxes"] + graphs[1]["boxes"] if "time" in b}
        self.assertEqual((times["Loop"][0], times["Add"][0], times["If"][0]), (1, 5, 5))
        inside = sum(b["time"][1] for b in graphs[1]["boxes"] if "time" in b)
        self.assertAlmostEqual(times["Loop"][2], times["Loop"][1] - inside, delta=1)
        self.is_well(page)

    def test_hostile_names_are_only_names(self):
        model = self.write(page_models.hostile(), "a<img src=x onerror=hacked=1>&\"'.onnx")
        cameo("inspect", model, "--optimize", "none", "--html", self.dir / "page.html")
        data = data_of(self.dir / "page.html")
        names = [b["name"] for b in data["graphs"][0]["boxes"] if b["k"] == "node"]
        wanted = [n if isinstance(n, str) else n.decode(errors="replace") for n in page_models.HOSTILE]
        self.assertEqual([n for n in names if n != "encoder"], wanted)
        page = self.open(self.dir / "page.html")
        elements = page.run("[document.scripts.length, document.images.length]")
        for i in range(len(data["graphs"][0]["boxes"])):
            page.run("cameo.select(%d)" % i)
        for query in wanted:
            page.run("cameo.search(%s)" % json.dumps(query))
        page.run("cameo.search('')")
        page.run("cameo.select(-1)")
        page.frame()
        self.assertEqual(elements, [2, 0])
        self.assertEqual(page.run("[document.scripts.length, document.images.length, typeof window.hacked]"),
                         [2, 0, "undefined"])
        self.assertEqual(page.run("document.querySelectorAll('svg, img, iframe').length"), 0)
        shown = self.panel(page)
        self.assertIn("</script><script>window.hacked=1</script>", shown)
        self.assertNotIn("\u202e", shown)  # it would reverse the text after it
        self.is_well(page)

    def test_two_thousand_nodes_and_ten_thousand(self):
        for count in [2000, 10000]:
            model, html = self.write(page_models.tangle(count)), self.dir / "page.html"
            start = time.monotonic()
            cameo("inspect", model, "--optimize", "none", "--html", html)
            written = time.monotonic() - start
            page = self.open(html)
            first, one = page.run("cameo.stats.ready"), page.run(DRAWING)
            if count == 2000:
                frames, passed = page.run(FRAMES)
                self.assertGreaterEqual(frames, 200)
                print("200 frames of panning in %.1f s" % (passed / 1000))
            page.run("cameo.fit()")
            page.frame()
            self.assertEqual(page.run("cameo.stats.boxes"), count + 2)
            page.run("cameo.search('add_')")
            self.assertEqual(page.run("cameo.hits()"),
                             page.run("cameo.data.graphs[0].boxes.filter(b => b.op === 'Add').length"))
            page.run("cameo.fit()")
            print("%d nodes: %.2f s to write %.1f MB, drawn %.0f ms after the request for the page, %.1f ms to draw what "
                  "is in view, %.0f ms to draw all" % (count, written, html.stat().st_size / 1e6, first, one,
                                                    page.run(DRAWING)), flush=True)
            self.is_well(page)

    def transformer(self):
        """A model of layers, with names of several parts."""
        names = ["/encoder/layer.%d/%s/%s" % (i, part, op) for i in range(12) for part in ["attention", "output"]
                 for op in ["one", "two", "three"]]
        kind = ob.tensor_type(ob.FLOAT, [2])
        nodes = [ob.node("Neg", ["v%d" % i], ["v%d" % (i + 1)], name) for i, name in enumerate(names)]
        model = self.write(ob.model(ob.graph(nodes, [("v0", kind)], [("v%d" % len(names), kind)])))
        cameo("inspect", model, "--optimize", "none", "--html", self.dir / "page.html")
        return self.dir / "page.html"

    def test_folding(self):
        page = self.open(self.transformer())
        all_boxes = page.run("cameo.stats.boxes")
        page.key("g")
        page.run("cameo.fit()")
        page.frame()
        self.assertEqual(page.run("cameo.stats.boxes"), 14)  # twelve layers, the input and the output
        self.assertLess(14, page.run("cameo.data.graphs[0].boxes.length"))
        page.run("cameo.search('layer.3')")
        self.assertEqual(page.run("cameo.hits()"), 1 + 2 + 6)  # only in folded graphs
        page.run("cameo.search('')")
        page.run("cameo.openGraph(cameo.data.graphs.findIndex(g => g.folded && !g.of), 4)")
        self.assertRegex(self.panel(page), r"layer.3\n+/encoder/layer.3\n+nodes\s+6\n")
        page.key("Enter")
        self.assertIn("layer.3", page.run("document.getElementById('path').innerText"))
        page.key("Escape")
        page.key("g")
        self.assertEqual(page.run("cameo.view.graph"), 0)
        self.assertGreaterEqual(all_boxes, 4)
        self.is_well(page)

    def test_the_first_zoom_can_be_read_and_a_map_shows_the_rest(self):
        page = self.open(self.transformer())
        self.assertGreaterEqual(page.run("cameo.view.scale"), 0.8)
        self.assertFalse(page.run("document.getElementById('map').hidden"))
        before = page.run("cameo.view.y")
        box = page.run("(() => { const r = document.getElementById('map').getBoundingClientRect();"
                       " return [r.left, r.top, r.width, r.height]; })()")
        page.click(box[0] + box[2] / 2, box[1] + box[3] * 0.9)
        middle = page.run("(cameo.view.height / 2 - cameo.view.y) / cameo.view.scale / cameo.data.graphs[0].height")
        self.assertAlmostEqual(middle, 0.9, delta=0.03)
        self.assertLess(page.run("cameo.view.y"), before)
        page.run("cameo.fit()")
        page.frame()
        self.assertTrue(page.run("document.getElementById('map').hidden"))
        self.is_well(page)

    def test_the_graph_as_an_image(self):
        for content, level in [(page_models.small_cnn(), "all"), (page_models.hostile(), "none")]:
            cameo("inspect", self.write(content), "--optimize", level, "--html", self.dir / "page.html")
            page = self.open(self.dir / "page.html")
            found = page.run("""(() => {
              const svg = new DOMParser().parseFromString(cameo.svg(), "image/svg+xml");
              return [svg.documentElement.nodeName, svg.querySelectorAll("g > rect").length,
                      [...svg.querySelectorAll("g > title")].map(t => t.textContent), svg.querySelectorAll("script").length,
                      svg.querySelectorAll("parsererror").length];
            })()""")
            boxes = data_of(self.dir / "page.html")["graphs"][0]["boxes"]
            self.assertEqual((found[0], found[1], found[3], found[4]), ("svg", len(boxes), 0, 0))
            self.assertEqual(len(found[2]), len(boxes))
            self.is_well(page)

    def test_a_telephone(self):
        with Browser(390, 844) as small:
            page = small.open(self.transformer())
            page.frame()
            self.assertEqual(page.run("document.documentElement.scrollWidth"), 390)
            stage, panel = page.run("['stage', 'panel'].map(id => { const r = document.getElementById(id)"
                                    ".getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; })")
            self.assertGreaterEqual(panel[1], stage[1] + stage[3] - 1)  # the panel is below the stage
            self.assertGreater(stage[3], 250)
            self.assertEqual((stage[2], panel[2]), (390, 390))
            heights = page.run("[...document.querySelectorAll('#tools button')].filter(b => !b.hidden)"
                               ".map(b => b.getBoundingClientRect().height)")
            self.assertGreaterEqual(min(heights), 36)
            scale = page.run("cameo.view.scale")
            top = stage[1] + 150
            page.call("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
            for kind, apart in [("touchStart", 40), ("touchMove", 60), ("touchMove", 80), ("touchEnd", 0)]:
                points = [{"x": 195 + side * apart, "y": top, "id": i} for i, side in enumerate([-1, 1])]
                page.call("Input.dispatchTouchEvent", type=kind, touchPoints=points if apart else [])
            page.frame()
            self.assertGreater(page.run("cameo.view.scale"), 1.5 * scale)  # two fingers zoom
            self.assertEqual(page.complaints(), [])

    def test_dark_and_empty(self):
        kind = ob.tensor_type(ob.FLOAT, [2])
        model = self.write(ob.model(ob.graph([], [("x", kind)], [("x", kind)])))
        cameo("inspect", model, "--html", self.dir / "page.html")
        page = self.open(self.dir / "page.html", dark=True)
        self.assertEqual(page.run("getComputedStyle(document.body).backgroundColor"), "rgb(20, 23, 28)")
        self.assertTrue(page.run("document.getElementById('memory').hidden"))
        self.is_well(page)


def write_screenshot(path):
    with tempfile.TemporaryDirectory() as folder, Browser(1400, 900) as browser:
        folder = pathlib.Path(folder)
        (folder / "small_cnn.onnx").write_bytes(page_models.small_cnn())
        subprocess.run([THREE, folder / "small_cnn.onnx", folder / "page.html", folder / "trace.json"], check=True)
        page = browser.open(folder / "page.html")
        page.run("cameo.select(cameo.data.graphs[0].boxes.findIndex(b => b.name === 'mixed0.gate'))")
        page.frame()
        page.screenshot(path)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--screenshot"]:
        write_screenshot(sys.argv[2])
    else:
        unittest.main()
