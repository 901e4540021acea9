#pragma once
#include <cameo/core/function_ref.hpp>
#include <cameo/kernel/kernel_list.hpp>

namespace cameo::inline CAMEO_ABI {

/// Why a provider leaves a node alone, in order of how close it came.
enum class refusal : std::uint8_t { none, no_kernel, version, type, declined };

/// What a table of kernels says to a node. `row` runs it, or came closest; words are made only if somebody asks.
struct verdict {
  refusal why = refusal::no_kernel;
  const kernel_row* row = nullptr;
  const kernel_rule* rule = nullptr;  // the first that failed, if `why` is type,
  dtype found = dtype::undefined;     // the type that broke it,
  type_mask accepted = 0;             // the types that would have passed it,
  int obeyed = 0;                     // and how many rules of the row held before it
  explicit operator bool() const { return why == refusal::none; }
};

/// Finds the row that runs a node, or the row that came closest. Knows no operator, no kernel, no provider. A match
/// with a choosy row holds only when its kernel accepts the node (ask `bind`).
CAMEO_API verdict match(const node_signature&, const kernel_table&);

/// Parameters that a type string binds, counted as in kernel_rule.
struct bound_parameters {
  std::uint32_t inputs = 0;
  std::uint16_t outputs = 0;
};
/// What a model's file says of the type strings of one operator in one version. False for a string that it lacks.
/// Strings come as rules have them: cut after nine characters.
using type_string_source = function_ref<bool(std::string_view type_string, bound_parameters&)>;

/// match() for a version that the operator's tag does not know. Rows that hold for the newest version that the tag does
/// know are asked; which values their type strings bind, the file says.
CAMEO_API verdict match(const node_signature&, const kernel_table&, type_string_source);

/// The verdict in words: " has no kernel for it", " does not take T = int64 but float double"; into `line`, cut where
/// that ends.
CAMEO_API std::string_view explain(const verdict&, std::span<char> line);

}  // namespace cameo::inline CAMEO_ABI
