#!/usr/bin/env python3
"""Checks the includes of the tree against the order of its layers: an include points only upwards in the table below.
Also checks rules about third-party and system headers, messages, and names of providers and operators.

Usage: layers.py ROOT          prints one line per offense, exit status 1 if there is one
       layers.py --self-test   offends in a scratch tree, once per rule, and checks that each offense is reported
"""
import os
import pathlib
import re
import sys
import tempfile

# The layers that each layer may include directly. It may also include the layers that those may include.
MAY_INCLUDE = {
    "core": [],
    "os": ["core"],
    "geometry": ["core"],  # the requirements of operators on shapes
    "op": ["geometry"],
    "kernel": ["op"],
    "plan": ["kernel"],
    "run": ["plan"],
    "file": ["os"],
    "graph": ["op", "file"],
    "transform": ["graph"],
    "partition": ["transform", "plan"],
    "ep": ["run", "partition"],
    "format": ["graph", "plan"],
    "minimal": ["run", "format"],
    "context": ["ep", "format"],
    "package": ["file"],
    "session": ["context", "package", "ep", "format", "run"],
    "ort_abi": ["core"],  # the binary interface of ONNX Runtime's plugins, which eps/ort_plugin_host uses, too
    "ort_plugin_export": ["session", "ort_abi"],
    "build": ["session"],  # the runtime of the providers that were built in
    "inspect": ["session"],  # what a model contains, and the page that shows it
    # The front ends. None of them includes another.
    "c": ["build"],
    "python": ["build", "inspect"],
    "triton": ["build"],
    "program": ["build", "inspect"],
    "interop": ["session"],  # conversions to types of other libraries: for users, never included by another layer
}
# The modules of a provider's sources, eps/NAME/src/MODULE, and the modules that each may include directly, as above.
# Files directly in src are the provider itself: they may include all modules, and no module includes them. A public
# header belongs to the module of the source with its name; a header without a source counts as the headers that it
# includes.
MODULES = {
    "cpu": {
        "machine": [],  # instruction sets, caches, threads
        "operands": [],  # inputs, outputs and attributes of nodes
        "functions": ["machine"],  # functions of numbers, vectors and rows
        "skeletons": ["functions", "operands"],  # loops over elements, each for all functions of a kind
        "microkernels": ["skeletons"],  # inner loops of products and windows, for each instruction set
        "products": ["microkernels"],  # matrix products, for each kind of numbers
        "windows": ["operands"],  # windows of convolutions and pools over an image
        # Families of operators.
        "attention": ["products"],
        "convolution": ["products", "windows"],
        "elementwise": ["skeletons"],
        "flow": ["movement"],
        "generate": ["skeletons"],
        "image": ["skeletons"],
        "layout": ["skeletons"],
        "matrix": ["products"],
        "ml": ["elementwise"],
        "movement": ["skeletons"],
        "normalize": ["skeletons"],
        "quantized": ["products", "windows", "elementwise"],
        "recurrent": ["products"],
        "reduce": ["skeletons"],
        "search": ["flow"],
        "signal": ["skeletons"],
        "text": ["skeletons"],
        "training": ["skeletons"],
    },
}
# Third-party headers by library, with the layers whose sources may include them.
THIRD_PARTY = {
    "fmt/": {"file", "graph", "transform", "partition", "ep", "format", "context", "package", "session", "op", "ort_plugin_export", "inspect", "program", "c", "python", "triton"},
    "range/v3/": {"file", "graph", "transform", "partition", "ep", "format", "context", "package", "session", "op", "program"},
    "google/protobuf/": {"format"},
    "onnx/": {"format"},
    "flatbuffers/": {"format"},
    "nlohmann/": {"context", "package", "session", "inspect", "program", "ep", "triton"},
    "CLI/": {"program"},
    "nanobind/": {"python"},
    "numpy/": {"python"},
}
# Headers of operating systems. Only the sources of src/os/<system> include them.
SYSTEM_HEADER = re.compile(
    r"(?:sys|linux|asm|asm-generic|arpa|net|netinet|netpacket|mach|mach-o|libkern)/.*|csignal|"
    r"(?:aio|cpio|dirent|dlfcn|elf|err|error|execinfo|fcntl|fmtmsg|fnmatch|ftw|getopt|glob|grp|iconv|ifaddrs|langinfo|"
    r"libgen|link|malloc|monetary|mqueue|ndbm|netdb|nl_types|paths|poll|pthread|pty|pwd|regex|resolv|sched|search|"
    r"semaphore|shadow|signal|spawn|strings|stropts|syscall|sysexits|syslog|tar|termio|termios|trace|ucontext|ulimit|"
    r"unistd|utime|utmp|utmpx|wait|wordexp|direct|fileapi|handleapi|io|process|psapi|windows|winsock2|winternl)\.h")
