#pragma once
// The resolver of an ORT file: the inputs and outputs that each type string of an operator binds, for builds without
// operator schemas. Includes only core, as ort_view.hpp.
#include <cameo/core/arena.hpp>

#include "ort_view.hpp"

CAMEO_BEGIN_NAMESPACE
namespace ort {

/// "domain:op_type:since_version", in parts.
struct op_name {
  std::string_view domain, op_type;
  std::int64_t since = 0;
};
/// FAIL for a text that has not exactly three parts, the last one a number.
result<op_name> parse_op_name(std::string_view text);

/// Holds every entry of a verified KernelTypeStrResolver against the format: op ids and type strings are there once,
/// every list is present. FAIL naming the entry; OUT_OF_MEMORY when `scratch` is full.
status check_resolver(const table_view& resolver, arena& scratch);

/// An order of tables by what they have in a slot.
using table_less = bool(const table_view&, const table_view&, std::size_t slot);
table_less text_less, number_less;
/// Numbers of the tables in this order. OUT_OF_MEMORY when `memory` is full.
result<std::span<std::uint32_t>> sorted(const vector_view& tables, std::size_t slot, arena& memory, table_less*);

/// True if no two tables of the vector have the same text in this slot; `i` and `j` are two that have. Neither order is
/// taken for granted. OUT_OF_MEMORY when `scratch` is full.
result<bool> all_differ(const vector_view& tables, std::size_t slot, arena& scratch, std::size_t& i, std::size_t& j);

}  // namespace ort
CAMEO_END_NAMESPACE
