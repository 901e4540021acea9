#pragma once
#include <cameo/plan/draft.hpp>

namespace CAMEO_NAMESPACE {

/// The checks of read_ort_draft(), and the code for what only files of other programs contain: nodes that are not in
/// order of execution, sparse initializers, operator versions that are not in the kernel lists. A program that does not
/// refer to an object of this type contains none of that code.
struct ort_draft_checks;
/// All checks, for files from any source.
extern CAMEO_API const ort_draft_checks all_ort_draft_checks;

/// Reads a model in ONNX Runtime's format, versions 5 and 6, directly into a draft: without graph, schemas and heap.
/// Every node gets the first of the `providers` (at most 255) with a kernel for it, as draft_node::provider, and that
/// kernel's row. Only operators in the providers' lists are known. For operator versions that are not in the lists, the
/// kernel type resolver in the file maps type strings to parameters.
///
/// Names, texts and the data of constants stay in `file`, which may be at any address and must outlive all that is made
/// from the draft; the rest is in `memory`. Initializers that are inputs of the main graph are constants: they cannot
/// be overridden. Saved optimizations are ignored; the graph is complete without them. Nothing in the file is trusted:
///   FAIL              not an ORT file, or a damaged one; a version that is too old (the message says how to upgrade)
///                     or too new; a missing or invalid table, name or index
///   INVALID_GRAPH     names defined twice or not at all, a cycle, nodes that are illegal for their operators
///   INVALID_ARGUMENT  an unknown element type; dims that are negative or too large
///   NOT_IMPLEMENTED   an operator, version or type without a kernel in the lists
///   OUT_OF_MEMORY     `memory` is full
/// Without `checks` (null) the file is trusted like the program's own code: it must be a file that passes them, of
/// version 6, as cameo writes it. Any other file is undefined behavior.
CAMEO_API result<draft*> read_ort_draft(std::span<const std::byte> file,
                                        std::span<const detail::kernel_table* const> providers, arena& memory,
                                        const ort_draft_checks* checks = &all_ort_draft_checks);

/// Does all checks of all_ort_draft_checks and applies the file's saved optimizations (see graph::saved_optimizations):
/// the nodes of a record are replaced by the node that it describes before kernels are matched, so the lists need no
/// kernels for them. A record is skipped if an earlier record replaced its nodes, or if they are not connected as it
/// states; records of optimizers that cameo does not have, and records without an operator, are skipped, too. The
/// program that wrote the file is responsible for numbers: it is not checked, for example, that scales belong to the
/// axis that a new node uses.
///   FAIL  besides the errors of read_ort_draft(): a malformed record, one with a node outside the graph, with an
///         action that its optimizer does not have, or with an operator that the action does not make; an optimizer
///         that is listed twice
extern CAMEO_API const ort_draft_checks replaying_ort_draft_checks;
/// Applies the saved optimizations and trusts everything else in the file, like read_ort_draft() without checks.
/// Records are still checked against their nodes. Sparse initializers are NOT_IMPLEMENTED.
extern CAMEO_API const ort_draft_checks replaying_trusted_ort_draft;

}  // namespace CAMEO_NAMESPACE
