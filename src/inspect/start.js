document.title = `${shown(data.model).split("/").pop()} · cameo inspect`;
readTheme();
fillHeader();
fillLegend();
fillPath();
fillPanel();
$("heat").hidden = !data.profile;
$("fold").hidden = folds < 0;
$("memory").hidden = !graphs[0].steps.length;
canvas.setAttribute("aria-label",
                    `Graph of ${data.nodes} nodes; its nodes can be searched, and are described beside it`);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readTheme(); fillLegend(); redraw(); });
new ResizeObserver(redraw).observe(document.body);
fit(readable);

// For tests, and for the console.
window.cameo = {
  data, stats, view, started, openGraph, search, pan, zoom, fit, setHeat, drawGraph, svg: svgText,
  select: number => select(number, true),
  rectangle: number => {
    const box = here().boxes[number];
    return [box.left * view.scale + view.x, box.top * view.scale + view.y, box.w * view.scale, box.h * view.scale];
  },
  hits: () => hits.length,
};
