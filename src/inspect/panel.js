// What stands around the drawing, in words.
// Text goes in as text, never as markup: names come from a file.
const el = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") made.addEventListener("click", value);
    else if (name === "style") Object.assign(made.style, value);
    else made.setAttribute(name, value);
  }
  made.append(...children.filter(child => child !== null && child !== undefined));
  return made;
};
const link = (text, onclick) => el("button", {type: "button", class: "link", onclick}, text);
const section = (title, ...children) => children.length ? [el("h3", {}, title), ...children] : [];
const cellOf = content => content instanceof Node && content.nodeName === "TD" ? content : el("td", {}, content);
const table = rows => el("table", {}, ...rows.map(([head, ...cells]) =>
  el("tr", {}, el("th", {scope: "row"}, head), ...cells.map(cellOf))));
const number = text => el("td", {class: "number"}, text);

const fillHeader = () => {
  $("title").textContent = shown(data.model).split("/").pop();
  $("title").title = shown(data.model);
  const facts = [[countText(data.nodes), "nodes"], [countText(data.parameters[0]), "parameters"],
                 [bytesText(data.parameters[2]), "of weights"],
                 // Nothing is planned where all shapes are open.
                 ...(data.memory.bytes || !data.memory.left_out ? [[bytesText(data.memory.bytes), "arena"]] : []),
                 [countText(data.partitions.length), data.partitions.length === 1 ? "partition" : "partitions"],
                 ...data.opsets.slice(0, 3).map(([domain, version]) => [shown(domain), version])];
  if (data.profile) facts.push([timeText(data.profile.wall), "profiled run"]);
  $("facts").replaceChildren(...facts.map(([what, of]) => el("li", {}, el("b", {}, String(what)), ` ${of}`)));
};
const fillLegend = () => {
  const background = `linear-gradient(90deg, ${ramp.join(",")})`;
  const rows = view.heat
    ? [el("div", {}, "0", el("span", {class: "ramp", style: {background}}), timeText(slowest))]
    : data.providers.map(([name, count], i) => el("div", {},
        el("span", {class: "swatch", style: {background: theme.tint[i], borderColor: providerColour(i)}}),
        `${name} · ${countText(count)} ${count === 1 ? "node" : "nodes"}`));
  $("legend").replaceChildren(...rows);
};
const fillPath = () => {
  const way = [];
  for (let g = view.graph; g !== undefined; g = graphs[g].of?.[0]) way.unshift(g);
  $("path").hidden = way.length < 2;
  $("path").replaceChildren(...way.map(g => {
    const holder = graphs[g].of && graphs[graphs[g].of[0]].boxes[graphs[g].of[1]];
    const text = holder ? holder.fold ? shown(graphs[g].as) : `${titleOf(graphs[graphs[g].of[0]], holder)} · ${shown(graphs[g].as)}`
                        : "main graph";
    const current = g === view.graph ? {"aria-current": "true"} : {};
    return el("button", {type: "button", onclick: () => openGraph(g), ...current}, text);
  }));
};

const topTimes = () => {
  const byOp = new Map(), all = [];
  graphs.forEach((graph, g) => !graph.folded && graph.boxes.forEach((box, b) => {
    if (!box.time) return;
    const label = labelOf(graph, box), sum = byOp.get(label) ?? {count: 0, own: 0};
    byOp.set(label, {count: sum.count + 1, own: sum.own + box.time[2]});
    all.push({graph, g, box, b});
  }));
  const row = (head, own, ...more) => {
    const share = own / data.profile.sum, bar = el("div", {class: "bar", style: {width: `${100 * share}%`}});
    return [head, el("td", {style: {width: "64px"}}, bar), number(timeText(own)), number(shareText(share)),
            ...more.map(number)];
  };
  const judged = all => all.some(({box}) => rooflineText(box));
  const ops = [...byOp].sort((a, b) => b[1].own - a[1].own).slice(0, 12);
  all.sort((a, b) => b.box.time[2] - a.box.time[2]);
  return [
    ...section("Time by operator", table(ops.map(([op, {count, own}]) => row(`${op} × ${count}`, own)))),
    ...section(judged(all) ? "Slowest nodes, with their share of the roofline" : "Slowest nodes",
      table(all.slice(0, 12).map(({graph, g, box, b}) =>
        row(link(titleOf(graph, box), () => openGraph(g, b)), box.time[2],
            ...(judged(all) ? [rooflineText(box)] : []))))),
    data.profile.dropped ? el("p", {}, `${data.profile.dropped} steps found no room in the trace.`) : null,
  ];
};
const modelPanel = () => {
  const ios = list => table(list.map(([name, type, optional]) =>
    [shown(name), el("td", {class: "type"}, shown(type) + (optional ? " (has a default)" : ""))]));
  const seen = text => { $("query").value = text; search(text); };
  const partition = ([provider, count, first, last, fused]) => {
    const what = fused ? `fused from ${fused}` : count === 1 ? first : `${first} … ${last}`;
    return [provider, shown(what), number(countText(count))];
  };
  return [
    el("h2", {}, shown(data.graph) || shown(data.model)),
    el("p", {class: "type"}, shown(`${data.producer} · IR version ${data.ir_version}`)),
    ...section("Inputs", ios(data.inputs)), ...section("Outputs", ios(data.outputs)),
    ...(data.profile ? topTimes() : []),
    ...section("Providers", table(data.providers.map(([name, count]) =>
      [link(name, () => seen(name)), number(countText(count))]))),
    ...section("Operators", table([...data.ops].sort((a, b) => b[1] - a[1]).map(([op, count]) =>
      [link(shown(op), () => seen(op.split(".").pop())), number(countText(count))]))),
    ...section("Partitions, in order", table(data.partitions.slice(0, 100).map(partition))),
    ...section("Opsets", table(data.opsets.map(([domain, version]) => [shown(domain), String(version)]))),
    ...(data.compiled.length ? section("Compiled nodes", ...data.compiled.flatMap(
      ([node, source, version, hardware, group, where]) => [
        el("p", {}, shown(node) || "(no name)"),
        table([["compiled by", shown(`${source} ${version}`)], ...(hardware ? [["for", shown(hardware)]] : []),
               ...(group ? [["group", shown(group)]] : []), ["context", shown(where)]])])) : []),
    ...(data.saved.length ? section("Optimizations kept for later", table(data.saved.map(([optimizer, action, makes]) =>
      [shown(optimizer), shown(`${action}${makes ? ` → ${makes}` : ""}`)]))) : []),
    ...(data.metadata.length ? section("Metadata", table(data.metadata.map(pair => pair.map(shown)))) : []),
  ];
};

