// The graph: drawn, moved about in, searched. Then come panel.js, chart.js and start.js, all one module.
const started = performance.now();
const data = JSON.parse(document.getElementById("data").textContent);
const $ = id => document.getElementById(id);

// ---- the model -----------------------------------------------------------------------------------------------

const graphs = data.graphs;
for (const graph of graphs) {
  if (graph.folded) graph.values = graphs[0].values;
  graph.maker = new Map();  // value -> box
  graph.readers = new Map();  // value -> boxes
  graph.boxes.forEach((box, i) => {
    box.left = box.x - box.w / 2, box.top = box.y - box.h / 2;
    for (const v of box.k === "node" ? box.out : box.k === "output" ? [] : [box.v]) graph.maker.set(v, i);
    for (const v of box.k === "node" ? [...box.in, ...box.captures ?? []] : box.k === "output" ? [box.v] : [])
      if (v >= 0) graph.readers.get(v)?.push(i) ?? graph.readers.set(v, [i]);
  });
  graph.flows = graph.flows.map(([from, value, chain, ends]) => {
    const targets = [];
    for (let i = 0; i < ends.length; i += 2)
      targets.push({box: graph.boxes[ends[i]], number: ends[i], leaves: ends[i + 1]});
    const xs = [graph.boxes[from].x, ...targets.map(t => t.box.x)];
    for (let i = 0; i < chain.length; i += 2) xs.push(chain[i]);
    const bounds = xs.reduce(([low, high], x) => [Math.min(low, x), Math.max(high, x)], [Infinity, -Infinity]);
    const bottom = targets.reduce((y, t) => Math.max(y, t.box.top), -Infinity);
    return {from: graph.boxes[from], number: from, value, chain, targets, left: bounds[0], right: bounds[1], bottom};
  });
  graph.partitions = new Set(graph.boxes.filter(b => b.k === "node").map(b => b.partition)).size;
}

const bytesText = n => {
  for (const unit of ["B", "kB", "MB", "GB"]) {
    if (n < 999.5 || unit === "GB") return `${unit === "B" ? n : n.toPrecision(3)} ${unit}`;
    n /= 1000;
  }
};
const countText = n => n.toLocaleString("en");
const timeText = ns => ns < 1e6 ? `${(ns / 1e3).toPrecision(3)} µs` : `${(ns / 1e6).toPrecision(3)} ms`;
// Of the least time that the machine needs for a node's operations and bytes, in the time it took.
const rooflineText = box => box.work?.[2] != null && box.time[2] > 0 ? shareText(box.work[2] / box.time[2]) : "";
const shareText = part => `${(100 * part).toFixed(part < 0.1 ? 1 : 0)} %`;
// Control characters and such that turn text around would make one name look like another.
const shown = text => text.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069]/g, "\ufffd");
const nameOf = (graph, v) => v < 0 ? "(absent)" : shown(graph.values[v][0]) || "(no name)";
const typeOf = (graph, v) => v < 0 ? "" : shown(graph.values[v][1]);
const isConstant = (graph, v) => v >= 0 && graph.values[v].length > 2;
const labelOf = (graph, box) => box.k === "node" ? shown(box.label ?? box.op) : nameOf(graph, box.v);
const shapeOf = (graph, box) => {
  if (box.fold) return `${countText(box.fold)} nodes`;
  const v = box.out.find(v => v >= 0), type = v === undefined ? "" : typeOf(graph, v);
  return type.includes("[") ? type.slice(type.indexOf("[") + 1, -1).replaceAll(",", "×") || "scalar" : type;
};
const folds = graphs.findIndex(g => g.folded && !g.of);  // the whole graph, folded by the names of nodes
const titleOf = (graph, box) => labelOf(graph, box) + (box.name ? ` “${shown(box.name)}”` : "");
const providerOf = box => data.providers[box.provider]?.[0] ?? "";

// ---- colours -------------------------------------------------------------------------------------------------

