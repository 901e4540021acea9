// Merges nodes that compute the same, and equal small constants.
#include <cameo/op/onnx.hpp>
#include <cameo/transform/rules/standard.hpp>
#include <cameo/transform/transform.hpp>

#include "graph/placement.hpp"

#include <algorithm>
#include <cstring>

namespace CAMEO_NAMESPACE {
namespace {

/// An incremental hash. Collisions are easy to forge, but look-ups stop after a few.
class hasher {
 public:
  hasher& add(std::uint64_t n) {
    state_ = (state_ ^ n) * 0x9E3779B97F4A7C15u;
    state_ ^= state_ >> 29;
    return *this;
  }
  hasher& add(const void* bytes, std::size_t count) {
    add(count);
    const auto* at = static_cast<const std::byte*>(bytes);
    for (std::uint64_t part = 0; count > 0; part = 0) {
      const std::size_t some = std::min<std::size_t>(count, 8);
      std::memcpy(&part, at, some);
      add(part);
      at += some, count -= some;
    }
    return *this;
  }
  hasher& add(std::string_view s) { return add(s.data(), s.size()); }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0x243F6A8885A308D3u;
};

/// The first item of each class of equal items, by hash.
template <class Id>
class first_seen {
 public:
  explicit first_seen(std::size_t most) {
    std::size_t size = 16;
    while (size < 2 * most) size *= 2;
    slots_.resize(size);
  }
  /// The first item that equals `id`; `id` itself if it is the first; `none` if too many items have this hash.
  template <class Equal>
  Id find_or_add(std::uint64_t hash, Id id, Equal equal) {
    for (std::size_t probe = 0; probe < most_probes; ++probe) {
      slot& at = slots_[(hash + probe) & (slots_.size() - 1)];
      if (at.id == Id::none) {
        at = {hash, id};
        return id;
      }
      if (at.hash == hash && equal(at.id)) return at.id;
    }
    return Id::none;
  }

 private:
  static constexpr std::size_t most_probes = 64;
  struct slot {
    std::uint64_t hash = 0;
    Id id = Id::none;
  };
  std::vector<slot> slots_;
};

constexpr std::size_t small_bytes = 16384;  // size of the largest constants that are compared

bool is_small_tensor(const value& v) {
  return v.kind == value_kind::tensor && v.memory == 0 && v.type != dtype::string && v.bytes() <= small_bytes;
}
std::uint64_t hash_of(const value& v) {
  hasher h;
  h.add(std::uint64_t(v.type)).add(v.shape.rank());
  for (std::int64_t d : v.shape) h.add(std::uint64_t(d));
  return h.add(v.data, v.bytes()).value();
}
bool equal(const value& a, const value& b) {
  if (a.type != b.type || a.shape.rank() != b.shape.rank() ||
      !std::equal(a.shape.begin(), a.shape.end(), b.shape.begin()))
    return false;
  return a.data == b.data || a.bytes() == 0 || std::memcmp(a.data, b.data, a.bytes()) == 0;
}

/// True if the attribute can be compared; tensors only if they are small.
bool is_comparable(const attribute& a) {
  switch (a.kind) {
    case attribute_kind::f:
    case attribute_kind::i:
    case attribute_kind::s:
    case attribute_kind::floats:
    case attribute_kind::ints:
    case attribute_kind::strings: return a.ref_attr_name.empty();
    case attribute_kind::t: return a.ref_attr_name.empty() && a.tensors.size() == 1 && is_small_tensor(a.tensors[0]);
    default: return false;
  }
}
void add_to(hasher& h, const attribute& a) {
  h.add(a.name).add(std::uint64_t(a.kind));
  switch (a.kind) {
    case attribute_kind::f: h.add(&a.f, sizeof a.f); break;
    case attribute_kind::i: h.add(std::uint64_t(a.i)); break;
    case attribute_kind::s: h.add(a.s); break;
    case attribute_kind::floats: h.add(a.floats.data(), a.floats.size_bytes()); break;
    case attribute_kind::ints: h.add(a.ints.data(), a.ints.size_bytes()); break;
    case attribute_kind::strings:
      for (std::string_view s : a.strings) h.add(s);
      break;
    default: h.add(hash_of(a.tensors[0])); break;
  }
}
bool equal(const attribute& a, const attribute& b) {
  if (a.name != b.name || a.kind != b.kind) return false;
  switch (a.kind) {
    case attribute_kind::f: return std::memcmp(&a.f, &b.f, sizeof a.f) == 0;
    case attribute_kind::i: return a.i == b.i;
    case attribute_kind::s: return a.s == b.s;
    case attribute_kind::floats:
      return a.floats.size() == b.floats.size() &&
             (a.floats.empty() || std::memcmp(a.floats.data(), b.floats.data(), a.floats.size_bytes()) == 0);
    case attribute_kind::ints: return std::ranges::equal(a.ints, b.ints);
    case attribute_kind::strings: return std::ranges::equal(a.strings, b.strings);
    default: return equal(a.tensors[0], b.tensors[0]);
  }
}

struct merge_nodes {
  static constexpr std::string_view name = "CommonSubexpressionElimination";

