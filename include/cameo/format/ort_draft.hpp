#pragma once
#include <cameo/plan/draft.hpp>

namespace cameo::inline CAMEO_ABI {

/// What read_ort_draft checks, and the ways to read what only files of others have: nodes in another order than they
/// run in, sparse initializers, versions of operators that the lists don't know. A program that names it nowhere has
/// none of that in it.
struct ort_draft_checks;
/// For files from anywhere.
extern CAMEO_API const ort_draft_checks all_ort_draft_checks;

/// Reads a model in ONNX Runtime's format, versions 5 and 6, straight into a draft: no graph, no schemas, no heap.
/// Every node gets the first of the `providers` (at most 255) with a kernel for it, as draft_node::provider, and that
/// kernel's row; operators are known from the providers' lists alone. For a version of an operator that the lists don't
/// know, the resolver in the file says what its type strings stand for.
///
/// Names, texts and the data of constants stay in `file`, which may lie at any address and must outlive what is made of
/// the draft; the rest is in `memory`. Initializers that are inputs of the main graph are constants: they can't be
/// overridden. Saved optimizations are left alone, the graph is complete without them. Nothing in the file is trusted:
///   FAIL              no ORT file, or a damaged one; a version that is too old (the words say how to upgrade) or too
///                     new; a table, name or index that is missing or leads nowhere
///   INVALID_GRAPH     names defined twice or not at all, a cycle, nodes that their operators don't allow
///   INVALID_ARGUMENT  an element type that nobody knows; dims that are negative or too large
///   NOT_IMPLEMENTED   an operator, version or type without a kernel in the lists
///   OUT_OF_MEMORY     `memory` is full
/// Without `checks` (null) the file is trusted as the program's code is: it must be one that passes them, of version 6,
/// as cameo writes it; of any other anything may come.
CAMEO_API result<draft*> read_ort_draft(std::span<const std::byte> file, std::span<const kernel_table* const> providers,
                                        arena& memory, const ort_draft_checks* checks = &all_ort_draft_checks);

/// Checks all of that, and does what the file has saved (graph::saved_optimizations says what that is): the nodes of a
/// record become the one that it names, before kernels are looked for, so that the lists need none for the others. A
/// record is passed over if its nodes have gone into an earlier one or are not connected as it says; those of
/// optimizers that cameo does not have, and those that name no operator, stay undone. What the numbers mean is for who
/// wrote the file: that scales are of the axis that a new node takes them for, say, is not checked again.
///   FAIL  besides the above: a record that is no record, with a node outside the graph, an action that its optimizer
///         does not have, or another operator than the action makes; an optimizer that is listed twice
extern CAMEO_API const ort_draft_checks replaying_ort_draft_checks;
/// Does what the file has saved, too, and trusts all else in it: see read_ort_draft without checks. Records are held
/// against the nodes that they name nevertheless. Sparse initializers are NOT_IMPLEMENTED.
extern CAMEO_API const ort_draft_checks replaying_trusted_ort_draft;

}  // namespace cameo::inline CAMEO_ABI