// Told apart by people with any kind of colour vision (after Okabe and Ito).
const palette = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#8d7c00"];
const ramp = ["#fff7ec", "#fdd49e", "#fc8d59", "#d7301f", "#7f0000"];
const parts = hex => [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16));
const hexOf = colour => "#" + colour.map(c => Math.round(c).toString(16).padStart(2, "0")).join("");
const mix = (a, b, t) => hexOf(parts(a).map((c, i) => c + (parts(b)[i] - c) * t));
const isDark = hex => parts(hex).reduce((sum, c, i) => sum + c * [0.3, 0.59, 0.11][i], 0) < 140;
const providerColour = i => i < 0 ? "#888888" : palette[i % palette.length];
const heatColour = t => {
  const at = Math.min(Math.max(t, 0), 1) * (ramp.length - 1), low = Math.min(Math.floor(at), ramp.length - 2);
  return mix(ramp[low], ramp[low + 1], at - low);
};
let theme;
const readTheme = () => {
  const style = getComputedStyle(document.documentElement);
  theme = Object.fromEntries(["page", "card", "ink", "soft", "line", "accent", "edge", "hit", "pill"].map(
    name => [name, style.getPropertyValue("--" + name).trim()]));
  theme.tint = data.providers.map((_, i) => mix(theme.card, providerColour(i), 0.24));
  theme.hull = data.providers.map((_, i) => mix(theme.page, providerColour(i), isDark(theme.page) ? 0.26 : 0.14));
};

// ---- the drawing ---------------------------------------------------------------------------------------------

const canvas = $("graph"), pen = canvas.getContext("2d");
const view = {graph: 0, scale: 1, x: 0, y: 0, width: 0, height: 0, selected: -1, heat: false, hits: new Set()};
const stats = {frames: 0, boxes: 0, ready: 0};
const here = () => graphs[view.graph];
const most = (numbers, least) => numbers.reduce((a, b) => Math.max(a, b), least);
const slowest = most(graphs.flatMap(g => g.folded ? [] : g.boxes.map(b => b.time?.[2] ?? 0)), 1);
const heatOf = box => box.time ? Math.sqrt(box.time[2] / slowest) : 0;
let waiting = false;
const redraw = () => {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; drawGraph(); drawMap(); drawChart(); });
};

const sizeCanvas = (target, context) => {
  const {clientWidth: width, clientHeight: height} = target, ratio = window.devicePixelRatio || 1;
  const w = Math.max(1, Math.round(width * ratio)), h = Math.max(1, Math.round(height * ratio));
  if (target.width !== w || target.height !== h) target.width = w, target.height = h;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return [width, height];
};

const curve = (on, x0, y0, x1, y1) => {
  if (Math.abs(x0 - x1) < 0.5) return on.lineTo(x1, y1);
  const middle = y1 - y0 > 120 ? [y1 - 60, y1 - 30] : [(y0 + y1) / 2, (y0 + y1) / 2];
  on.bezierCurveTo(x0, middle[0], x1, middle[1], x1, y1);
};
const traceFlow = (flow, only, on = pen) => {
  const start = [flow.from.x, flow.from.top + flow.from.h];
  let at = start;
  const deepest = only ? only.leaves : flow.chain.length / 2 - 1;
  on.moveTo(...start);
  for (let i = 0; i <= deepest; ++i) {
    const next = [flow.chain[2 * i], flow.chain[2 * i + 1]];
    curve(on, ...at, ...next);
    at = next;
  }
  for (const target of only ? [only] : flow.targets) {
    const from = target.leaves < 0 ? start : [flow.chain[2 * target.leaves], flow.chain[2 * target.leaves + 1]];
    on.moveTo(...from);
    curve(on, ...from, target.box.x, target.box.top);
  }
};
const arrow = (x, y, on = pen) => {
  on.moveTo(x, y);
  on.lineTo(x - 4, y - 7);
  on.lineTo(x + 4, y - 7);
};

const clipText = (text, room) => {
  if (pen.measureText(text).width <= room) return text;
  let low = 0, high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (pen.measureText(text.slice(0, middle) + "…").width <= room) low = middle; else high = middle - 1;
  }
  return text.slice(0, low) + "…";
};
const write = (box, key, text, font, colour, y) => {
  pen.font = font;
  pen.fillStyle = colour;
  box[key] ??= clipText(text, box.w - 14);
  pen.fillText(box[key], box.x, y);
};