# Paths in string literals, and macros, that are specific to a system. core/abi.hpp needs the macros to export symbols.
SYSTEM_WORD = re.compile(r'"/(?:proc|sys)/|\b(?:__linux__|__unix__|_WIN32|__APPLE__)\b')
# Third-party headers that public headers of interop may include. No other public header includes third-party headers.
INTEROP = ("Eigen/", "xtensor/", "fmt/")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
PROVIDER_NAME = re.compile(r'"[A-Za-z]+ExecutionProvider"|\beps::\w+')
MESSAGE = re.compile(r'static_assert\((?:[^"]|"(?:[^"\\]|\\.)*")*?\);', re.DOTALL)
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
PRINTS = re.compile(r"\bfmt::print\b|\bf?printf\b|\bf?puts\b|\bstd::(?:cout|cerr|clog)\b")
INSTRUCTION_SET = re.compile(r"\bHWY_TARGET\s*[=!<>]")
ELEMENT_CASE = re.compile(r"\bcase dtype::\w+:[^;\n]*<\w")
# An attribute of a node, read by its name, with or without arguments before the name.
ATTRIBUTE_NAME = re.compile(
    r'\b(?:(?:int|float|string|ints|floats|strings)_or|subgraph|(?:find|read)_attribute|(?:c|context)\.find)\s*\((?:[^"();]*,)?\s*"')
WHERE = re.compile(r'\.in\((?:[^()"]|\([^()]*\))*"[^"]*: ?"[^;]*\);')
OPERATOR_NAME = re.compile(r"\bop::(?:\w+::)*[A-Z]\w*")


def system_headers(relative, text):
    """The headers of the operating system that a file includes, except those of src/os/<system>."""
    is_of_system = relative.parts[:2] == ("src", "os") and len(relative.parts) > 3
    return [] if is_of_system else [name for _, name in INCLUDE.findall(text) if SYSTEM_HEADER.fullmatch(name)]


def system_offenses(relative, text):
    """The uses of the operating system in a file outside of src/os."""
    for name in system_headers(relative, text):
        yield f"{relative}: includes {name}: only src/os/<system> includes headers of the operating system"
    if relative.parts[:2] != ("src", "os") and relative.parts != ("include", "cameo", "core", "abi.hpp"):
        for match in SYSTEM_WORD.findall(COMMENT.sub("", text)):
            yield f"{relative}: {match}: only src/os depends on the operating system"


def closure(layer, table):
    reached, todo = {layer}, [layer]
    while todo:
        for above in table[todo.pop()]:
            if above not in reached:
                reached.add(above)
                todo.append(above)
    return reached


REACH = {layer: closure(layer, MAY_INCLUDE) for layer in MAY_INCLUDE}
MODULES_REACH = {name: {module: closure(module, table) for module in table} for name, table in MODULES.items()}


def is_standard(name):
    """True for a standard header such as <vector>: it has no folder and no extension."""
    return re.fullmatch(r"[a-z_]+", name) is not None


def layer_of_include(name):
    parts = name.split("/")
    if parts[0] == "cameo" and len(parts) > 2:
        return parts[1]
    return "cameo" if name == "cameo/cameo.hpp" else None


def layer_of_quoted(name, relative):
    """The layer of an include in quotes in a file of src/. Its path is relative to src/ or to the file."""
    parts = pathlib.PurePosixPath(os.path.normpath(relative.parent / name)).parts if name.startswith(".") else None
    inner = parts[1:] if parts and parts[0] == "src" else pathlib.PurePosixPath(name).parts
    return inner[0] if len(inner) > 1 and inner[0] in MAY_INCLUDE else None


