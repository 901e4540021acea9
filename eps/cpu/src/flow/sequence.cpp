#include <cameo/eps/cpu/sequence.hpp>

#include "operands/operand_values.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Reads a position in a sequence of `count` elements from input i, at most `last`; `otherwise` if the input is absent.
status read_position(const run_context& c, std::size_t i, std::int64_t count, std::int64_t otherwise, std::int64_t last,
                     std::size_t& position) {
  std::int64_t at = otherwise;
  if (c.has_input(i)) {
    if (status s = check_count("position", c.input(i).shape.count(), 1); !s) return s;
    at = integers{c.input(i)}[0];
  }
  position = std::size_t(at < 0 ? at + count : at);
  return check_number("position", at, -count, last);
}

status keep_all(run_context& c, std::span<const value> from, std::span<value> to) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    const result<value> kept = c.keep(from[i]);
    if (!kept) return kept.error();
    to[i] = *kept;
  }
  return {};
}

}  // namespace

status sequence_construct::run(run_context& c) const {
  const result<std::span<value>> parts = c.output_sequence(0, c.input_count());
  if (!parts) return parts.error();
  for (std::size_t i = 0; i < parts->size(); ++i)
    if (status kept = keep_all(c, {&c.input(i), 1}, parts->subspan(i, 1)); !kept) return kept;
  return {};
}

status sequence_empty::run(run_context& c) const { return c.output_sequence(0, 0).error(); }

status sequence_at::run(run_context& c) const {
  const std::span<const value> from = c.input(0).parts;
  const auto count = std::int64_t(from.size());
  std::size_t at = 0;
  if (status read = read_position(c, 1, count, 0, count - 1, at); !read) return read;
  return c.forward(0, from[at]);
}

status sequence_insert::run(run_context& c) const {
  const std::span<const value> from = c.input(0).parts;
  const auto count = std::int64_t(from.size());
  std::size_t at = 0;
  if (status read = read_position(c, 2, count, count, count, at); !read) return read;
  const result<std::span<value>> parts = c.output_sequence(0, from.size() + 1);
  if (!parts) return parts.error();
  if (status kept = keep_all(c, from.first(at), parts->first(at)); !kept) return kept;
  if (status kept = keep_all(c, {&c.input(1), 1}, parts->subspan(at, 1)); !kept) return kept;
  return keep_all(c, from.subspan(at), parts->subspan(at + 1));
}

status sequence_erase::run(run_context& c) const {
  const std::span<const value> from = c.input(0).parts;
  const auto count = std::int64_t(from.size());
  std::size_t at = 0;
  if (status read = read_position(c, 1, count, count - 1, count - 1, at); !read) return read;
  const result<std::span<value>> parts = c.output_sequence(0, from.size() - 1);
  if (!parts) return parts.error();
  if (status kept = keep_all(c, from.first(at), parts->first(at)); !kept) return kept;
  return keep_all(c, from.subspan(at + 1), parts->subspan(at));
}

status sequence_length::run(run_context& c) const {
  const auto count = std::int64_t(c.input(0).parts.size());
  const result<tensor_view<std::int64_t>> y = c.output<std::int64_t>(0, {});
  if (!y) return y.error();
  (*y)[0] = count;
  return {};
}

status optional_has_element::run(run_context& c) const {
  const bool holds = bool(c.input(0));
  const result<tensor_view<bool>> y = c.output<bool>(0, {});
  if (!y) return y.error();
  (*y)[0] = holds;
  return {};
}

status optional_get_element::run(run_context& c) const {
  if (status s = check_needs("the node", true, "an optional that is not empty", bool(c.input(0))); !s) return s;
  return c.forward(0, c.input(0));
}

}  // namespace CAMEO_NAMESPACE::eps