// One partition is one patch: its boxes with a rim, and what flows between them.
const drawHulls = (graph, boxes, flows) => {
  if (graph.partitions < 2) return;
  pen.lineWidth = 40;
  for (const flow of flows) {
    if (flow.from.k !== "node") continue;
    const inside = flow.targets.filter(t => t.box.k === "node" && t.box.partition === flow.from.partition);
    if (!inside.length) continue;
    pen.strokeStyle = theme.hull[flow.from.provider] ?? theme.line;
    pen.beginPath();
    for (const target of inside) traceFlow(flow, target);
    pen.stroke();
  }
  for (const box of boxes) {
    if (box.k !== "node") continue;
    pen.fillStyle = theme.hull[box.provider] ?? theme.line;
    pen.beginPath();
    pen.roundRect(box.left - 11, box.top - 11, box.w + 22, box.h + 22, 14);
    pen.fill();
  }
};

const drawFlows = (flows, fine) => {
  pen.strokeStyle = pen.fillStyle = theme.edge;
  pen.lineWidth = Math.max(1.3, 0.6 / view.scale);
  pen.beginPath();
  for (const flow of flows) traceFlow(flow);
  pen.stroke();
  if (fine) {
    pen.beginPath();
    for (const flow of flows) for (const target of flow.targets) arrow(target.box.x, target.box.top);
    pen.fill();
  }
  if (view.selected < 0) return;
  pen.strokeStyle = pen.fillStyle = theme.accent;
  pen.lineWidth = Math.max(2.4, 1.2 / view.scale);
  for (const flow of flows) {
    const ends = flow.number === view.selected ? flow.targets : flow.targets.filter(t => t.number === view.selected);
    if (!ends.length) continue;
    pen.beginPath();
    for (const target of ends) traceFlow(flow, target);
    pen.stroke();
  }
};

const fillOf = box => {
  if (box.k !== "node") return theme.pill;
  if (view.heat) return box.time ? heatColour(heatOf(box)) : theme.card;
  return theme.tint[box.provider] ?? theme.card;
};
const drawBox = (graph, box, number, fine) => {
  const fill = fillOf(box), edge = box.k === "node" ? providerColour(box.provider) : theme.edge;
  if (!fine) {
    pen.fillStyle = view.heat || box.k !== "node" ? fill : edge;
    pen.fillRect(box.left, box.top, box.w, box.h);
  } else {
    pen.fillStyle = fill;
    pen.strokeStyle = edge;
    pen.lineWidth = 1.6;
    pen.beginPath();
    pen.roundRect(box.left, box.top, box.w, box.h, box.k === "node" ? 7 : box.h / 2);
    pen.fill();
    pen.stroke();
    if (box.graphs) {  // there is more inside
      pen.beginPath();
      pen.roundRect(box.left + 3, box.top + 3, box.w - 6, box.h - 6, 5);
      pen.stroke();
    }
    const ink = isDark(fill) ? "#ffffff" : "#1c2330", soft = isDark(fill) ? "#d5dae2" : "#4a5362";
    if (box.k !== "node") {
      write(box, "text", labelOf(graph, box), "12px system-ui, sans-serif", theme.ink, box.y);
    } else {
      write(box, "text", labelOf(graph, box), "600 13px system-ui, sans-serif", ink, box.top + 13);
      const second = view.heat ? ["cost", box.time ? timeText(box.time[2]) : ""] : ["size", shapeOf(graph, box)];
      write(box, ...second, "11px system-ui, sans-serif", soft, box.top + 30);
      box.notes?.forEach((note, i) =>
        write(box, "note" + i, shown(note), "10px system-ui, sans-serif", soft, box.top + 45 + 14 * i));
    }
  }
  const ring = number === view.selected ? theme.accent : view.hits.has(number) ? theme.hit : null;
  if (!ring) return;
  pen.strokeStyle = ring;
  pen.lineWidth = Math.max(3.5, 2.5 / view.scale);
  pen.beginPath();
  pen.roundRect(box.left - 3, box.top - 3, box.w + 6, box.h + 6, 9);
  pen.stroke();
};

const drawGraph = () => {
  [view.width, view.height] = sizeCanvas(canvas, pen);
  const graph = here(), fine = view.scale > 0.3;
  const left = -view.x / view.scale - 20, top = -view.y / view.scale - 20;
  const right = left + view.width / view.scale + 40, bottom = top + view.height / view.scale + 40;
  const flows = graph.flows.filter(
    f => f.from.top < bottom && f.bottom > top && f.left - 8 < right && f.right + 8 > left);
  const numbers = [];
  graph.boxes.forEach((b, i) => {
    if (b.top < bottom && b.top + b.h > top && b.left < right && b.left + b.w > left) numbers.push(i);
  });
  pen.translate(view.x, view.y);
  pen.scale(view.scale, view.scale);
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.lineCap = pen.lineJoin = "round";
  drawHulls(graph, numbers.map(i => graph.boxes[i]), flows);
  pen.lineCap = "butt";
  drawFlows(flows, fine);
  for (const i of numbers) drawBox(graph, graph.boxes[i], i, fine);
  ++stats.frames;
  stats.boxes = numbers.length;
  stats.ready ||= performance.now();
};

