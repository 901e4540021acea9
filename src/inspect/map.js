// The whole graph in a corner, with a frame round what is in view; and the graph as a picture of its own (SVG).
const map = $("map"), mapPen = map.getContext("2d");
const mapSize = graph => {
  const most = window.innerWidth <= 640 ? [90, 120] : [150, 200];
  const by = Math.min(most[0] / graph.width, most[1] / graph.height);
  return {by, width: Math.max(24, graph.width * by), height: Math.max(24, graph.height * by)};
};
// The boxes are drawn once for each graph and colouring: a large graph has many.
const drawMapBoxes = (graph, {by, width, height}) => {
  const made = document.createElement("canvas"), ratio = window.devicePixelRatio || 1;
  made.width = Math.ceil(width * ratio), made.height = Math.ceil(height * ratio);
  const to = made.getContext("2d");
  to.scale(ratio * by, ratio * by);
  for (const box of graph.boxes) {
    to.fillStyle = box.k !== "node" || view.heat ? fillOf(box) : providerColour(box.provider);
    to.fillRect(box.left, box.top, Math.max(box.w, 1.5 / by), Math.max(box.h, 1 / by));
  }
  return made;
};
let mapOf = {};
const drawMap = () => {
  const graph = here(), size = mapSize(graph);
  const left = -view.x / view.scale, top = -view.y / view.scale;
  const wide = view.width / view.scale, high = view.height / view.scale;
  const seen = (from, length, whole) => Math.max(0, Math.min(from + length, whole) - Math.max(from, 0)) / whole;
  map.hidden = !graph.boxes.length || seen(left, wide, graph.width) * seen(top, high, graph.height) > 0.5;
  if (map.hidden) return;
  Object.assign(map.style, {width: `${size.width}px`, height: `${size.height}px`});
  sizeCanvas(map, mapPen);
  const key = [view.graph, view.heat, theme.page, size.by, window.devicePixelRatio].join();
  if (mapOf.key !== key) mapOf = {key, image: drawMapBoxes(graph, size)};
  mapPen.drawImage(mapOf.image, 0, 0, size.width, size.height);
  mapPen.strokeStyle = theme.accent;
  mapPen.lineWidth = 1.5;
  const x = Math.max(left * size.by, 0.75), y = Math.max(top * size.by, 0.75);
  const right = Math.min((left + wide) * size.by, size.width - 0.75), bottom = Math.min((top + high) * size.by, size.height - 0.75);
  mapPen.strokeRect(x, y, Math.max(3, right - x), Math.max(3, bottom - y));
};
const moveTo = e => {
  if (!(e.buttons & 1)) return;
  const {by} = mapSize(here());
  view.x = view.width / 2 - e.offsetX / by * view.scale;
  view.y = view.height / 2 - e.offsetY / by * view.scale;
  redraw();
};
map.addEventListener("pointerdown", e => { map.setPointerCapture(e.pointerId); moveTo(e); });
map.addEventListener("pointermove", moveTo);

// ---- the graph as SVG ----------------------------------------------------------------------------------------

const svgElement = (tag, attributes, ...children) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};
const svgPath = trace => {
  let d = "";
  const say = letter => (...numbers) => { d += letter + numbers.map(n => +n.toFixed(2)).join(" "); };
  trace({moveTo: say("M"), lineTo: say("L"), bezierCurveTo: say("C")});
  return d;
};
const svgLines = (graph, box) => {
  if (box.k !== "node") return [[labelOf(graph, box), box.y, 12, 400]];
  const second = view.heat ? (box.time ? timeText(box.time[2]) : "") : shapeOf(graph, box);
  return [[labelOf(graph, box), box.top + 13, 13, 600], [second, box.top + 30, 11, 400],
          ...(box.notes ?? []).map((note, i) => [shown(note), box.top + 45 + 14 * i, 10, 400])];
};
const svgBox = (graph, box) => {
  const fill = fillOf(box), ink = box.k !== "node" ? theme.ink : isDark(fill) ? "#ffffff" : "#1c2330";
  const made = svgElement("g", {}, svgElement("rect", {
    x: box.left, y: box.top, width: box.w, height: box.h, rx: box.k === "node" ? 7 : box.h / 2, fill,
    stroke: box.k === "node" ? providerColour(box.provider) : theme.edge, "stroke-width": 1.6}));
  for (const [text, y, size, weight] of svgLines(graph, box)) {
    if (!text) continue;
    pen.font = `${weight} ${size}px system-ui, sans-serif`;
    made.append(svgElement("text", {x: box.x, y, fill: ink, "font-size": size, "font-weight": weight},
                           clipText(text, box.w - 14)));
  }
  const title = svgElement("title", {}, titleOf(graph, box));
  made.prepend(title);
  return made;
};
const svgText = () => {
  const graph = here();
  const lines = svgPath(on => graph.flows.forEach(flow => traceFlow(flow, undefined, on)));
  const heads = svgPath(on => graph.flows.forEach(flow => flow.targets.forEach(t => arrow(t.box.x, t.box.top, on))));
  const svg = svgElement("svg", {
    width: graph.width, height: graph.height, viewBox: `0 0 ${graph.width} ${graph.height}`,
    "font-family": "system-ui, sans-serif", "text-anchor": "middle", "dominant-baseline": "middle"},
    svgElement("rect", {width: "100%", height: "100%", fill: theme.page}),
    svgElement("path", {d: lines, fill: "none", stroke: theme.edge, "stroke-width": 1.3}),
    svgElement("path", {d: heads, fill: theme.edge}), ...graph.boxes.map(box => svgBox(graph, box)));
  return new XMLSerializer().serializeToString(svg);
};
const saveSvg = () => {
  const url = URL.createObjectURL(new Blob([svgText()], {type: "image/svg+xml"}));
  const link = document.createElement("a");
  link.href = url;
  link.download = shown(data.model).split("/").pop() + ".svg";
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
};