def third_party_offense(layer, name):
    for prefix, layers in THIRD_PARTY.items():
        if name.startswith(prefix) and layer not in layers:
            return f"{prefix.rstrip('/')} may not be included in layer {layer}"
    return None


def check_layer_file(layer, public, name, quote, relative):
    """The offense of one include in a file of include/ or src/; None if there is none."""
    other = layer_of_include(name)
    if quote == '"' and not public:
        other = other or layer_of_quoted(name, relative)
    if other == "eps" or name.startswith("eps/") or "/eps/" in name:
        return "nothing in include/ or src/ includes a provider"
    if other == "interop" and layer != "interop":
        return "cameo/interop is for users, not for layers"
    if other == "cameo":
        return "cameo/cameo.hpp is for users, not for layers"
    if not public and layer == "session" and name.startswith("cameo/transform/rules/"):
        return "rules are listed in a runtime's type, and have their conditions (transform_condition); no session names one"
    if quote == '"' and layer != "os" and re.match(r"os/\w+/", name):
        return "src/os/<system> is for src/os"
    if other is not None:
        if layer == "cameo" or other in REACH.get(layer, ()):
            return None
        return f"layer {layer} may not include layer {other}"
    if public and quote == '"':
        return "a public header includes as <cameo/layer/file.hpp>"
    if layer == "interop" and name.startswith(INTEROP):
        return None
    if public and not is_standard(name):
        return "a public header includes no third-party header"
    if name.startswith(("google/protobuf/", "onnx/")) and layer == "format" and not relative.name.startswith("onnx_writ"):
        return "only the writers of .onnx files include it, so that readers are linked without it"
    return None if quote == '"' else third_party_offense(layer, name)


def check_provider_file(provider, public, name, quote):
    """The offense of one include in a file of eps/<provider>/; None if there is none."""
    match = re.search(r"(?:^|/)eps/(\w+)", name)
    if match:
        other = match.group(1)
        return None if other == provider else f"provider {provider} includes provider {other}"
    if layer_of_include(name) == "interop":
        return "cameo/interop is for users, not for providers"
    layer = pathlib.PurePosixPath(name).parts[0]
    if quote == '"' and "/" in name and layer in MAY_INCLUDE and (public or layer != "os"):
        return "the sources of a provider include no headers of src/ but those of src/os"
    if public and quote == "<" and not name.startswith("cameo/") and not is_standard(name):
        return "a public header includes no third-party header"
    return None


def module_includes(root):
    """The includes between the modules of providers in MODULES: provider, file, included name, and both modules. The
    module of files that are in no module is None."""
    for provider in sorted(MODULES):
        source, public = root / "eps" / provider / "src", root / "eps" / provider / "include"
        files = sorted(p for top in (source, public) for p in top.rglob("*") if p.suffix in (".hpp", ".cpp"))
        inside = {p: p.relative_to(source).parts for p in files if source in p.parents}
        named = {p.name.split(".")[0]: parts[0] for p, parts in inside.items() if p.suffix == ".cpp" and len(parts) > 1}
        includes = {p: INCLUDE.findall(p.read_text(encoding="utf-8")) for p in files}

        def found(path, quote, name):
            places = [path.parent, source] if quote == '"' else [public]
            return next((each for place in places if (each := pathlib.Path(os.path.normpath(place / name))) in includes), None)

        def modules_of(path):
            parts = inside.get(path)
            if parts:
                return {parts[0] if len(parts) > 1 else None}
            if path.parent == public / "cameo/eps":  # the provider's own header
                return {None}
            if path.stem in named:
                return {named[path.stem]}
            below = [found(path, *each) for each in includes[path]]
            return {module for each in below if each for module in modules_of(each)}

        for path in files:
            own = modules_of(path)
            if path not in inside and path.stem not in named:
                continue
            for each in includes[path]:
                other = found(path, *each)
                for module in modules_of(other) if other else ():
                    yield provider, path.relative_to(root), each[1], next(iter(own)), module


def module_offenses(root):
    for provider, table in MODULES_REACH.items():
        for module, reached in table.items():
            for other in sorted(reached - {module}):
                if module in table[other]:
                    yield f"MODULES: {provider}: modules {module} and {other} form a circle"
    for provider, relative, name, module, other in module_includes(root):
        reach = MODULES_REACH[provider]
        if module is not None and module not in reach:
            yield f"{relative}: '{module}' is not a module of provider {provider}"
        elif module is not None and other not in reach[module]:
            yield f"{relative}: includes {name}: module {module} may not include " + (f"module {other}" if other else "the provider")


