#include <cameo/partition/lower.hpp>

#include "plan_stream.hpp"
#include "program.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE::eps::frozen_file {
namespace {

/// The types that inputs and outputs of compiled nodes may have.
detail::type_mask border_types() {
  static const detail::type_mask allowed = [] {
    for (const op_row& row : detail::standard_ops())
      if (detail::has_role(row.roles, role::is_compiled_context)) return row.versions.front().types.front().tensors;
    return detail::type_mask{0};
  }();
  return allowed;
}

bool can_hold_value(const value_view& v, detail::type_mask allowed) {
  if (const value* const c = v.constant()) return c->kind == value_kind::tensor && c->memory == 0;
  return (detail::bit_of(v.element()) & allowed) != 0;
}

bool can_hold_attribute(const attribute& a) {
  switch (a.kind) {
    case attribute_kind::f:
    case attribute_kind::i:
    case attribute_kind::s:
    case attribute_kind::floats:
    case attribute_kind::ints:
    case attribute_kind::strings: return true;
    case attribute_kind::t:
    case attribute_kind::tensors:
      return std::ranges::all_of(a.tensors, [](const value& each) { return each.kind == value_kind::tensor; });
    default: return false;
  }
}

class writer {
 public:
  writer(const draft& net, const std::vector<bool>& raw, builder& blobs, constants_outside* outside)
      : net_{net}, raw_{raw}, blobs_{blobs}, outside_{outside} {}

  std::vector<std::byte> run(std::span<const packed_constant> packs, const std::shared_ptr<const void>& keeps_packs) {
    number_used();
    text_.number(std::uint32_t(used_.size()));
    for (slot s : used_) write_value(net_.values[s], outside_ || raw_[s]);
    write_slots(net_.inputs.span());
    write_slots(net_.outputs.span());
    text_.number(std::uint32_t(net_.nodes.size()));
    for (const detail::draft_node& node : net_.nodes) write_node(node);
    text_.number(outside_ ? packs_again : std::uint32_t(packs.size()));
    for (const packed_constant& each : packs)
      text_.number(blobs_.add_blob({static_cast<const std::byte*>(each.data), each.bytes}, keeps_packs));
    return text_.take();
  }

 private:
  /// Numbers the values that nodes, inputs and outputs use. Others, such as unused constants, are not written.
  void number_used() {
    numbers_.resize(std::max<std::size_t>(net_.values.size(), 1));
    const auto use = [&](std::span<const slot> slots) {
      for (slot s : slots)
        if (s && !numbers_[s]) used_.push_back(s), numbers_[s] = slot(used_.size());
    };
    use(net_.inputs.span());
    for (const detail::draft_node& node : net_.nodes) use(node.inputs), use(node.outputs);
    use(net_.outputs.span());
  }

  void write_slots(std::span<const slot> slots) {
    text_.number(std::uint32_t(slots.size()));
    for (slot s : slots) text_.number(s ? numbers_[s] : slot{0});
  }

  void write_value(const draft_value& v, bool is_read) {
    text_.text(v.name);
    text_.number(std::uint8_t(v.info.kind));
    text_.number(std::uint8_t(v.info.type));
    const value* const c = v.info.constant;
    const std::optional<std::uint32_t> number = c && outside_ ? outside_->take(*c) : std::nullopt;
    text_.number(std::uint8_t(number ? constant_outside : c != nullptr));
    text_.number(std::uint8_t(v.info.has_rank));
    if (number) return write_outside(*c, *number);
    if (c) return write_constant(*c, is_read);
    if (v.info.has_rank) write_dims(v.info.shape);
  }
  /// Writes the input of the node that is the constant, with its type, shape and checksum.
  void write_outside(const value& c, std::uint32_t number) {
    text_.number(std::uint32_t(net_.inputs.size() + number));
    text_.number(std::uint8_t(c.type));
    write_dims(c.shape);
    text_.number(checksum_of({static_cast<const std::byte*>(c.data), c.bytes()}));
  }
  void write_dims(const extents& shape) {
    text_.number(std::uint8_t(shape.rank()));
    for (std::int64_t d : shape) text_.number(d);
  }

