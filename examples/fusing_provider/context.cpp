// Reads and writes the context of a compiled model. A context has a header, an entry for each graph, the graphs' names
// and the graphs. A graph has the numbers of its instructions and constants, the instructions, the constants' shapes
// with the offsets of their elements, and the elements. Graphs and elements begin at multiples of 64 bytes, so that the
// constants of a mapped file are used without a copy. All data is checked before use.
#include "fusing.hpp"
#include "program.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace acme {
namespace {

using cameo::status;
using cameo::status_code;
using bytes_view = std::span<const std::byte>;

constexpr std::uint32_t magic = 0x45535546, version = 1;  // "FUSE" on little-endian processors
constexpr std::size_t alignment = 64;
constexpr std::string_view sdk = "fusing 1";

struct head {
  std::uint32_t magic, version;
  std::uint64_t graphs;
};
/// The location of a graph and its name. Offsets are relative to the beginning of the context.
struct entry {
  std::uint64_t name, name_bytes, body, body_bytes;
};
/// The beginning of a graph.
struct counts {
  std::uint32_t inputs, outputs, registers, instructions, constants, zero;
};
/// A constant of a graph. `elements` is an offset from the beginning of the graph.
struct constant {
  std::uint64_t rank, elements;
  std::int64_t dims[cameo::max_rank];
};

template <class T>
void append(std::string& to, const T& object) {
  to.append(reinterpret_cast<const char*>(&object), sizeof object);
}
void align(std::string& to) { to.resize((to.size() + alignment - 1) / alignment * alignment); }

/// Copies `count` objects from an offset; returns false if they are not all inside. Copies, because a context that is
/// embedded in a model may be unaligned.
template <class T>
bool read(bytes_view from, std::uint64_t place, std::size_t count, T* to) {
  if (place > from.size() || count > (from.size() - place) / sizeof(T)) return false;
  if (count) std::memcpy(to, from.data() + place, count * sizeof(T));
  return true;
}

/// A tensor of the floats at `data`: in place if they are aligned, otherwise a copy that is appended to `owners`.
cameo::value floats_at(const std::byte* data, const cameo::extents& shape,
                       std::vector<std::shared_ptr<const void>>& owners) {
  if (std::uintptr_t(data) % alignof(float) == 0) return cameo::value::tensor(cameo::dtype::f32, shape, data);
  const auto count = std::size_t(shape.count());
  auto copy = std::make_shared<std::vector<float>>(count);
  if (count) std::memcpy(copy->data(), data, count * sizeof(float));
  owners.push_back(copy);
  return cameo::value::tensor(cameo::dtype::f32, shape, copy->data());
}

status damaged() { return {status_code::invalid_graph, "the context is damaged"}; }

}  // namespace

std::string program::to_bytes() const {
  std::string made;
  append(made, counts{std::uint32_t(input_count_), std::uint32_t(output_count_), std::uint32_t(register_count_),
                      std::uint32_t(code_.size()), std::uint32_t(constants_.size()), 0});
  for (const instruction& i : code_) append(made, std::array<std::uint32_t, 4>{std::uint32_t(i.code), i.a, i.b, i.out});
  std::size_t end = made.size() + constants_.size() * sizeof(constant);
  std::vector<constant> descriptions;
  for (const cameo::value& v : constants_) {
    end = (end + alignment - 1) / alignment * alignment;
    constant& c = descriptions.emplace_back();
    c = {v.shape.rank(), end, {}};
    std::copy(v.shape.begin(), v.shape.end(), c.dims);
    end += v.bytes();
  }
  for (const constant& c : descriptions) append(made, c);
  for (const cameo::value& v : constants_) {
    align(made);
    made.append(static_cast<const char*>(v.data), v.bytes());
  }
  return made;
}