// ---- moving about --------------------------------------------------------------------------------------------

const clampScale = s => Math.min(4, Math.max(0.002, s));
const zoom = (factor, x = view.width / 2, y = view.height / 2) => {
  const scale = clampScale(view.scale * factor), by = scale / view.scale;
  Object.assign(view, {scale, x: x - (x - view.x) * by, y: y - (y - view.y) * by});
  redraw();
};
const pan = (x, y) => { view.x += x; view.y += y; redraw(); };
const readable = 0.8;  // of a box's text at scale 1: what a graph opens with, however large it is
const fit = (smallest = 0) => {
  const graph = here(), {clientWidth: width, clientHeight: height} = canvas;
  let scale = clampScale(Math.min(width / graph.width, height / graph.height, 1.4));
  const y = scale < smallest ? 40 : (height - graph.height * scale) / 2;
  if (scale < smallest) scale = Math.min(1, Math.max(smallest, Math.min(1, width / graph.width)));
  const middle = graph.boxes.length ? graph.boxes[0].x : graph.width / 2;
  const x = graph.width * scale <= width ? (width - graph.width * scale) / 2 : width / 2 - middle * scale;
  Object.assign(view, {scale, x, y});
  redraw();
};
const show = number => {
  const box = here().boxes[number];
  view.scale = Math.max(view.scale, 0.8);
  view.x = canvas.clientWidth / 2 - box.x * view.scale;
  view.y = canvas.clientHeight / 2 - box.y * view.scale;
  redraw();
};
const select = (number, center = false) => {
  view.selected = number;
  if (number >= 0 && center) show(number);
  fillPanel();
  redraw();
};
const openGraph = (number, selected = -1) => {
  if (number !== view.graph) {
    view.graph = number;
    $("fold").setAttribute("aria-pressed", String(!!here().folded));
    fillPath();
    markHits();
    fit(readable);
  }
  select(selected, selected >= 0);
};
const boxAt = (x, y) => {
  const wx = (x - view.x) / view.scale, wy = (y - view.y) / view.scale;
  return here().boxes.findIndex(b => wx >= b.left && wx <= b.left + b.w && wy >= b.top && wy <= b.top + b.h);
};
const stepBy = by => {
  const steps = graphs[0].steps.filter(b => b >= 0);
  const order = view.graph === 0 && steps.length ? steps : here().boxes.map((_, i) => i);
  const at = order.indexOf(view.selected);
  const next = at < 0 ? (by > 0 ? 0 : order.length - 1) : (at + by + order.length) % order.length;
  if (order.length) select(order[next], true);
};

// One finger moves, two zoom as well.
const fingers = new Map();
let moved = false;
const spread = () => {
  const [a, b] = [...fingers.values()];
  return {x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, wide: Math.max(1, Math.hypot(a.x - b.x, a.y - b.y))};
};
canvas.addEventListener("pointerdown", e => {
  if (e.button !== 0) return;
  if (!fingers.size) moved = false;
  fingers.set(e.pointerId, {x: e.offsetX, y: e.offsetY});
  canvas.setPointerCapture(e.pointerId);
});
canvas.addEventListener("pointermove", e => {
  const from = fingers.get(e.pointerId), to = {x: e.offsetX, y: e.offsetY};
  if (!from || (!moved && Math.hypot(to.x - from.x, to.y - from.y) < 4)) return;
  moved = true;
  if (fingers.size === 2) {
    const before = spread();
    fingers.set(e.pointerId, to);
    const now = spread();
    pan(now.x - before.x, now.y - before.y);
    zoom(now.wide / before.wide, now.x, now.y);
  } else {
    fingers.set(e.pointerId, to);
    pan(to.x - from.x, to.y - from.y);
  }
});
canvas.addEventListener("pointerup", e => {
  if (fingers.delete(e.pointerId) && !moved) select(boxAt(e.offsetX, e.offsetY));
});
canvas.addEventListener("pointercancel", e => fingers.delete(e.pointerId));
canvas.addEventListener("dblclick", e => {
  const box = here().boxes[boxAt(e.offsetX, e.offsetY)];
  if (box?.graphs) openGraph(box.graphs[0]);
});
canvas.addEventListener("wheel", e => {
  e.preventDefault();
  const pixels = e.deltaMode === 1 ? e.deltaY * 30 : e.deltaY;
  if (e.shiftKey) pan(-(e.deltaX || pixels), 0);
  else zoom(Math.exp(-pixels * (e.ctrlKey ? 0.01 : 0.0016)), e.offsetX, e.offsetY);
}, {passive: false});

