#!/usr/bin/env python3
"""Checks that every function which a public header declares and a .cpp file defines is marked CAMEO_API and is in the shared
library, and that the shared library exports nothing else.

Usage: exports.py SOURCE_DIR LIBRARY [--clang clang++-14]     needs PyPI's libclang
"""
import argparse
import pathlib
import re
import subprocess
import sys

from clang import cindex

Kind = cindex.CursorKind
SCOPES = {Kind.NAMESPACE, Kind.STRUCT_DECL, Kind.CLASS_DECL, Kind.UNION_DECL, Kind.LINKAGE_SPEC,
          Kind.UNEXPOSED_DECL}
FUNCTIONS = {Kind.FUNCTION_DECL, Kind.CXX_METHOD, Kind.CONSTRUCTOR, Kind.DESTRUCTOR, Kind.CONVERSION_FUNCTION}


def public_headers(root):
    """The headers that users may include, without those of single kernels, which only static libraries have, and without
    templates over types of other libraries."""
    folders = [root / "include", *sorted((root / "eps").glob("*/include"))]
    for folder in folders:
        for path in sorted([*folder.rglob("*.hpp"), *folder.rglob("*.h")]):
            parts = path.relative_to(folder).parts
            if parts[1] != "interop" and (parts[1] != "eps" or len(parts) == 3):
                yield folder, path


def included_too(root):
    """The headers in a provider's folder that the provider's main header includes."""
    for folder in sorted((root / "eps").glob("*/include")):
        for top in sorted((folder / "cameo" / "eps").glob("*.hpp")):
            for line in top.read_text().splitlines():
                name = line.partition("#include <")[2].rstrip(">")
                if name.startswith(f"cameo/eps/{top.stem}/"):
                    yield folder / name


def without_body(cursor):
    """True for a function that no header defines: it is neither inline, a template, pure, defaulted nor deleted."""
    if cursor.kind == Kind.VAR_DECL:
        is_member = cursor.semantic_parent.kind in (Kind.STRUCT_DECL, Kind.CLASS_DECL)
        return (is_member or cursor.storage_class == cindex.StorageClass.EXTERN) and not cursor.get_definition()
    if cursor.is_pure_virtual_method() or cursor.is_default_method():
        return False
    return cursor.availability != cindex.AvailabilityKind.NOT_AVAILABLE and cursor.get_definition() is None


def marked(cursor):
    return any(child.kind == Kind.VISIBILITY_ATTR for child in cursor.get_children())


def walk(cursor, files, found):
    for child in cursor.get_children():
        file = child.location.file
        if file is None or file.name not in files:
            if child.kind != Kind.NAMESPACE or child.spelling != "cameo":
                continue
        if child.kind in SCOPES:
            walk(child, files, found)
        elif (child.kind in FUNCTIONS or child.kind == Kind.VAR_DECL) and child.canonical == child:
            if without_body(child):
                found.append(child)


def declarations(root, clang):
    headers = [path for _, path in public_headers(root)] + list(included_too(root))
    files = {str(path) for path in headers}
    resources = subprocess.run([clang, "-print-resource-dir"], check=True, capture_output=True, text=True).stdout.strip()
    folders = [root / "include", *sorted((root / "eps").glob("*/include"))]
    text = "".join(f'#include "{path}"\n' for path in headers)
    unit = cindex.Index.create().parse(
        "all.cpp", ["-std=c++20", "-resource-dir", resources, *(f"-I{folder}" for folder in folders)],
        unsaved_files=[("all.cpp", text)])
    wrong = [d for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error]
    if wrong:
        raise SystemExit("\n".join(str(d) for d in wrong))
    found = []
    walk(unit.cursor, files, found)
    return found


def instantiated(root):
    """The functions that a header declares with `extern template`, in c++filt's spelling without ABI namespaces. libclang
    does not report these declarations."""
    for _, path in public_headers(root):
        for line in path.read_text().splitlines():
            if found := re.fullmatch(r"extern template CAMEO_API (.*);", line):
                yield re.sub(r"^const (.*?)&", r"\1 const&", found[1])


def mangled(cursor):
    """The symbols of a function, of which constructors and destructors have several."""
    name = cursor.mangled_name
    if cursor.kind == Kind.CONSTRUCTOR:
        return {name.replace("C1E", "C2E"), name.replace("C2E", "C1E"), name}
    if cursor.kind == Kind.DESTRUCTOR:
        return {name.replace("D1E", f"D{i}E") for i in range(3)} | {name}
    return {name}


def exported(library):
    lines = subprocess.run(["nm", "-D", "--defined-only", "--format=posix", library], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    # Symbols of type A are the names of versions.
    return {line.split()[0].partition("@")[0] for line in lines if line.split()[1] != "A"}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("library")
    parser.add_argument("--clang", default="clang++-14")
    args = parser.parse_args()
    declared, names = declarations(args.source.resolve(), args.clang), exported(args.library)
    offenses, known = 0, set()
    for cursor in declared:
        known |= mangled(cursor)
        where = f"{cursor.location.file.name}:{cursor.location.line}:{cursor.extent.start.column}"
        if not marked(cursor):
            print(f"{where}: not marked CAMEO_API: {cursor.displayname}")
            offenses += 1
        elif not mangled(cursor) & names:
            print(f"{where}: not in {args.library}: {cursor.displayname} ({cursor.mangled_name})")
            offenses += 1
    templates = set(instantiated(args.source.resolve()))
    others = sorted(names - known)
    words = subprocess.run(["c++filt"], input="\n".join(others), capture_output=True, text=True, check=True).stdout
    for text in words.splitlines():
        plain = re.sub(r"cameo::v\d+::", "cameo::", text)
        if plain in templates:
            templates.remove(plain)
            continue
        if text.startswith("cameo::") and text.endswith(">"):
            continue  # a constant template: g++ makes those visible, and they are equal in every program
        print(f"{args.library} exports what no public header declares: {text}")
        offenses += 1
    for text in sorted(templates):
        print(f"not in {args.library}: {text}")
        offenses += 1
    print(f"{len(declared)} functions declared, {len(names)} symbols exported, {offenses} offenses")
    return offenses != 0


if __name__ == "__main__":
    sys.exit(main())