TRANSFORMS = re.compile(r"transform_list<([^;{}]*?)>(?:::table|;)")
SHARE_OF_VALUES = 0.6


def transforms(root):
    """The number of transforms in the lists of src/, and how many of them are rules, which are values."""
    listed = [each.strip() for path in sorted((root / "src" / "transform").rglob("*.cpp"))
              for match in TRANSFORMS.findall(path.read_text(encoding="utf-8")) for each in match.split(",")[1:]]
    return len(listed), sum(each.startswith("rule_of<") for each in listed)


# Constructs that providers should use less: pattern, files, the largest permitted count, and the replacement. The
# counts may only be lowered.
COUNTS = [
    (re.compile(r"\bbad_(?:input|attribute)\((?!const)|\brefuse\("), "src/**/*.?pp", 120,
     "rules of the operator's row (op_version::shapes, attribute_rule::values), or checks of kernel/check_values.hpp"),
    (re.compile(r"\berased_entry<"), "src/**/*.?pp", 17, "rows of a skeleton, or of `computes` and `moves`"),
    (re.compile(r"\bany_types\b|\btakes_any<"), "src/**/*.?pp", 38, "the types that the kernel computes with"),
    (re.compile(r"\b(?:read_floats|write_floats|as_numbers)<"), "src/**/*.cpp", 0, "narrow floats widened row by row"),
]


def counts(root):
    """For each provider and row of COUNTS: file pattern, construct, count, largest permitted count, replacement."""
    for provider in sorted(p for p in (root / "eps").glob("*") if p.is_dir()):
        for what, files, most, wanted in COUNTS:
            found = sum(len(what.findall(path.read_text(encoding="utf-8"))) for path in provider.glob(files))
            yield f"{provider.relative_to(root)}/{files}", what.pattern, found, most, wanted


def offenses(root):
    total, values = transforms(root)
    for files, what, found, most, wanted in counts(root):
        if found > most:
            yield f"{files}: {found} times {what}, where {most} are the most: {wanted} are wanted"
    if values < SHARE_OF_VALUES * total:
        yield f"src/transform: {values} of {total} transforms are values, where {SHARE_OF_VALUES:.0%} are wanted"
    for path in sorted(p for top in ("include", "src") for p in (root / top).rglob("*") if p.suffix in (".hpp", ".cpp")):
        relative = path.relative_to(root)
        public = relative.parts[0] == "include"
        inner = relative.parts[2:] if public else relative.parts[1:]
        layer = inner[0] if len(inner) > 1 else "cameo"
        if layer != "cameo" and layer not in MAY_INCLUDE:
            yield f"{relative}: '{layer}' is not a layer"
            continue
        text = path.read_text(encoding="utf-8")
        yield from system_offenses(relative, text)
        for quote, name in INCLUDE.findall(text):
            offense = check_layer_file(layer, public, name, quote, relative)
            if offense:
                yield f"{relative}: includes {name}: {offense}"
        if layer != "program":
            yield from naming_offenses(relative, layer, text)
        elif relative.name != "say.hpp":
            for match in PRINTS.findall(COMMENT.sub("", text)):
                yield f"{relative}: prints by {match}: names may control the terminal; say() escapes them"
    for path in sorted(p for p in (root / "eps").rglob("*") if p.suffix in (".hpp", ".cpp")):
        relative = path.relative_to(root)
        text = path.read_text(encoding="utf-8")
        if relative.parts[2] != "tests":
            yield from system_offenses(relative, text)
        if len(relative.parts) < 4 or relative.parts[2] not in ("include", "src"):
            continue
        yield from kernel_offenses(relative, text)
        for quote, name in INCLUDE.findall(text):
            offense = check_provider_file(relative.parts[1], relative.parts[2] == "include", name, quote)
            if offense:
                yield f"{relative}: includes {name}: {offense}"


    yield from module_offenses(root)