  /// Writes a constant. Numbers are blobs, whatever their size, so that equal ones of several plans are stored once.
  void write_constant(const value& c, bool is_read) {
    text_.number(std::uint8_t(c.type));
    write_dims(c.shape);
    if (c.type == dtype::string) {
      for (std::string_view each : strings_of(c)) text_.text(each);
      return;
    }
    const bool there = is_read && c.bytes() > 0;
    text_.number(there ? blobs_.add_blob({static_cast<const std::byte*>(c.data), c.bytes()}, nullptr) + 1
                       : std::uint32_t{0});
  }
  static std::span<const std::string_view> strings_of(const value& c) {
    return {static_cast<const std::string_view*>(c.data), std::size_t(c.shape.count())};
  }

  void write_node(const detail::draft_node& node) {
    text_.text(node.name);
    text_.text(node.op ? node.op->domain : std::string_view{});
    text_.text(node.op_type);
    text_.number(std::int32_t(node.since));
    write_slots(node.inputs);
    write_slots(node.outputs);
    text_.number(std::uint32_t(node.attributes.size()));
    for (const attribute& each : node.attributes) write_attribute(each);
  }

  void write_attribute(const attribute& a) {
    text_.text(a.name);
    text_.number(std::uint8_t(a.kind));
    switch (a.kind) {
      case attribute_kind::f: return text_.number(a.f);
      case attribute_kind::i: return text_.number(a.i);
      case attribute_kind::s: return text_.text(a.s);
      case attribute_kind::floats: return text_.array(a.floats.data(), a.floats.size(), sizeof(float));
      case attribute_kind::ints: return text_.array(a.ints.data(), a.ints.size(), sizeof(std::int64_t));
      case attribute_kind::strings:
        text_.number(std::uint32_t(a.strings.size()));
        for (std::string_view each : a.strings) text_.text(each);
        return;
      default:  // tensors: can_hold() accepts no other kinds
        text_.number(std::uint32_t(a.tensors.size()));
        for (const value& each : a.tensors) write_constant(each, true);
    }
  }

  const draft& net_;
  const std::vector<bool>& raw_;
  builder& blobs_;
  constants_outside* outside_;
  plan_writer text_;
  std::vector<slot> used_, numbers_;
};

}  // namespace

constants_outside::constants_outside(const graph& body) : body_{body} {
  constexpr std::size_t least = 256;  // bytes: a smaller constant takes less than its name, type and shape in the model
  for (value_id v : body.initializers()) {
    const value* const c = body[v].constant;
    if (c && c->kind == value_kind::tensor && (detail::bit_of(c->type) & border_types()) != 0 && c->bytes() >= least)
      by_data_.try_emplace(c->data, v);
  }
}

std::optional<std::uint32_t> constants_outside::take(const value& c) {
  const auto found = by_data_.find(c.data);
  if (found == by_data_.end()) return {};
  const value& there = *body_[found->second].constant;
  if (there.type != c.type || there.shape != c.shape) return {};
  const auto [at, is_new] = numbers_.try_emplace(found->second, std::uint32_t(taken.size()));
  if (is_new) taken.push_back(found->second);
  return at->second;
}

bool can_hold(const node_view& node) {
  if (!node.subgraphs().empty() || !node.op() || !node.raw().version || holds_maps(*node.raw().version)) return false;
  const detail::type_mask allowed =
      border_types();  // of inner values, too: any may become an input or output of a group
  for (const value_view& v : node.inputs())
    if (v && !can_hold_value(v, allowed)) return false;
  for (const value_view& v : node.outputs())
    if (v && !can_hold_value(v, allowed)) return false;
  return std::ranges::all_of(node.raw().attributes, can_hold_attribute);
}

bool holds_maps(const op_version& version) { return std::ranges::any_of(version.types, &type_rule::maps); }

std::vector<std::byte> write_plan(const draft& net, const std::vector<bool>& raw,
                                  std::span<const packed_constant> packs,
                                  const std::shared_ptr<const void>& keeps_packs, builder& blobs,
                                  constants_outside* outside) {
  return writer{net, raw, blobs, outside}.run(packs, keeps_packs);
}

}  // namespace CAMEO_NAMESPACE::eps::frozen_file
