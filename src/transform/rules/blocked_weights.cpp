// Weights that ONNX Runtime packed in blocks of channels for one kind of processor.
#include <cameo/op/attributes/nchwc.hpp>
#include <cameo/op/nchwc.hpp>
#include <cameo/transform/rules/standard.hpp>
#include <cameo/transform/transform.hpp>

#include "graph/messages.hpp"
#include "graph/oddities.hpp"
#include "graph/types.hpp"

#include <cstring>
#include <map>

namespace CAMEO_NAMESPACE {
namespace {

constexpr std::int64_t narrow_block = 8, wide_block = 16;  // channels in a block

/// A convolution with packed weights [maps, channels, taps...]; maps are padded to whole blocks.
struct blocked_conv {
  node_id node;
  value_id weights;
  const value* packed;
  std::int64_t maps, channels, taps, groups;
};

std::int64_t rounded_up(std::int64_t n, std::int64_t block) { return (n - 1) / block * block + block; }

std::vector<blocked_conv> blocked_convs(const graph& g) {
  std::vector<blocked_conv> made;
  for (node_id id : g.order()) {
    const detail::graph_node& n = g[id];
    const attributes_of<op::nchwc::Conv> a{n.attributes};
    if (!n.op || n.op->id != detail::op_id_of<op::nchwc::Conv> || n.input_count < 2 || a.plain_weights != 0) continue;
    const value_id weights = g.input(id, 1);
    const value* const w = weights == value_id::none ? nullptr : g.constant_of(weights);
    if (!w || w->kind != value_kind::tensor || w->type != dtype::f32 || w->shape.rank() != 4) continue;
    if (w->shape.count() == 0 || w->shape[0] % narrow_block != 0) continue;
    made.push_back({id, weights, w, w->shape[0], w->shape[1], w->shape[2] * w->shape[3], a.group});
  }
  return made;
}

/// The block sizes that the numbers of channels in a graph allow.
struct possible_blocks {
  bool of_narrow = true, of_wide = true;