def kernel_offenses(relative, text):
    """Code of a provider that would have to change for a new instruction set or element type; one file handles each."""
    code = COMMENT.sub("", text)
    if relative.name != "simd.hpp" and INSTRUCTION_SET.search(code):
        yield f"{relative}: compares HWY_TARGET: properties of an instruction set are macros in machine/simd.hpp"
    if ELEMENT_CASE.search(code):
        yield f"{relative}: instantiates a template in cases of element types: visit a set of them (core/elements.hpp)"
    for match in ATTRIBUTE_NAME.findall(code):
        yield f"{relative}: reads an attribute by its name, {match.strip()}...: use a member of attributes_of<Op> (op/attributes)"


def naming_offenses(relative, layer, text):
    code = COMMENT.sub("", text)
    for match in WHERE.findall(code):
        yield f"{relative}: {match}: basic_status::in() writes the colon"
    code = MESSAGE.sub(lambda found: STRING.sub('""', found.group()), code)  # static_assert may have examples
    for match in PROVIDER_NAME.findall(code):
        yield f"{relative}: names a provider: {match}"
    # Rules name operators. The language of rules, and the code that applies them, must not.
    if layer != "op" and not (layer == "transform" and "rules" in relative.parts):
        for match in OPERATOR_NAME.findall(code):
            yield f"{relative}: names an operator: {match}"