  static bool may_merge(rewriter& r, const node_view& n) {
    constexpr role never[] = {role::has_subgraphs, role::is_random, role::is_constant, role::is_compiled_context,
                              role::needs_training};
    if (!r.may_touch(n) || !n.op() || !n.raw().version || !n.subgraphs().empty()) return false;
    for (role each : never)
      if (detail::has_role(n.op()->roles, each)) return false;
    // A quantized node and the DequantizeLinear before it become one integer kernel, so each needs a separate one.
    if (n.has_op<op::DequantizeLinear>()) return false;
    for (const attribute& a : n.raw().attributes)
      if (!is_comparable(a)) return false;
    return true;
  }
  static std::uint64_t hash_of(const node_view& n) {
    hasher h;
    h.add(std::uint64_t(n.op()->id)).add(std::uint64_t(n.since())).add(n.input_count());
    for (value_view v : n.inputs()) h.add(std::uint64_t(v.id()));
    for (const attribute& a : n.raw().attributes) add_to(h, a);
    return h.value();
  }
  /// True if `first` computes the same as `again`, and has at least the outputs of `again`.
  static bool same(const node_view& first, const node_view& again) {
    if (first.op() != again.op() || first.raw().version != again.raw().version ||
        first.input_count() != again.input_count() || first.output_count() < again.output_count() ||
        first.raw().attributes.size() != again.raw().attributes.size())
      return false;
    for (std::size_t i = 0; i < first.input_count(); ++i)
      if (!(first.input(i) == again.input(i))) return false;
    for (std::size_t i = 0; i < again.output_count(); ++i)
      if (again.output(i) && !first.output(i)) return false;
    return std::ranges::equal(first.raw().attributes, again.raw().attributes,
                              [](const attribute& a, const attribute& b) { return equal(a, b); });
  }

  static result<bool> run(rewriter& r) {
    bool changed = false;
    const std::vector<node_id> order{r.in().order().begin(), r.in().order().end()};
    first_seen<node_id> seen{order.size()};
    for (node_id id : order) {
      const node_view n = r.node(id);
      if (n.raw().removed || !may_merge(r, n)) continue;
      const node_id first = seen.find_or_add(
          hash_of(n), id, [&](node_id other) { return !r.in()[other].removed && same(r.node(other), n); });
      if (first == id || first == node_id::none) continue;
      edit e{r, n};
      for (std::size_t i = 0; i < n.output_count(); ++i)
        if (n.output(i)) e.replace(n.output(i), r.node(first).output(i).id());
      if (!e.commit()) continue;
      changed = true;
      inherit_placement(r.in(), {&first, 1}, placement_of(n.raw().metadata));
    }
    return changed;
  }
};

/// Makes the values of Constant nodes initializers.
struct lift_constants {
  static constexpr std::string_view name = "ConstantToInitializer";

  static result<bool> run(rewriter& r) {
    graph& g = r.in();
    bool changed = false;
    for (node_id n : detail::ordered_nodes(g)) {
      if (!r.may_touch(r.node(n)) || !g[n].op || !detail::has_role(g[n].op->roles, role::is_constant)) continue;
      const value_id v = g[n].outputs.size() == 1 ? g[n].outputs[0] : value_id::none;
      if (v == value_id::none || g[v].producer != n || g[v].is_output || !g[v].constant ||
          g[v].constant->kind != value_kind::tensor || g[v].constant->type == dtype::string)
        continue;
      g.remove_node(n);
      g.add_initializer(v, g[v].constant);
      r.touch(v);
      changed = true;
    }
    return changed;
  }
};

/// Merges equal constants, but not large ones: reading them would bring them from the file into memory.
struct share_constants {
  static constexpr std::string_view name = "ConstantSharing";
  static constexpr std::size_t budget = std::size_t{8} << 20;  // bytes read in one graph

  static result<bool> run(rewriter& r) {
    graph& g = r.in();
    std::vector<value_id> constants;
    for (value_id v : g.initializers())
      if (r.constant(r.at(v)) && !g[v].is_input) constants.push_back(v);
    first_seen<value_id> seen{constants.size()};
    std::size_t looked_at = 0;
    bool changed = false;
    for (value_id v : constants) {
      const value& held = *g[v].constant;
      if (!is_small_tensor(held) || (looked_at += held.bytes()) > budget) continue;
      const value_id first =
          seen.find_or_add(hash_of(held), v, [&](value_id other) { return equal(*g[other].constant, held); });
      if (first == v || first == value_id::none || g[v].is_output || g[v].use_count == 0) continue;
      g.replace_uses(v, first);
      r.touch(first);
      changed = true;
    }
    if (changed) g.remove_unused_initializers();
    return changed;
  }
};

}  // namespace

const transform_table& rules::common_subexpressions::table() {
  return transform_list<optimization_level::basic, lift_constants, share_constants, merge_nodes>::table();
}

}  // namespace CAMEO_NAMESPACE