// `called` is what the operator calls it: "W", "x_scale".
const valueRow = (graph, v, ends, called = "") => {
  const type = el("div", {class: "type"}, typeOf(graph, v));
  if (isConstant(graph, v)) type.append(` · constant, ${bytesText(graph.values[v][2])}`);
  const content = graph.values[v]?.[3] ? el("code", {}, shown(graph.values[v][3])) : null;
  const links = (ends ?? []).slice(0, 20).map(b =>
    el("div", {}, "→ ", link(titleOf(graph, graph.boxes[b]), () => select(b, true))));
  const name = [called ? el("b", {}, `${shown(called)} `) : null, el("code", {}, nameOf(graph, v))];
  return el("li", {}, ...name, type, content, ...links);
};
const nodePanel = (graph, box) => {
  const from = v => graph.maker.has(v) ? [graph.maker.get(v)] : [];
  const to = v => graph.readers.get(v) ?? [];
  if (box.k !== "node") {
    const kind = {input: "Input", output: "Output", outer: "From the graph outside"}[box.k];
    return [el("h2", {}, nameOf(graph, box.v)), el("p", {}, kind),
            ...section("Value", el("ul", {}, valueRow(graph, box.v, box.k === "output" ? from(box.v) : to(box.v))))];
  }
  const facts = box.fold ? [["nodes", countText(box.fold)]]
    : [["domain", shown(box.domain)], ["operator", shown(box.op)], ["opset", String(box.opset)]];
  if (box.provider >= 0) facts.push(["provider", providerOf(box)], ["partition", String(box.partition + 1)]);
  if (box.label) facts.push(["fused from", shown(box.label)]);
  const called = (values, names) => values.map((v, i) => [v, names?.[i]]);
  const inputs = called(box.in, box.formal?.[0]), outputs = called(box.out, box.formal?.[1]);
  const varying = inputs.filter(([v]) => !isConstant(graph, v)), constant = inputs.filter(([v]) => isConstant(graph, v));
  const list = (values, ends) =>
    values.length ? [el("ul", {}, ...values.map(([v, name]) => valueRow(graph, v, ends(v), name)))] : [];
  const time = box.time && [
    ["own", timeText(box.time[2])], ["share", shareText(box.time[2] / data.profile.sum)],
    ["calls", countText(box.time[0])],
    ...(box.work?.[0] != null ? [["operations", countText(box.work[0])]] : []),
    ...(box.work?.[1] != null ? [["bytes", countText(box.work[1])]] : []),
    ...(rooflineText(box) ? [["of the roofline", rooflineText(box)]] : []), ...(box.graphs ? [["with its graphs", timeText(box.time[1])]] : [])];
  const notRun = data.profile && box.provider >= 0 ? section("Time", el("p", {}, "Not run.")) : [];
  const inside = g => el("p", {}, link(
    `${shown(graphs[g].as)} · ${graphs[g].boxes.filter(b => b.k === "node").length} nodes`, () => openGraph(g)));
  const attribute = ([name, text]) => [shown(name), el("code", {}, shown(text))];
  return [
    el("h2", {}, labelOf(graph, box)), el("p", {}, shown(box.name) || "(no name)"), table(facts),
    ...(box.why ? section("Why not earlier", ...box.why.map(why => el("p", {class: "why"}, shown(why)))) : []),
    ...(time ? section("Time", table(time)) : notRun),
    ...section("Graphs", ...(box.graphs ?? []).map(inside)),
    ...(box.attributes ? section("Attributes", table(box.attributes.map(attribute))) : []),
    ...section("Inputs", ...list(varying, from)), ...section("Constants", ...list(constant, from)),
    ...section("Used inside", ...list(called(box.captures ?? []), from)),
    ...section("Outputs", ...list(outputs, to)),
    el("p", {}, link("← the model", () => select(-1))),
  ];
};
const fillPanel = () => {
  const box = here().boxes[view.selected];
  $("panel").replaceChildren(...(box ? nodePanel(here(), box) : modelPanel()).filter(Boolean));
  $("panel").scrollTop = 0;
};