SELF_TEST = [  # file, its text, other files, if any, words of the offense (None: the file is fine)
    ("eps/one/src/kernel_table.cpp", "erased_entry<op::A, any_types>,\n" * 18, "17 are the most"),
    ("eps/one/src/kernel_table.cpp", "erased_entry<op::A, any_types>,\n" * 17, None),
    ("include/cameo/core/a.hpp", "#include <vector>\n", None),
    ("include/cameo/plan/a.hpp", "#include <cameo/core/a.hpp>\n", None),
    ("include/cameo/plan/b.hpp", "#include <cameo/kernel/a.hpp>  // op::Relu, \"CPUExecutionProvider\"\n", None),
    ("include/cameo/core/b.hpp", "#include <cameo/op/a.hpp>\n", "may not include layer op"),
    ("include/cameo/graph/a.hpp", "#include <cameo/plan/a.hpp>\n", "may not include layer plan"),
    ("include/cameo/session/a.hpp", "#include <cameo/format/a.hpp>\n", None),
    ("include/cameo/graph/c.hpp", "#include <fmt/format.h>\n", "third-party"),
    ("include/cameo/graph/d.hpp", '#include "other.hpp"\n', "includes as <cameo"),
    ("include/cameo/cameo.hpp", "#include <cameo/session/a.hpp>\n", None),
    ("include/cameo/cameo.hpp", "#include <cameo/interop/a.hpp>\n", "for users"),
    ("include/cameo/session/b.hpp", "#include <cameo/interop/a.hpp>\n", "for users"),
    ("include/cameo/interop/a.hpp", "#include <cameo/core/a.hpp>\n#include <xtensor/xadapt.hpp>\n", None),
    ("include/cameo/interop/b.hpp", "#include <cameo/session/a.hpp>\n", None),
    ("include/cameo/interop/d.hpp", "#include <cameo/program/a.hpp>\n", "may not include layer program"),
    ("include/cameo/interop/c.hpp", "#include <opencv2/core.hpp>\n", "third-party"),
    ("src/run/a.cpp", "#include <cameo/cameo.hpp>\n", "for users"),
    ("src/session/a.cpp", "#include <cameo/eps/cpu.hpp>\n", "includes a provider"),
    ("src/program/a.cpp", "#include <cameo/eps/cpu.hpp>\n", "includes a provider"),
    ("src/c/a.cpp", '#include "build/a.hpp"\n', None),
    ("src/c/b.cpp", '#include "program/a.hpp"\n', "may not include layer program"),
    ("src/python/a.cpp", '#include "inspect/a.hpp"\n', None),
    ("src/python/b.cpp", '#include "program/a.hpp"\n', "may not include layer program"),
    ("src/triton/a.cpp", '#include "python/a.hpp"\n', "may not include layer python"),
    ("src/inspect/a.cpp", '#include "build/a.hpp"\n', "may not include layer build"),
    ("src/program/b.cpp", 'void f() { fmt::print("{}", name); }\n', "names may control the terminal"),
    ("src/program/c.cpp", 'void f() { say("{}", name); }  // no printf\n', None),
    ("src/run/b.cpp", "#include <fmt/format.h>\n", "may not be included"),
    ("src/run/c.cpp", '#include "session/a.hpp"\n', "may not include layer session"),
    ("src/run/d.cpp", '#include "../session/a.hpp"\n', "may not include layer session"),
    ("src/run/e.cpp", '#include "own.hpp"\n#include "plan/a.hpp"\n#include "../core/a.hpp"\n', None),
    ("src/graph/a.cpp", "#include <google/protobuf/message.h>\n", "may not be included"),
    ("src/format/a.cpp", "#include <google/protobuf/message.h>\n", "only the writers of .onnx files"),
    ("src/format/onnx_writer.cpp", "#include <google/protobuf/message.h>\n", None),
    ("src/session/b.cpp", "#include <cameo/transform/rules/standard.hpp>\n", "have their conditions"),
    ("src/transform/rules/a.cpp", "#include <cameo/transform/rules/standard.hpp>\n", None),
    ("src/plan/c.cpp", "bool f() { return id == op::Loop::id; }\n", "names an operator"),
    ("src/op/c.cpp", "bool f() { return id == op::Loop::id; }\n", None),
    ("src/partition/c.cpp", 'auto f = "CPUExecutionProvider";\n', "names a provider"),
    ("src/partition/d.cpp", 'static_assert(last, "such as cameo::eps::cpu");\n', None),
    ("src/partition/e.cpp", 'static_assert(std::is_same_v<T, eps::cpu>, "no");\n', "names a provider"),
    ("src/transform/rules/a.cpp", "auto& t = transform_list<optimization_level::basic, rule_of<a>, b>::table();\n",
     "1 of 2 transforms are values"),
    ("src/transform/rules/b.cpp", "auto& t = transform_list<optimization_level::basic, rule_of<a>>::table();\n", None),
    ("src/file/a.cpp", 'return std::move(bad).in(path + ": ");\n', "writes the colon"),
    ("src/file/b.cpp", 'return std::move(bad).in(fmt::format("{}", path));\n', None),
    ("src/novel/a.cpp", "\n", "is not a layer"),
    ("eps/one/include/cameo/eps/one.hpp", "#include <cameo/ep/provider.hpp>\n#include <cameo/eps/one/x.hpp>\n", None),
    ("eps/one/include/cameo/eps/two.hpp", "#include <Eigen/Dense>\n", "third-party"),
    ("eps/one/src/a.cpp", "#include <Eigen/Dense>\n", None),
    ("eps/one/src/c.cpp", "#include <cameo/interop/eigen.hpp>\n", "for users"),
    ("eps/one/src/b.cpp", "#include <cameo/eps/cpu.hpp>\n", "includes provider cpu"),
    ("eps/cpu/src/products/a.cpp", '#include "b.hpp"\n#include "machine/a.hpp"\n',
     {"eps/cpu/src/products/b.hpp": "", "eps/cpu/src/machine/a.hpp": ""}, None),
    ("eps/cpu/src/machine/a.cpp", '#include "products/b.hpp"\n', {"eps/cpu/src/products/b.hpp": ""},
     "module machine may not include module products"),
    ("eps/cpu/src/machine/b.cpp", '#include "../products/b.hpp"\n', {"eps/cpu/src/products/b.hpp": ""},
     "module machine may not include module products"),
    ("eps/cpu/src/text/a.cpp", '#include "table.hpp"\n', {"eps/cpu/src/table.hpp": ""}, "may not include the provider"),
    ("eps/cpu/src/table.cpp", '#include "text/a.hpp"\n', {"eps/cpu/src/text/a.hpp": ""}, None),
    ("eps/cpu/src/unknown/a.cpp", '#include "b.hpp"\n', {"eps/cpu/src/unknown/b.hpp": ""}, "is not a module"),
    ("eps/cpu/src/machine/c.cpp", "#include <cameo/eps/cpu/conv.hpp>\n",
     {"eps/cpu/include/cameo/eps/cpu/conv.hpp": "", "eps/cpu/src/convolution/conv.simd.cpp": ""}, "module machine may not include module convolution"),
    ("eps/cpu/src/machine/d.cpp", "#include <cameo/eps/cpu/shape.hpp>\n",
     {"eps/cpu/include/cameo/eps/cpu/conv.hpp": "", "eps/cpu/src/convolution/conv.cpp": "",
      "eps/cpu/include/cameo/eps/cpu/shape.hpp": "#include <cameo/eps/cpu/conv.hpp>\n"}, "module machine may not include module convolution"),
    ("eps/cpu/include/cameo/eps/cpu/a.hpp", "#include <cameo/eps/cpu/conv.hpp>\n",
     {"eps/cpu/src/machine/a.cpp": "", "eps/cpu/include/cameo/eps/cpu/conv.hpp": "", "eps/cpu/src/convolution/conv.cpp": ""},
     "module machine may not include module convolution"),
    ("eps/one/src/g.cpp", '#include "os/files.hpp"\n', None),
    ("eps/one/src/h.cpp", '#include "file/held_folder.hpp"\n', "no headers of src/ but those of src/os"),
    ("eps/one/src/i.cpp", "#include <dlfcn.h>\n", "only src/os/<system> includes"),
    ("eps/one/shim/a.cpp", "#include <unistd.h>\n", "only src/os/<system> includes"),
    ("eps/one/tests/a.cpp", "#include <unistd.h>\n", None),
    ("src/file/c.cpp", "#include <fcntl.h>\n", "only src/os/<system> includes"),
    ("src/file/d.cpp", "#include <sys/stat.h>\n", "only src/os/<system> includes"),
    ("src/file/e.cpp", '#include "os/linux/native.hpp"\n', "src/os/<system> is for src/os"),
    ("src/os/files.hpp", "#include <sys/stat.h>\n", "only src/os/<system> includes"),
    ("src/os/linux/files.cpp", '#include <sys/stat.h>\n#include "native.hpp"\n#include "os/files.hpp"\n', None),
    ("src/os/linux/a.cpp", '#include "file/held_folder.hpp"\n', "may not include layer file"),
    ("src/core/f.cpp", '#include "os/files.hpp"\n', "may not include layer os"),
    ("src/file/f.cpp", 'auto f = open("/proc/self/status");  // not "/sys/fs"\n', "only src/os depends on"),
    ("src/file/g.cpp", "#ifdef _WIN32\n#endif\n", "only src/os depends on"),
    ("include/cameo/core/abi.hpp", "#ifdef _WIN32\n#endif\n", None),
    ("eps/one/src/d.cpp", "#if HWY_TARGET == HWY_AVX3\n#endif\n", "compares HWY_TARGET"),
    ("eps/one/src/detail/simd.hpp", "#define WIDE (HWY_TARGET <= HWY_AVX3)\n", None),
    ("eps/one/src/e.cpp", "switch (t) {\n case dtype::f32: return row<float>;\n}\n", "visit a set of them"),
    ("eps/one/src/j.cpp", 'auto axis = c.int_or("axis", 0);\n', "reads an attribute by its name"),
    ("eps/one/src/k.cpp", 'auto* axis = detail::find_attribute(c.attributes, "axis");\n', "reads an attribute by its name"),
    ("eps/one/src/l.cpp", 'auto* axis = c.find("axis");\n', "reads an attribute by its name"),
    ("eps/one/src/m.cpp", 'auto a = attributes_of<op::Concat>{c.attributes}.axis;  // c.find("axis")\n', None),
    ("eps/one/src/f.cpp", "switch (t) {\n case dtype::f32: return theirs::F32;\n}\n", None),
]


def self_test():
    failed = 0
    for file, text, *others, words in SELF_TEST:
        with tempfile.TemporaryDirectory() as folder:
            for each, content in {file: text, **(others[0] if others else {})}.items():
                path = pathlib.Path(folder) / each
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content, encoding="utf-8")
            found = list(offenses(pathlib.Path(folder)))
        right = any(words in line for line in found) if words else not found
        if not right:
            failed += 1
            print(f"{file}: expected {words or 'nothing'}, found {found}")
    print(f"{len(SELF_TEST) - failed} passed, {failed} failed")
    return 1 if failed else 0


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--self-test":
        return self_test()
    found = list(offenses(pathlib.Path(sys.argv[1])))
    total, values = transforms(pathlib.Path(sys.argv[1]))
    count = sum(map(len, MODULES.values()))
    print("\n".join(found) if found else
          f"every include points upwards, with 0 circles of {count} modules; {values} of {total} transforms are values")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
