#pragma once
// Compiling providers for the test cases of compiled models. They compile chains of MatMul, Relu and Add on floats to
// programs that they interpret. A context is the text "REFCTX <sdk version>", followed by one line per graph.
#include <cameo/ep/provider.hpp>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstring>
#include <map>
#include <sstream>

namespace cameo::test {

/// A group as instructions on registers, which are the inputs, then the constants, then the results.
struct ref_program {
  struct instruction {
    char op = '?';  // '*' matmul, '+' add, 'r' relu
    std::size_t a = 0, b = 0;
  };
  struct tensor {
    std::vector<std::int64_t> dims;
    std::vector<float> elements;
  };
  std::size_t inputs = 0;
  std::vector<tensor> constants;
  std::vector<instruction> instructions;
  std::vector<std::size_t> outputs;

  static ref_program make(const graph_view& body);
  std::string text() const;
  static bool parse(std::istream&, ref_program&);
  status run(run_context&) const;
};

inline ref_program ref_program::make(const graph_view& body) {
  ref_program p;
  std::map<value_id, std::size_t> registers;
  for (value_view in : body.inputs()) registers.emplace(in.id(), p.inputs++);
  for (value_id v : body.raw().initializers()) {
    const value& c = *body.raw()[v].constant;
    tensor t{{c.shape.begin(), c.shape.end()}, {}};
    const auto elements = c.as_unchecked<float>();
    t.elements.assign(elements.begin(), elements.end());
    registers.emplace(v, p.inputs + p.constants.size());
    p.constants.push_back(std::move(t));
  }
  for (node_view node : body.nodes()) {
    instruction i;
    i.op = node.op_type() == "MatMul" ? '*' : node.op_type() == "Add" ? '+' : 'r';
    i.a = registers.at(node.input(0).id());
    if (node.input_count() > 1) i.b = registers.at(node.input(1).id());
    registers.emplace(node.output(0).id(), p.inputs + p.constants.size() + p.instructions.size());
    p.instructions.push_back(i);
  }
  for (value_view out : body.outputs()) p.outputs.push_back(registers.at(out.id()));
  return p;
}

inline std::string ref_program::text() const {
  std::ostringstream to;
  to.precision(9);
  to << inputs << ' ' << constants.size() << ' ' << instructions.size() << ' ' << outputs.size();
  for (const tensor& c : constants) {
    to << ' ' << c.dims.size();
    for (std::int64_t d : c.dims) to << ' ' << d;
    for (float x : c.elements) to << ' ' << x;
  }
  for (const instruction& i : instructions) to << ' ' << i.op << ' ' << i.a << ' ' << i.b;
  for (std::size_t o : outputs) to << ' ' << o;
  return to.str();
}

inline bool ref_program::parse(std::istream& from, ref_program& p) {
  std::size_t constants = 0, instructions = 0, outputs = 0;
  if (!(from >> p.inputs >> constants >> instructions >> outputs)) return false;
  if (std::max({p.inputs, constants, instructions, outputs}) > 1000) return false;
  for (std::size_t k = 0; k < constants; ++k) {
    tensor& c = p.constants.emplace_back();
    std::size_t rank = 0, count = 1;
    if (!(from >> rank) || rank > 4) return false;
    for (std::size_t i = 0; i < rank; ++i) {
      if (!(from >> c.dims.emplace_back()) || c.dims.back() < 0 || c.dims.back() > 10'000) return false;
      count *= std::size_t(c.dims.back());
    }
    for (std::size_t i = 0; i < count; ++i)
      if (!(from >> c.elements.emplace_back())) return false;
  }
  for (std::size_t k = 0; k < instructions; ++k) {
    instruction& i = p.instructions.emplace_back();
    if (!(from >> i.op >> i.a >> i.b) || std::max(i.a, i.b) >= p.inputs + constants + k) return false;
  }
  for (std::size_t k = 0; k < outputs; ++k)
    if (!(from >> p.outputs.emplace_back()) || p.outputs.back() >= p.inputs + constants + instructions) return false;
  return true;
}

inline status ref_program::run(run_context& c) const {
  std::vector<tensor> registers;
  for (std::size_t i = 0; i < inputs; ++i) {
    const value& in = c.input(i);
    const auto elements = in.as_unchecked<float>();
    registers.push_back({{in.shape.begin(), in.shape.end()}, {elements.begin(), elements.end()}});
  }
  registers.insert(registers.end(), constants.begin(), constants.end());
  for (const instruction& i : instructions) {
    const tensor& a = registers[i.a];
    const tensor& b = registers[i.b];
    tensor y = a;
    if (i.op == '*') {
      if (a.dims.size() != 2 || b.dims.size() != 2 || a.dims[1] != b.dims[0])
        return {status_code::invalid_argument, "MatMul: shapes"};
      const auto m = std::size_t(a.dims[0]), k = std::size_t(a.dims[1]), n = std::size_t(b.dims[1]);
      y = {{a.dims[0], b.dims[1]}, std::vector<float>(m * n)};
      for (std::size_t r = 0; r < m; ++r)
        for (std::size_t s = 0; s < n; ++s)
          for (std::size_t t = 0; t < k; ++t) y.elements[r * n + s] += a.elements[r * k + t] * b.elements[t * n + s];
    } else if (i.op == '+') {
      if (b.elements.empty() || a.elements.size() % b.elements.size())
        return {status_code::invalid_argument, "Add: shapes"};
      for (std::size_t e = 0; e < y.elements.size(); ++e) y.elements[e] += b.elements[e % b.elements.size()];
    } else {
      for (float& x : y.elements) x = std::max(x, 0.0f);
    }
    registers.push_back(std::move(y));
  }
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const tensor& from = registers[outputs[o]];
    extents shape;
    for (std::int64_t d : from.dims) shape.push_back(d);
    const result<tensor_view<float>> to = c.output<float>(o, shape);
    if (!to) return to.error();
    std::copy(from.elements.begin(), from.elements.end(), to->begin());
  }
  return {};
}

/// Counts the provider's calls, and makes it fail, for tests.
struct ref_counters {
  std::atomic<int> compiled = 0, opened = 0, written = 0;
  std::string declines = {};                       // an operator that the provider does not take
  bool store_throws = false, store_fails = false;  // while a context is written
  std::string fit = "gen2";                        // the compatibility text; "": none
  std::string sdk_version = "3.2.0";
  std::size_t padding = 0;  // the number of spaces at the end of a context
};

inline ref_counters default_counters;  // of providers whose calls no test checks

/// A context that is being built or was opened: its graphs by name.
using ref_context = std::map<std::string, ref_program>;

/// A reference provider. `Name` is its short name, its long name and its key in files.
template <detail::fixed_string Name>
struct ref_provider {
  static constexpr std::string_view name = Name, long_name = Name;
  static constexpr context_source sources[] = {{Name}};
  using context_builder = ref_context;
  ref_counters* counters = &default_counters;