cameo::result<program> program::from_bytes(bytes_view bytes, std::shared_ptr<const void> owner) {
  counts n{};
  if (!read(bytes, 0, 1, &n)) return damaged();
  program made;
  made.input_count_ = n.inputs, made.output_count_ = n.outputs, made.register_count_ = n.registers;
  const std::uint64_t fixed = std::uint64_t{n.inputs} + n.constants, places = fixed + n.outputs + n.registers;
  const std::size_t most = bytes.size();  // every instruction and constant has bytes
  if (n.registers > n.instructions || n.instructions > most || n.constants > most || places > UINT32_MAX)
    return damaged();
  std::uint64_t at = sizeof n;
  for (std::uint32_t i = 0; i < n.instructions; ++i, at += 16) {
    std::uint32_t words[4];
    if (!read(bytes, at, 4, words) || words[0] > std::uint32_t(opcode::relu)) return damaged();
    if (words[1] >= places || words[2] >= places || words[3] >= places || words[3] < fixed) return damaged();
    made.code_.push_back({opcode(words[0]), words[1], words[2], words[3]});
  }
  for (std::uint32_t i = 0; i < n.constants; ++i, at += sizeof(constant)) {
    constant c{};
    if (!read(bytes, at, 1, &c) || c.rank > cameo::max_rank || c.elements > bytes.size()) return damaged();
    const cameo::extents shape{std::span<const std::int64_t>{c.dims, std::size_t(c.rank)}};
    std::int64_t count = 0;
    if (!shape.checked_count(count) || std::uint64_t(count) > (bytes.size() - c.elements) / sizeof(float))
      return damaged();
    made.constants_.push_back(floats_at(bytes.data() + c.elements, shape, made.owners_));
  }
  made.owners_.push_back(std::move(owner));
  return made;
}

cameo::result<cameo::context_part> fusing::store(context_builder& context, const cameo::fused_view& group,
                                                 const cameo::compiled_node& made) const {
  context.graphs.emplace_back(group.name, static_cast<const program*>(made.state.get())->to_bytes());
  cameo::context_part part;
  part.sdk_version = sdk;
  return part;
}

cameo::status fusing::write(const context_builder& context, cameo::byte_sink to) const {
  std::string start;
  append(start, head{magic, version, context.graphs.size()});
  std::size_t name_at = sizeof(head) + context.graphs.size() * sizeof(entry), body_at = name_at;
  for (const auto& [name, body] : context.graphs) body_at += name.size();
  for (const auto& [name, body] : context.graphs) {
    body_at = (body_at + alignment - 1) / alignment * alignment;
    append(start, entry{name_at, name.size(), body_at, body.size()});
    name_at += name.size(), body_at += body.size();
  }
  for (const auto& [name, body] : context.graphs) start += name;
  for (const auto& [name, body] : context.graphs) {
    align(start);
    start += body;
  }
  return to(std::as_bytes(std::span{start}));
}

cameo::result<cameo::compiled_node> fusing::restore(const cameo::context_binary& binary,
                                                    const cameo::context_node& node) const {
  const bytes_view bytes = binary.bytes();
  head h{};
  if (!read(bytes, 0, 1, &h) || h.magic != magic)
    return status{status_code::invalid_graph, "not a context of the provider 'fusing'"};
  if (h.version != version)
    return status{status_code::invalid_graph, "the context has version " + std::to_string(h.version) + " instead of " +
                                                  std::to_string(version) + "; compile the model again"};
  for (std::uint64_t i = 0; i < h.graphs; ++i) {
    entry e{};
    if (!read(bytes, sizeof h + i * sizeof e, 1, &e) || e.name > bytes.size() || e.name_bytes > bytes.size() - e.name ||
        e.body > bytes.size() || e.body_bytes > bytes.size() - e.body)
      return damaged();
    const auto name = bytes.subspan(e.name, e.name_bytes);
    if (std::string_view{reinterpret_cast<const char*>(name.data()), name.size()} != node.graph_name) continue;
    auto made =
        program::from_bytes(bytes.subspan(e.body, e.body_bytes), std::make_shared<cameo::context_binary>(binary));
    if (!made) return std::move(made).error();
    if (!made->fits(node.node)) return damaged();
    return cameo::compiled(std::move(*made));
  }
  return status_code::not_found;
}

}  // namespace acme
