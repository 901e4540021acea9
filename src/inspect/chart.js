// Memory over the steps of a run.
const chart = $("chart"), chartPen = chart.getContext("2d"), memory = data.memory, steps = graphs[0].steps;
const plot = {left: 68, right: 68, top: 26, bottom: 14, width: 0, height: 0, hover: -1};
const stepX = i => plot.left + plot.width * i / steps.length;
const arenaY = n => plot.top + plot.height * (1 - n / Math.max(memory.bytes, 1));
const weightMost = memory.known.at(-1) ?? 0;
const weightY = n => plot.top + plot.height * (1 - n / Math.max(weightMost, 1));
const stairs = (values, y) => {
  chartPen.beginPath();
  values.forEach((n, i) => {
    chartPen.lineTo(stepX(i), y(n));
    chartPen.lineTo(stepX(i + 1), y(n));
  });
  chartPen.stroke();
};
const drawChart = () => {
  if ($("memory").hidden) return;
  const [width, height] = sizeCanvas(chart, chartPen);
  plot.width = width - plot.left - plot.right;
  plot.height = height - plot.top - plot.bottom;
  chartPen.font = "11px system-ui, sans-serif";
  chartPen.textBaseline = "middle";
  for (const [name, box, offset, bytes, first, last] of memory.values) {
    const provider = graphs[0].boxes[box]?.provider ?? -1, x = stepX(first), y = arenaY(offset + bytes);
    const chosen = box === view.selected && view.graph === 0 && box >= 0;
    chartPen.fillStyle = chosen ? theme.accent : theme.tint[provider] ?? theme.line;
    chartPen.fillRect(x, y, Math.max(0.5, stepX(last + 1) - x - 0.5), Math.max(0.5, arenaY(offset) - y - 0.5));
  }
  const at = view.graph === 0 && view.selected >= 0 ? steps.indexOf(view.selected) : -1;
  for (const [step, colour] of [[at, theme.accent], [plot.hover, theme.soft]]) {
    if (step < 0) continue;
    chartPen.fillStyle = colour;
    chartPen.globalAlpha = 0.35;
    chartPen.fillRect(stepX(step), plot.top, Math.max(1.5, plot.width / steps.length), plot.height);
    chartPen.globalAlpha = 1;
  }
  chartPen.lineWidth = 1.6;
  chartPen.strokeStyle = theme.ink;
  stairs(memory.live, arenaY);
  chartPen.strokeStyle = theme.soft;
  chartPen.setLineDash([4, 3]);
  stairs(memory.known, weightY);
  chartPen.setLineDash([]);
  chartPen.strokeStyle = theme.line;
  chartPen.lineWidth = 1;
  chartPen.strokeRect(plot.left, plot.top, plot.width, plot.height);
  chartPen.fillStyle = theme.soft;
  chartPen.textAlign = "right";
  chartPen.fillText(bytesText(memory.bytes), plot.left - 6, plot.top + 4);
  chartPen.fillText("0", plot.left - 6, plot.top + plot.height - 4);
  chartPen.textAlign = "left";
  chartPen.fillText(bytesText(weightMost), plot.left + plot.width + 6, plot.top + 4);
  chartPen.fillText("0", plot.left + plot.width + 6, plot.top + plot.height - 4);
  chartPen.fillStyle = theme.ink;
  const out = memory.left_out ? ` · left out: ${countText(memory.left_out)} whose shapes only a run knows` : "";
  const words = `Arena over ${countText(steps.length)} steps: values in their places, live bytes (line)${out}` +
    " · weights read so far (dashed, right)";
  const room = chartPen.measureText(words).width <= width - plot.left;
  chartPen.fillText(room ? words : words.split(/: | · /)[0], plot.left, 13);
  chart.setAttribute("aria-label", `${words}. Most at once: ${bytesText(most(memory.live, 0))}.`);
};
const valueUnder = (step, y) => memory.values.find(([, , offset, bytes, first, last]) =>
  step >= first && step <= last && y <= arenaY(offset) && y >= arenaY(offset + bytes));
const tellStep = (step, y) => {
  plot.hover = step;
  $("tip").hidden = step < 0;
  if (step >= 0) {
    const box = graphs[0].boxes[steps[step]], value = valueUnder(step, y);
    $("tip").textContent = `step ${step}: ${box ? titleOf(graphs[0], box) : "a copy between memories"}\n` +
      `live ${bytesText(memory.live[step])} · reads ${bytesText(memory.read[step])} of weights, ` +
      `${bytesText(memory.known[step])} so far` +
      (value ? `\n${shown(value[0])}: ${bytesText(value[3])}, steps ${value[4]} to ${value[5]}` : "");
    $("tip").style.left = `${Math.min(Math.max(8, stepX(step) - 120), Math.max(8, chart.clientWidth - 430))}px`;
  }
  redraw();
};
const stepAt = x => {
  const step = Math.floor((x - plot.left) / plot.width * steps.length);
  return step >= 0 && step < steps.length ? step : -1;
};
chart.addEventListener("pointermove", e => tellStep(stepAt(e.offsetX), e.offsetY));
chart.addEventListener("pointerleave", () => tellStep(-1, 0));
chart.addEventListener("click", e => {
  const step = stepAt(e.offsetX);
  if (step >= 0 && steps[step] >= 0) openGraph(0, steps[step]);
});
chart.addEventListener("keydown", e => {
  const by = {ArrowLeft: -1, ArrowRight: 1}[e.key];
  if (by) tellStep(Math.min(steps.length - 1, Math.max(0, plot.hover + by)), plot.top + plot.height);
  if (e.key === "Enter" && steps[plot.hover] >= 0) openGraph(0, steps[plot.hover]);
});
