#pragma once
// The resolver of an ORT file: which inputs and outputs each type string of an operator binds, for builds without
// operator schemas. Includes only core, like ort_view.hpp.
#include <cameo/core/arena.hpp>

#include "ort_view.hpp"

namespace CAMEO_NAMESPACE::ort {

/// The parts of "domain:op_type:since_version".
struct op_name {
  std::string_view domain, op_type;
  std::int64_t since = 0;
};
/// Parses the text that identifies an operator's version in an ORT file. FAIL unless it has exactly three parts, the
/// last of which is a number.
result<op_name> parse_op_name(std::string_view text);

/// Checks every entry of a verified KernelTypeStrResolver: op ids and type strings are unique, and every list is
/// present. FAIL with the entry; OUT_OF_MEMORY when `scratch` is full.
status check_resolver(const table_view& resolver, arena& scratch);

/// An order of tables by the contents of a slot.
using table_less = bool(const table_view&, const table_view&, std::size_t slot);
table_less text_less, number_less;
/// The indices of the tables in this order. OUT_OF_MEMORY when `memory` is full.
result<std::span<std::uint32_t>> sorted(const vector_view& tables, std::size_t slot, arena& memory, table_less*);

/// True if no two tables of the vector have the same text in this slot; otherwise `i` and `j` are two that do. The
/// tables need not be sorted. OUT_OF_MEMORY when `scratch` is full.
result<bool> all_differ(const vector_view& tables, std::size_t slot, arena& scratch, std::size_t& i, std::size_t& j);

}  // namespace CAMEO_NAMESPACE::ort
