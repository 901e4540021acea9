#include <cameo/partition/lower.hpp>

#include <container.hpp>
#include <groups.hpp>

#include <cstdio>

namespace cameo::inline CAMEO_ABI::eps::frozen_file {
namespace {

/// What tells groups of different models apart, so that their plans can lie in one file: names, operators, shapes, and
/// something of every constant.
class fingerprint {
 public:
  void add(std::span<const std::byte> bytes) { sum_ = std::rotl(sum_, 7) * 0x9E3779B97F4A7C15u ^ checksum_of(bytes); }
  void add(std::string_view text) { add(std::as_bytes(std::span{text})); }
  void add(const value_view& v) {
    if (!v) return add("-");
    add(v.name());
    if (const value* const c = v.constant()) {
      add(std::as_bytes(c->shape.dims()));
      if (c->kind == value_kind::tensor && c->type != dtype::string && c->data)
        add({static_cast<const std::byte*>(c->data), std::min<std::size_t>(c->bytes(), 64)});
    } else if (const value_type* const t = v.type(); t && t->shape) {
      for (const dim& d : *t->shape) add(std::as_bytes(std::span{&d.size, 1}));
    }
  }
  std::string text() const {
    char hex[17];
    std::snprintf(hex, sizeof hex, "%016llx", static_cast<unsigned long long>(sum_));
    return hex;
  }

 private:
  std::uint64_t sum_ = 0;
};

}  // namespace

/// A node's level is how often the longest way to it leaves wanted nodes. It never falls along an edge and rises with
/// each way out, so no way leads out of the wanted nodes of one level and back into them.
std::vector<node_group> convex_groups(const graph_view& g, function_ref<bool(const node_view&)> wanted) {
  struct place {
    std::uint32_t level = 0;
    bool is_wanted = false;
  };
  std::vector<place> places(g.raw().node_capacity());
  std::vector<node_group> groups;
  std::vector<fingerprint> prints;
  for (node_view node : g.nodes()) {
    if (is_known(g.raw(), node.raw())) continue;  // a constant: it is never run, and may be on any level
    place& at = places[index_of(node.id())];
    at.is_wanted = node.provider() < 0 && wanted(node);
    const auto follow = [&](const value_view& v) {
      if (!v || !v.producer()) return;
      const place& before = places[index_of(v.producer().id())];
      at.level = std::max(at.level, before.level + (before.is_wanted && !at.is_wanted));
    };
    for (const value_view& v : node.inputs()) follow(v);
    for (const value_view& v : node.captures()) follow(v);
    if (!at.is_wanted) continue;
    if (groups.size() <= at.level) groups.resize(at.level + 1), prints.resize(at.level + 1);
    groups[at.level].nodes.push_back(node.id());
    fingerprint& print = prints[at.level];
    print.add(node.op_type());
    for (const value_view& v : node.inputs()) print.add(v);
    for (const value_view& v : node.outputs()) print.add(v);
  }
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i].name = prints[i].text();
  std::erase_if(groups, [](const node_group& each) { return each.nodes.empty(); });
  return groups;
}

}  // namespace cameo::inline CAMEO_ABI::eps::frozen_file