  void look_at(const graph& g, const blocked_conv& c) {
    if (c.maps % wide_block != 0) of_wide = false;
    // Numbers of channels below a block size stay; others are padded to whole blocks.
    if (c.groups == 1 && c.channels >= wide_block && c.channels % wide_block != 0) of_wide = false;
    if (c.groups == 1 && c.channels > narrow_block && c.channels < wide_block) of_narrow = false;
    const value_id made = g[c.node].outputs.empty() ? value_id::none : g[c.node].outputs[0];
    if (made == value_id::none) return;
    for (const graph::use u : g.uses(made)) {
      const detail::graph_node& reader = g[u.node];
      const std::int64_t shown = attributes_of<op::nchwc::ReorderOutput>{reader.attributes}.channels;
      if (!reader.op || reader.op->id != detail::op_id_of<op::nchwc::ReorderOutput> || shown < 1 || shown > c.maps)
        continue;
      if (rounded_up(shown, narrow_block) != c.maps) of_narrow = false;
      if (rounded_up(shown, wide_block) != c.maps) of_wide = false;
    }
  }
};

/// The block size that ONNX Runtime uses on this processor.
std::int64_t block_here() {
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_cpu_supports("avx512f") ? wide_block : narrow_block;
#else
  return wide_block;
#endif
}

/// True if all readers of blocked images treat channels separately, or read the whole image. Otherwise narrow blocks
/// matter: the channels of a concatenation then start elsewhere than in cameo's wide blocks.
bool reads_by_channel(const graph& g) {
  std::vector<bool> is_blocked(g.value_count(), false);
  for (node_id id : g.order()) {
    const detail::graph_node& n = g[id];
    bool reads = false;
    for (std::size_t i = 0; i < n.input_count; ++i)
      if (const value_id v = g.input(id, i); v != value_id::none) reads |= is_blocked[index_of(v)];
    const bool is_of_blocks = n.domain == op::nchwc::Conv::domain;
    const bool each_alone =
        n.op && (detail::has_role(n.op->roles, role::is_pointwise) || detail::has_role(n.op->roles, role::broadcasts));
    if (reads && !is_of_blocks && !each_alone) return false;
    if (!(reads && each_alone) && !(is_of_blocks && n.op && n.op->id != detail::op_id_of<op::nchwc::ReorderOutput>))
      continue;
    for (value_id v : n.outputs)
      if (v != value_id::none) is_blocked[index_of(v)] = true;
  }
  return true;
}

/// Unpacks weights to ONNX's order. Packed weights are ordered by block of maps, then channel (or block of channels, if
/// the input image is blocked), then map within the block.
result<const value*> plain_weights(model& m, const blocked_conv& c, std::int64_t block) {
  const std::size_t bytes = c.packed->bytes();
  if (bytes > m.most_memory || m.memory.used() > m.most_memory - bytes)
    return failed(status_code::out_of_memory,
                  "{} bytes of weights would pass the model's limit of {} (load_limits.model_bytes)", bytes,
                  m.most_memory);
  const result<std::span<float>> made = m.memory.take<float>(bytes / sizeof(float));
  if (!made) return made.error();
  const bool one_by_one = c.groups > 1 ? c.channels == 1 : c.channels < block;
  const std::int64_t together = one_by_one ? 1 : block;
  const auto* from = static_cast<const std::byte*>(c.packed->data);  // data of a file may be unaligned
  for (std::int64_t map = 0; map < c.maps; map += block)
    for (std::int64_t channel = 0; channel < c.channels; channel += together)
      for (std::int64_t tap = 0; tap < c.taps; ++tap)
        for (std::int64_t inner = 0; inner < together; ++inner)
          for (std::int64_t lane = 0; lane < block; ++lane, from += sizeof(float)) {
            const std::int64_t at = ((map + lane) * c.channels + channel + inner) * c.taps + tap;
            std::memcpy(&(*made)[std::size_t(at)], from, sizeof(float));
          }
  const value plain = value::tensor<float>(c.packed->shape, std::span<const float>{*made});
  const value* const kept = m.memory.keep(plain);
  return kept ? result<const value*>{kept} : status{status_code::out_of_memory};
}

status unpack(graph& g, std::span<const blocked_conv> all, std::int64_t block) {
  model& m = g.owner();
  std::map<value_id, value_id> done;  // weights may be shared
  for (const blocked_conv& c : all) {
    const bool in_blocks = c.groups > 1 ? c.channels != 1 : c.channels >= block;
    if (c.maps % block != 0 || (in_blocks && c.channels % block != 0)) continue;
    auto [at, is_new] = done.try_emplace(c.weights, value_id::none);
    if (is_new) {
      const result<const value*> plain = plain_weights(m, c, block);
      if (!plain) return status{plain.error()}.in(describe(g, g[c.node]));
      at->second = g.add_value(g.unique_name(g[c.weights].name), m.keep(type_of(**plain)));
      g.add_initializer(at->second, *plain);
    }
    g.set_input(c.node, 1, at->second);
    std::vector<attribute> attributes(g[c.node].attributes.begin(), g[c.node].attributes.end());
    std::erase_if(attributes, [](const attribute& a) { return a.name == "plain_weights"; });
    attributes.push_back({.name = "plain_weights", .kind = attribute_kind::i, .i = 1});
    g.set_attributes(c.node, attributes);
  }
  return {};
}

/// Unpacks the weights of a graph. The numbers of channels may prove the block size; otherwise it is the one that ONNX
/// Runtime uses here. Weights stay packed if the numbers contradict each other, and if a node depends on channel
/// positions in narrow blocks.
struct unpack_weights {
  static constexpr std::string_view name = "UnpackNchwcWeights";

  static result<bool> run(rewriter& r) {
    graph& g = r.in();
    std::vector<blocked_conv> all = blocked_convs(g);
    std::erase_if(all, [&](const blocked_conv& c) { return !r.may_touch(r.node(c.node)); });
    if (all.empty()) return false;
    possible_blocks sizes;
    for (const blocked_conv& c : all) sizes.look_at(g, c);
    const bool is_proven = sizes.of_narrow != sizes.of_wide;
    const std::int64_t block = is_proven ? (sizes.of_wide ? wide_block : narrow_block) : block_here();
    if (!sizes.of_narrow && !sizes.of_wide) return false;
    if (block == narrow_block && !reads_by_channel(g)) return false;
    tolerate(g.owner(), oddity::blocked_weights, "{}: weights in blocks of {} channels, {}",
             describe(g, g[all[0].node]), block,
             is_proven ? "as the numbers of channels show" : "if they were written on a processor like this");
    if (status s = unpack(g, all, block); !s) return s;
    return true;
  }
};

}  // namespace

const transform_table& detail::unpacked_weights::table() { return transform_list<level, unpack_weights>::table(); }

}  // namespace CAMEO_NAMESPACE
