#!/usr/bin/env python3
"""Makes models as common exporters write them, with random weights, and their reference outputs.

    make_zoo.py OUTDIR [--keras] [--only REGEX] [--list]

For each model NAME it writes OUTDIR/NAME/{model.onnx,input.npz,output.npz,meta.json}; output.npz has the outputs of
ONNX Runtime without optimizations. bench/models/npz_to_cases.py converts the folders to cases for `cameo conformance`.
Models whose exporter fails are listed at the end, and the exit status is then 1.
"""
import argparse
import re
import sys
import time
import traceback

FAMILIES = ("transformers_zoo", "vision_zoo", "speech_zoo", "tabular_zoo", "quantized_zoo")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("outdir", nargs="?")
    parser.add_argument("--only", default=".", metavar="REGEX")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--keras", action="store_true", help="make the Keras models instead (requirements_keras.txt)")
    parser.add_argument("--verbose", action="store_true", help="print whole stack traces of failures")
    a = parser.parse_args()
    import importlib
    import zoo_tools
    entries = [e for family in (("keras_zoo",) if a.keras else FAMILIES)
               for e in importlib.import_module(family).entries() if re.search(a.only, e.name)]
    if a.list or not a.outdir:
        print("\n".join(f"{e.name:32} {e.family}" for e in entries))
        return 0
    failed = []
    for entry in entries:
        start = time.time()
        try:
            model = zoo_tools.write(a.outdir, entry)
            print(f"{entry.name:32} {len(model.graph.node):5} nodes {time.time() - start:6.1f} s", flush=True)
        except Exception as error:  # exporters raise any type; the other models are still made
            failed.append(entry.name)
            text = traceback.format_exc() if a.verbose else str(error).strip().split("\n")[0][:200]
            print(f"{entry.name:32} FAILED: {type(error).__name__}: {text}", flush=True)
    if failed:
        print(f"failed: {' '.join(failed)}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
