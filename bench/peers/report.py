#!/usr/bin/env python3
"""Prints the tables of bench/peers/run from its results.

Usage: bench/peers/report.py RESULTS.json [--brief]      (--brief: the table of README.md)
"""
import json
import sys

SHORT = {"cameo": "cameo", "onnxruntime": "ORT", "openvino": "OpenVINO"}


def table(head, rows):
    rule = ["---" if i == 0 else "---:" for i in range(len(head))]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, rule, *rows))


def number(value):
    if value is None:
        return "-"
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}" if abs(value) < 100 else f"{value:,.0f}"


def both(row):
    if "failed" in row:
        return "failed"
    return f"{number(row.get('min_us'))} / {number(row.get('median_us'))}" if "min_us" in row else "-"


def percent(value):
    return "-" if value is None else f"{100 * value:.0f} %"


def growth(row):
    """Resident memory after loading, after a run, and at its peak, in MiB more than before loading."""
    if "failed" in row or "rss_before_kb" not in row:
        return "-"
    return " / ".join(number((row[k] - row["rss_before_kb"]) / 1024) for k in ("rss_load_kb", "rss_run_kb", "peak_kb"))


def latency(results):
    names = list(results["models"][0]["contenders"])
    head = ["model", "threads", *(f"{SHORT[n]} min / median" for n in names), "ratio min", "ratio median",
            "pairs least / median", *(f"share {SHORT[n]}" for n in names)]
    rows = []
    for r in results["models"]:
        ratio = r.get("ratio", {})
        pairs = f"{ratio['pairs_min']:.2f} / {ratio['pairs_median']:.2f}" if ratio else "-"
        rows.append([r["model"], str(r["threads"]), *(both(r["contenders"][n]) for n in names),
                     *(f"{ratio[k]:.2f}" if ratio else "-" for k in ("min", "median")), pairs,
                     *(percent(r["contenders"][n].get("share")) for n in names)])
    return table(head, rows)


def costs(results):
    names = list(results["models"][0]["contenders"])
    least = min(r["threads"] for r in results["models"])
    head = ["model", *(f"{SHORT[n]} {what}" for what in ("load ms", "first run ms", "memory MiB", "allocations")
                       for n in names)]
    rows = []
    for r in results["models"]:
        if r["threads"] != least:
            continue
        of = [r["contenders"][n] for n in names]
        counted = [o.get("allocations", -1) for o in of]
        rows.append([r["model"], *(number(o.get("load_min_ms")) for o in of),
                     *(number(o["first_us"] / 1e3 if "first_us" in o else None) for o in of), *(growth(o) for o in of),
                     *(number(c) if c >= 0 else "-" for c in counted)])
    return table(head, rows)


def creation(results):
    rows = [[g["graph"], *(number(min(g[c])) if g.get(c) else "-" for c in ("cameo", "onnxruntime"))]
            for g in results["graphs"]]
    return table(["graph", "cameo ms", "ORT ms"], rows)


def peaks(results):
    """The measured peaks of the largest model, for each number of threads. Shares are relative to peaks."""
    largest = {}
    for r in results["models"]:
        if "peak" in r and r["work"]["bytes"] > largest.get(r["threads"], (0,))[0]:
            largest[r["threads"]] = (r["work"]["bytes"], r["peak"])
    return "; ".join(
        f"{t} thread{'s' * (t > 1)}: {p['flops'] / 1e9:.0f} GFLOP/s ({p['target']}), "
        f"{p['bytes_per_second'] / 1e9:.1f} GB/s over {size / 1e6:.0f} MB" for t, (size, p) in sorted(largest.items()))


def units(results):
    """The processor's flags and its peak rates of multiply-adds."""
    threads, best = results["unit_threads"], results["unit_peak"]
    lines = [f"Flags: {' '.join(results['flags'])}.",
             table(["type", "instructions", f"G operations/s, {threads} thread{'s' * (threads > 1)}"],
                   [["float32", best["target"], number(best["flops"] / 1e9)],
                    *([u["type"], f"{u['flag']}: {u['instruction']}", number(u["operations"] / 1e9)]
                      for u in results["units"])]),
             f"Reading 268 MB: {number(best['bytes_per_second'] / 1e9)} GB/s."]
    return "\n\n".join(lines)


def not_run(results):
    """The measurements that are missing, and the reasons; equal reasons for several numbers of threads once."""
    seen = {}
    for model, threads, contender, why in results["not_run"]:
        seen.setdefault((model, contender, why), []).append(threads)
    return table(["not run", "by", "because"],
                 [[model, SHORT.get(contender, contender), why.replace("|", "\\|")] for model, contender, why in seen])


def brief(results):
    """For each model and number of threads: the minimum times, and cameo's times divided by the better peer's."""
    names = list(results["models"][0]["contenders"])
    head = ["model", "threads", *(f"{SHORT[n]} us" for n in names), "to the better peer: least", "median"]
    rows = []
    for r in results["models"]:
        ratio = r.get("ratio", {})
        rows.append([r["model"], str(r["threads"]), *(number(r["contenders"][n].get("min_us")) for n in names),
                     *(f"{ratio[k]:.2f}" if ratio else "-" for k in ("min", "median"))])
    return table(head, rows)


def markdown(results):
    versions = [next(w for w in v if w.startswith(p)) for p, v in results["versions"].items()]
    parts = [f"{results['date']}, {results['processor']}, {results['processors']} processors; {results['rounds']} "
             f"rounds of {results['seconds']:g} s; {', '.join(versions)}."]
    if "flags" in results:
        parts += [units(results)]
    if results["models"]:
        parts += [f"Measured peak, {peaks(results)}.", "Latency in microseconds:", latency(results),
                  "Loading (least), first run, growth of resident memory (loaded / run / most), allocations a run:",
                  costs(results)]
    if results["graphs"]:
        parts += ["Session creation of large graphs:", creation(results)]
    if results.get("not_run"):
        parts += [not_run(results)]
    return "\n\n".join(parts)


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        loaded = json.load(file)
    print(brief(loaded) if "--brief" in sys.argv else markdown(loaded))
