// `cameo compare`: how much the outputs and intermediate values of two models, or of one under two settings, differ.
#include "program/compare.hpp"
#include "program/given_inputs.hpp"
#include "program/options.hpp"
#include "program/say.hpp"

#include <cameo/core/elements.hpp>
#include <cameo/graph/model.hpp>
#include <cameo/partition/lower.hpp>
#include <cameo/run/runner.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>
#include <unordered_map>

namespace cameo::program {
namespace {

using json = nlohmann::ordered_json;

struct compare_options {
  common_options common;
  side_options a, b;
  std::string model_a;
  std::optional<std::string> model_b;
  given_inputs inputs;
  std::optional<double> rtol, atol;
};

/// A copy of a tensor of numbers, taken when its step ended.
struct recorded_value {
  dtype type;
  extents shape;
  std::vector<double> numbers;
};
std::optional<recorded_value> numbers_of(const value& v) {
  if (v.kind != value_kind::tensor || v.memory != 0 || !v.data) return {};
  return detail::number_elements::visit(v.type, std::optional<recorded_value>{}, [&]<class T>(std::type_identity<T>) {
    recorded_value made{v.type, v.shape, std::vector<double>(std::size_t(v.shape.count()))};
    for (std::size_t i = 0; i < made.numbers.size(); ++i) made.numbers[i] = double(detail::number_at<T>(v, i));
    return std::optional{std::move(made)};
  });
}

std::int64_t steady_nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Copies the outputs of the steps of a session's main graph, by name. Steps of one level may end at the same time on
/// several threads, so a mutex guards the copies.
class value_recorder {
 public:
  explicit value_recorder(const session& of) {
    const graph& g = of.graph().main();
    const std::vector<node_id> nodes = detail::nodes_of_steps(g, of.plan());
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if (nodes[i] != node_id::none) nodes_.emplace(&of.plan().steps[i], &g[nodes[i]]);
    graph_ = &g;
  }
  const step_observer& observer() const { return observer_; }

  std::vector<std::string> order;  // names of values in the order in which their steps ended
  std::unordered_map<std::string, recorded_value> values;

 private:
  static void record(void* self, const plan_step& step, std::int64_t, std::int64_t, std::size_t, const value* slots) {
    static_cast<value_recorder*>(self)->add(step, slots);
  }
  void add(const plan_step& step, const value* slots) {
    const auto found = nodes_.find(&step);
    if (found == nodes_.end()) return;
    const auto& outputs = found->second->outputs;
    for (std::size_t i = 0; i < std::min(outputs.size(), step.outputs.size()); ++i) {
      if (step.outputs[i] == 0 || outputs[i] == value_id::none) continue;
      std::optional<recorded_value> copy = numbers_of(slots[step.outputs[i]]);
      const std::string name{(*graph_)[outputs[i]].name};
      if (!copy || name.empty()) continue;
      const std::lock_guard lock{guard_};
      if (values.insert_or_assign(name, std::move(*copy)).second) order.push_back(name);
    }
  }