  result<std::vector<node_group>> groups(const graph_view& g) const {
    std::vector<node_group> found;
    bool open = false;
    for (node_view node : g.nodes()) {
      const bool mine = node.provider() < 0 && node.domain().empty() &&
                        (node.op_type() == "MatMul" || node.op_type() == "Relu" || node.op_type() == "Add") &&
                        node.op_type() != counters->declines && node.output(0).element() == dtype::f32;
      if (mine && !open) found.push_back({{}, "part"});
      if (mine) found.back().nodes.push_back(node.id());
      open = mine;
    }
    return found;
  }
  result<std::vector<compiled_node>> compile(std::span<const fused_view> all) const {
    ++counters->compiled;
    std::vector<compiled_node> made;
    for (const fused_view& group : all) made.push_back(compiled(ref_program::make(group.body)));
    return made;
  }
  result<context_part> store(ref_context& context, const fused_view& group, const compiled_node& program) const {
    context[std::string{group.name}] = *static_cast<const ref_program*>(program.state.get());
    context_part part;
    part.sdk_version = counters->sdk_version, part.hardware_architecture = "gen2";
    return part;
  }
  status write(const ref_context& context, byte_sink to) const {
    const auto line = [&](const std::string& text) { return to(std::as_bytes(std::span{text})); };
    if (status s = line("REFCTX " + counters->sdk_version + " " + std::to_string(context.size()) + "\n"); !s) return s;
    for (const auto& [graph, program] : context) {
      if (counters->store_throws) throw std::runtime_error{"the compiler crashed"};
      if (counters->store_fails) return {status_code::ep_fail, "the compiler gave up"};
      if (status s = line(graph + " " + program.text() + "\n"); !s) return s;
    }
    ++counters->written;
    const std::string blank(std::min(counters->padding, std::size_t{1} << 20), ' ');
    for (std::size_t left = counters->padding; left > 0; left -= std::min(left, blank.size()))
      if (status s = line(blank.substr(0, left)); !s) return s;
    return {};
  }
  result<std::shared_ptr<const ref_context>> open(const context_binary& binary) const {
    return binary.opened<ref_context>([&](std::span<const std::byte> bytes) -> result<ref_context> {
      ++counters->opened;
      std::istringstream from{{reinterpret_cast<const char*>(bytes.data()), bytes.size()}};
      std::string magic, version;
      std::size_t count = 0;
      if (!(from >> magic >> version >> count) || magic != "REFCTX") return status{status_code::fail, "no context"};
      if (version != counters->sdk_version)
        return status{status_code::fail, "made by SDK " + version + ", this is " + counters->sdk_version};
      ref_context all;
      for (std::size_t i = 0; i < count; ++i) {
        std::string graph;
        if (!(from >> graph) || !ref_program::parse(from, all[graph]))
          return status{status_code::fail, "the context is damaged"};
      }
      return all;
    });
  }
  result<compiled_node> restore(const context_binary& binary, const context_node& node) const {
    const auto context = open(binary);
    if (!context) return status{context.error()};
    const auto found = (*context)->find(std::string{node.graph_name});
    if (found == (*context)->end()) return status_code::not_found;
    return compiled(found->second);
  }
  result<std::vector<std::string>> graphs(const context_binary& binary) const {
    const auto context = open(binary);
    if (!context) return status{context.error()};
    std::vector<std::string> names;
    for (const auto& each : **context) names.push_back(each.first);
    return names;
  }
  std::string compatibility(std::span<const fused_view>) const { return counters->fit; }
  result<compiled_fit> fits(std::string_view written) const {
    if (written == "gen2") return compiled_fit::optimal;
    if (written == "gen1") return compiled_fit::prefer_recompilation;
    if (written == "other") return compiled_fit::not_applicable;
    return compiled_fit::unsupported;
  }
};

using ref_a = ref_provider<"RefA">;
using ref_b = ref_provider<"RefB">;
static_assert(context_store<ref_a> && context_lister<ref_a> && compatibility_checker<ref_a>);

}  // namespace cameo::test
