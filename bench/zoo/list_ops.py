#!/usr/bin/env python3
"""Prints the operators of the models in folders as Markdown tables.

Usage: list_ops.py FOLDER... > ops.md

Subgraphs and functions of models are included. The columns of the first table are families of models; a number counts
the models of the family that have the operator.
"""
import json
import pathlib
import sys

import onnx


def operators(nodes):
    for node in nodes:
        yield (node.domain or "ai.onnx", node.op_type)
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):
                yield from operators(graph.node)


def family_of(folder):
    meta = json.loads((folder / "meta.json").read_text())
    return meta.get("family") or "bench_models"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    models = {}
    for place in map(pathlib.Path, sys.argv[1:]):
        for path in sorted(place.glob("*/model.onnx")):
            if not (path.parent / "output.npz").exists():
                continue
            model = onnx.load(path, load_external_data=False)
            local = {(f.domain, f.name) for f in model.functions}
            found = set(operators(model.graph.node)).union(*(operators(f.node) for f in model.functions))
            opset = {o.domain or "ai.onnx": o.version for o in model.opset_import}
            models[path.parent.name] = (family_of(path.parent), found - local, opset)
    families = sorted({family for family, _, _ in models.values()})
    counts = {}
    for family, found, _ in models.values():
        for op in found:
            counts.setdefault(op, dict.fromkeys(families, 0))[family] += 1
    print("# Operators of the models\n")
    print(f"Written by bench/zoo/list_ops.py: {len(counts)} operators in {len(models)} models. A number is how many of "
          "a family's models have the operator.\n")
    print("| operator | " + " | ".join(families) + " |")
    print("|---|" + "---:|" * len(families))
    for (domain, name), row in sorted(counts.items()):
        label = name if domain == "ai.onnx" else f"{domain}.{name}"
        print(f"| {label} | " + " | ".join(str(row[f] or "") for f in families) + " |")
    print("\n| model | family | opset | operators |\n|---|---|---:|---|")
    for name, (family, found, opset) in sorted(models.items()):
        names = ", ".join(n if d == "ai.onnx" else f"{d}.{n}" for d, n in sorted(found))
        print(f"| {name} | {family} | {opset.get('ai.onnx', '')} | {names} |")


if __name__ == "__main__":
    main()