const setHeat = on => {
  view.heat = on;
  $("heat").setAttribute("aria-pressed", String(on));
  fillLegend();
  redraw();
};
const toggleFold = () => folds >= 0 && openGraph(here().folded ? 0 : folds);
const goUp = () => here().of ? openGraph(...here().of) : select(-1);
const keys = {
  "+": () => zoom(1.3), "=": () => zoom(1.3), "-": () => zoom(1 / 1.3), "0": () => fit(), f: () => fit(),
  ArrowLeft: () => pan(80, 0), ArrowRight: () => pan(-80, 0), ArrowUp: () => pan(0, 80), ArrowDown: () => pan(0, -80),
  PageUp: () => pan(0, view.height * 0.8), PageDown: () => pan(0, -view.height * 0.8),
  "[": () => stepBy(-1), "]": () => stepBy(1), n: () => jump(1), N: () => jump(-1),
  h: () => data.profile && setHeat(!view.heat), g: toggleFold,
  "/": () => $("query").focus(), Escape: goUp, Backspace: goUp,
  Enter: () => here().boxes[view.selected]?.graphs && openGraph(here().boxes[view.selected].graphs[0]),
};
document.addEventListener("keydown", e => {
  const inside = e.target === canvas || e.target === document.body;
  const scrolls = e.target.closest?.("#panel") && /^(Arrow|Page|Enter|Backspace)/.test(e.key);
  const typed = e.target.matches?.("input") || e.ctrlKey || e.metaKey || e.altKey || scrolls;
  const general = ["/", "n", "N", "[", "]", "f", "g", "h", "+", "-", "Escape"].includes(e.key);
  if (typed || !keys[e.key] || (!inside && !general)) return;
  e.preventDefault();
  keys[e.key]();
});

// ---- search --------------------------------------------------------------------------------------------------

let hits = [], hitAt = -1;
const textsOf = (graph, box) => box.k !== "node" ? [graph.values[box.v][0], box.k] :
  [box.op, box.label ?? "", box.name, providerOf(box),
   ...[...box.in, ...box.out].filter(v => v >= 0).map(v => graph.values[v][0])];
const markHits = () => { view.hits = new Set(hits.filter(h => h.graph === view.graph).map(h => h.box)); };
const search = query => {
  const wanted = query.trim().toLowerCase();
  hits = [];
  hitAt = -1;
  if (wanted)
    graphs.forEach((graph, g) => !graph.folded === !here().folded && graph.boxes.forEach((box, b) => {
      if (textsOf(graph, box).some(text => text.toLowerCase().includes(wanted))) hits.push({graph: g, box: b});
    }));
  markHits();
  $("hits").textContent = wanted ? "no hit" : "";
  if (hits.length) jump(1);
  else redraw();
};
const jump = by => {
  if (!hits.length) return;
  hitAt = (hitAt + by + hits.length) % hits.length;
  $("hits").textContent = `${hitAt + 1} / ${hits.length}`;
  openGraph(hits[hitAt].graph, hits[hitAt].box);
};
$("query").addEventListener("input", e => search(e.target.value));
$("query").addEventListener("keydown", e => {
  if (e.key === "Escape") { e.target.value = ""; search(""); canvas.focus(); }
  if (e.key === "Enter") jump(e.shiftKey ? -1 : 1);
});
$("search").addEventListener("submit", e => e.preventDefault());
for (const [id, does] of Object.entries({next: () => jump(1), previous: () => jump(-1), zoomin: keys["+"],
                                         zoomout: keys["-"], fit: keys.f, heat: keys.h,
                                         svg: () => saveSvg(), fold: toggleFold}))
  $(id).addEventListener("click", does);