  const graph* graph_ = nullptr;
  std::unordered_map<const plan_step*, const detail::graph_node*> nodes_;
  std::mutex guard_;
  step_observer observer_{this, steady_nanoseconds, record};
};

/// The distance of b from a, the reference.
struct distance {
  double largest = 0, mean = 0;     // largest and mean |a - b|
  double cosine = 1;                // cosine similarity of a and b
  double sqnr = INFINITY;           // signal to quantization noise in dB: 10 log10(sum of a^2 / sum of (a - b)^2)
  std::optional<double> top1 = {};  // share of rows along the last axis with the same index of the largest element
};

std::optional<double> same_top(const recorded_value& a, const recorded_value& b) {
  if (a.shape.rank() == 0 || a.numbers.empty() || a.shape.back() < 2) return {};
  const auto row = std::ptrdiff_t(a.shape.back());
  std::size_t same = 0, rows = 0;
  for (auto i = a.numbers.begin(), j = b.numbers.begin(); i != a.numbers.end(); i += row, j += row, ++rows)
    same += std::max_element(i, i + row) - i == std::max_element(j, j + row) - j;
  return double(same) / double(rows);
}

distance distance_of(const recorded_value& a, const recorded_value& b) {
  distance made;
  double aa = 0, bb = 0, ab = 0, error = 0;
  for (std::size_t i = 0; i < a.numbers.size(); ++i) {
    const double x = a.numbers[i], y = b.numbers[i];
    const bool same = x == y || (std::isnan(x) && std::isnan(y));  // x - y of equal infinities would be NaN
    const double off = same ? 0 : std::isnan(x - y) ? INFINITY : std::abs(x - y);
    made.largest = std::max(made.largest, off), made.mean += off, error += off * off;
    if (!std::isfinite(x) || !std::isfinite(y)) continue;
    aa += x * x, bb += y * y, ab += x * y;
  }
  if (!a.numbers.empty()) made.mean /= double(a.numbers.size());
  if (aa > 0 || bb > 0) made.cosine = aa > 0 && bb > 0 ? std::clamp(ab / std::sqrt(aa) / std::sqrt(bb), -1.0, 1.0) : 0;
  if (error > 0) made.sqnr = 10 * std::log10(aa / error);
  made.top1 = same_top(a, b);
  return made;
}

/// One line of the report: a distance, or the reason why there is none.
struct compared {
  std::string name;
  std::string form;                // type and shape for display
  std::string_view type;           // element type; empty unless it is a tensor
  std::vector<std::int64_t> dims;  // shape; empty unless it is a tensor
  bool equal = false;
  std::optional<distance> far = {};
  std::string reason = {};
};
std::string form_of(dtype type, const extents& shape) {
  return std::string{detail::row_of(type).name} + shape_text(shape);
}

compared compare_recorded(const std::string& name, const recorded_value& a, const recorded_value& b) {
  compared made{name, form_of(a.type, a.shape), detail::row_of(a.type).name, {a.shape.begin(), a.shape.end()}};
  if (!(a.shape == b.shape)) {
    made.reason = "is " + form_of(b.type, b.shape) + " on the second side";
    return made;
  }
  made.far = distance_of(a, b);
  made.equal = made.far->largest == 0;
  return made;
}
/// Compares two outputs. Values other than tensors of numbers have no distance and are only equal or not.
compared compare_outputs(const named_value& a, const value& b) {
  const value& v = a.value.view();
  const std::optional<recorded_value> left = numbers_of(v), right = numbers_of(b);
  if (left && right) return compare_recorded(a.name, *left, *right);
  const comparison plain = compare(b, v, {0, 0, true});
  compared made{a.name, to_string(v), {}, {}, bool(plain), {}, plain ? "is equal" : plain.difference};
  if (v.kind == value_kind::tensor) {
    made.form = form_of(v.type, v.shape);
    made.type = detail::row_of(v.type).name, made.dims = {v.shape.begin(), v.shape.end()};
  }
  return made;
}

struct distances {
  std::vector<compared> outputs, values;
  std::vector<std::string> missing;  // outputs that the second side does not have
  std::string too_far;               // the first output that exceeds the tolerances, if there are any
};

/// A number, or null for infinities and NaN, which JSON cannot represent.
json number_json(double v) { return std::isfinite(v) ? json(v) : json(); }
json to_json(const std::vector<compared>& all) {
  json made = json::array();
  for (const compared& each : all) {
    json one{{"name", each.name}, {"form", each.form}, {"type", nullptr}, {"dims", nullptr}, {"equal", each.equal}};
    if (!each.type.empty()) one["type"] = each.type, one["dims"] = each.dims;
    if (each.far) {
      one["largest_error"] = number_json(each.far->largest);
      one["mean_error"] = number_json(each.far->mean);
      one["cosine"] = number_json(each.far->cosine);
      one["sqnr_db"] = number_json(each.far->sqnr);
      one["top1"] = each.far->top1 ? json(*each.far->top1) : json();
    } else {
      one["reason"] = each.reason;
    }
    made.push_back(std::move(one));
  }
  return made;
}
void print_lines(std::string_view title, const std::vector<compared>& all) {
  if (all.empty()) return;
  say("{}\n{:>12} {:>12} {:>11} {:>8} {:>7}  name\n", as_it_is{std::string{title}}, "largest", "mean", "cosine",
      "SQNR dB", "top-1");
  for (const compared& each : all) {
    if (!each.far) {
      say("  {} {} {}\n", each.name, each.form, each.reason);
      continue;
    }
    const distance& d = *each.far;
    const std::string top = d.top1 ? fmt::format("{:.2f} %", 100 * *d.top1) : "-";
    say("{:>12.5g} {:>12.5g} {:>11.8f} {:>8.2f} {:>7}  {} {}\n", d.largest, d.mean, d.cosine, d.sqnr, top, each.name,
        each.form);
  }
}

struct loaded_side {
  runnable model;
  std::optional<value_recorder> seen;
  named_values outputs;
};
/// The inputs of both models; an input that both have is gathered once.
result<std::vector<gathered_input>> inputs_of(const runnable& a, const runnable& b, const given_inputs& given) {
  result<std::vector<gathered_input>> made = gather_inputs(a, given);
  if (!made) return made;
  given_inputs rest = given;
  rest.pairs.clear();
  rest.pictures = {};
  result<std::vector<gathered_input>> others = gather_inputs(b, rest);
  if (!others) return others;
  for (gathered_input& other : *others)
    if (std::none_of(made->begin(), made->end(), [&](const gathered_input& v) { return v.name == other.name; }))
      made->push_back(std::move(other));
  return made;
}
status run_side(loaded_side& side, const std::vector<gathered_input>& all) {
  std::vector<named_input> inputs;
  for (const gathered_input& each : all)
    if (std::any_of(side.model.inputs().begin(), side.model.inputs().end(),
                    [&](const io_info& io) { return io.name == each.name; }))
      inputs.emplace_back(each.name, each.value);
  run_settings settings;
  if (side.model.size() == 1) settings.observer = &side.seen.emplace(side.model.part(0)).observer();
  result<named_values> outputs = side.model.run(inputs, settings);
  if (!outputs) return outputs.error();
  side.outputs = std::move(*outputs);
  return {};
}

distances compare_sides(const loaded_side& a, const loaded_side& b, const compare_options& o) {
  distances made;
  const bool judged = o.rtol || o.atol;
  for (const named_value& output : a.outputs) {
    const auto other =
        std::find_if(b.outputs.begin(), b.outputs.end(), [&](const named_value& v) { return v.name == output.name; });
    if (other == b.outputs.end()) {
      made.missing.push_back(output.name);
      continue;
    }
    made.outputs.push_back(compare_outputs(output, other->value.view()));
    const comparison within =
        compare(other->value.view(), output.value.view(), {o.rtol.value_or(0), o.atol.value_or(0), true});
    if (judged && !within && made.too_far.empty()) made.too_far = output.name + ": " + within.difference;
  }
  if (!a.seen || !b.seen) return made;
  for (const std::string& name : a.seen->order) {
    const auto other = b.seen->values.find(name);
    const bool is_output =
        std::any_of(a.outputs.begin(), a.outputs.end(), [&](const named_value& v) { return v.name == name; });
    if (other != b.seen->values.end() && !is_output)
      made.values.push_back(compare_recorded(name, a.seen->values.at(name), other->second));
  }
  return made;
}

result<std::array<runnable, 2>> load_both(const compare_options& o) {
  const common_options a = o.a.applied_to(o.common), b = o.b.applied_to(o.common);
  if (!o.model_b) return runnable::load_twice(o.model_a, a, b);
  result<runnable> first = runnable::load(o.model_a, "", a);
  if (!first) return std::move(first).error();
  result<runnable> second = runnable::load(*o.model_b, "", b);
  if (!second) return std::move(second).error();
  return std::array<runnable, 2>{*std::move(first), *std::move(second)};
}

int compare_models(const compare_options& o) {
  const std::string& model_b = o.model_b ? *o.model_b : o.model_a;
  result<std::array<runnable, 2>> both = load_both(o);
  if (!both) return fail(both.error());
  const result<std::vector<gathered_input>> inputs = inputs_of((*both)[0], (*both)[1], o.inputs);
  if (!inputs) return fail(inputs.error());
  loaded_side a{std::move((*both)[0]), {}, {}}, b{std::move((*both)[1]), {}, {}};
  for (loaded_side* const side : {&a, &b})
    if (const status s = run_side(*side, *inputs); !s) return fail(s);
  const distances found = compare_sides(a, b, o);
  if (found.outputs.empty())
    return fail(
        {status_code::invalid_argument, "the models have no output of one name, so there is nothing to compare"});
  if (o.common.json) {
    print_json({{"a", o.model_a},
                {"b", model_b},
                {"outputs", to_json(found.outputs)},
                {"values", to_json(found.values)},
                {"missing", found.missing}});
  } else {
    print_lines("outputs", found.outputs);
    print_lines("values of one name on both sides", found.values);
    for (const std::string& name : found.missing) warn("the second side has no output '" + name + "'");
  }
  if (!found.too_far.empty()) return fail({status_code::fail, "output " + found.too_far});
  return 0;
}

void add_tolerance(const command& it, const char* name, std::optional<double>& to, const char* words) {
  it.add(
        name, [&to](const std::string& text) { to = std::strtod(text.c_str(), nullptr); }, words)
      .type_name("X")
      .check([](const std::string& text) {
        char* end = nullptr;
        const double v = std::strtod(text.c_str(), &end);
        return !text.empty() && *end == 0 && v >= 0 && std::isfinite(v) ? std::string{} : "needs a number from 0";
      });
}

}  // namespace

void add_compare(command_line& app) {
  auto o = std::make_shared<compare_options>();
  const command it = app.add_command(
      "compare", "Runs two models, or one under two settings, over the same inputs, and says how far apart they are");
  it.add("A", o->model_a, model_words).required();
  it.add("B", o->model_b, "The second one; without it, A under the settings of --b-...");
  add_input_options(it, o->inputs);
  o->inputs.random = true;
  add_tolerance(it, "--rtol", o->rtol,
                "With it, or --atol: fails where an output is further apart than atol + rtol * |a|");
  add_tolerance(it, "--atol", o->atol, "See --rtol; the one that is not given is 0");
  add_side_options(it, "a", o->a);
  add_side_options(it, "b", o->b);
  add_common_options(it, o->common, json_output::flag);
  it.does([o] { return compare_models(*o); });
}

}  // namespace cameo::program
