#pragma once
#include <cameo/core/function_ref.hpp>
#include <cameo/kernel/kernel_list.hpp>

namespace CAMEO_NAMESPACE {

/// Why a provider does not take a node, ordered by how close the best row came to a match.
enum class refusal : std::uint8_t { none, no_kernel, version, type, declined };

/// The result of matching a node against a table of kernels. `row` runs the node, or came closest to a match.
struct verdict {
  refusal why = refusal::no_kernel;
  const detail::kernel_row* row = nullptr;
  const detail::kernel_rule* rule = nullptr;  // the first rule that failed, if `why` is type,
  dtype found = dtype::undefined;             // the type that violated it,
  detail::type_mask accepted = 0;             // the types that it would have allowed,
  int obeyed = 0;                             // and the number of the row's rules that held before it
  std::string_view advice = {};               // what the user can do, if `why` is no_kernel because the build leaves
                                              // the kernel out
  explicit operator bool() const { return why == refusal::none; }
};

/// Finds the row that runs a node, or the row that came closest. A match with a choosy row is valid only if its kernel
/// accepts the node (call `bind` with only_check).
CAMEO_API verdict match(const detail::node_signature&, const detail::kernel_table&);

namespace detail {
/// The parameters that a type string binds, counted as in kernel_rule.
struct bound_parameters {
  std::uint32_t inputs = 0;
  std::uint16_t outputs = 0;
};
/// Looks up which parameters a model's file binds to a type string, for one operator in one version. Returns false if
/// the file does not have the type string. Strings are truncated to nine characters, as in rules.
using type_string_source = function_ref<bool(std::string_view type_string, bound_parameters&)>;
}  // namespace detail

/// match() for a version that is missing in the operator's tag. It tries rows for the newest version in the tag, and
/// takes from the file which parameters their type strings bind.
CAMEO_API verdict match(const detail::node_signature&, const detail::kernel_table&, detail::type_string_source);

/// The verdict as a message: " has no kernel for it", " does not take T = int64 but float double". The text is written
/// into `line` and truncated to its size.
CAMEO_API std::string_view explain(const verdict&, std::span<char> line);

}  // namespace CAMEO_NAMESPACE
