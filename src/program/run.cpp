#include "file/messages.hpp"
#include "program/given_inputs.hpp"
#include "program/interrupt.hpp"
#include "program/options.hpp"
#include "program/peak.hpp"
#include "program/runnable.hpp"
#include "program/say.hpp"
#include "program/tensor_files.hpp"

#include <cameo/core/elements.hpp>
#include <cameo/file/atomic_file.hpp>
#include <cameo/session/profile.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>
#include <set>

namespace cameo::program {
namespace {

using json = nlohmann::ordered_json;
using clock = std::chrono::steady_clock;

struct run_options_given {
  common_options common;
  std::string model, component, output_dir, profile;
  given_inputs inputs;
  std::size_t top = 0;
};

double ms_since(clock::time_point start) {
  return std::chrono::duration<double, std::milli>(clock::now() - start).count();
}

/// Element `i` of a tensor of numbers of one byte or more; nullopt for other types.
std::optional<double> number_at(const value& v, std::int64_t i) {
  return detail::number_elements::visit(v.type, std::optional<double>{}, [&]<class T>(std::type_identity<T>) {
    return double(detail::number_at<T>(v, std::size_t(i)));
  });
}

struct ranked {
  std::int64_t index;
  double score;
};
/// The number of scores in a row. Rows are along the last axis with more than one element: [N,1000,1,1] has N rows of
/// 1,000 scores.
std::int64_t row_size(const extents& shape) {
  for (std::size_t i = shape.rank(); i-- > 0;)
    if (shape[i] != 1) return shape[i];
  return 1;
}

constexpr std::int64_t most_rows = 16;

/// The k largest elements of each of the first `most_rows` rows, in descending order, NaN last. Empty for values that
/// are not tensors of numbers.
std::vector<std::vector<ranked>> top_of(const value& v, std::size_t k) {
  std::vector<std::vector<ranked>> rows;
  if (v.kind != value_kind::tensor || v.shape.rank() == 0 || v.shape.count() == 0 || !number_at(v, 0)) return rows;
  const std::int64_t size = row_size(v.shape), count = std::min(v.shape.count() / size, most_rows);
  const auto order = [](double d) { return std::isnan(d) ? -INFINITY : d; };
  for (std::int64_t r = 0; r < count; ++r) {
    std::vector<ranked> row;
    for (std::int64_t i = 0; i < size; ++i) row.push_back({i, *number_at(v, r * size + i)});
    const std::size_t kept = std::min(k, row.size());
    std::partial_sort(row.begin(), row.begin() + std::ptrdiff_t(kept), row.end(),
                      [&](const ranked& a, const ranked& b) {
                        return order(a.score) != order(b.score) ? order(a.score) > order(b.score) : a.index < b.index;
                      });
    row.resize(kept);
    rows.push_back(std::move(row));
  }
  return rows;
}

/// A file name for an output. Characters other than letters, digits, '_', '-' and '.' are replaced by '_', and names in
/// `taken` are not used again.
std::string file_name(const std::string& output, std::set<std::string>& taken) {
  std::string name;
  for (char c : output)
    name += std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.' ? c : '_';
  if (name.empty() || name.front() == '.') name.insert(0, "_");
  while (!taken.insert(name).second) name += "_";
  return name;
}

/// Writes a tensor as .npy, other values as .pb. Returns the path of the file, empty for an empty optional.
result<std::string> write_output(const std::string& folder, const named_value& output, const io_info& io,
                                 std::set<std::string>& taken) {
  const value& v = output.value.view();
  if (!v) return std::string{};
  const bool tensor = v.kind == value_kind::tensor;
  const result<std::string> bytes = tensor ? write_npy(v) : write_pb(v, pb_kind_of(io.type.kind), output.name);
  if (!bytes) return status{bytes.error()}.in(fmt::format("output '{}'", output.name));
  const std::string path = folder + "/" + file_name(output.name, taken) + (tensor ? ".npy" : ".pb");
  if (status s = write_file_atomically(path, std::string_view{*bytes}); !s) return s;
  return path;
}

/// The first 1,000 elements; null for NaN and infinities, which JSON lacks, and for types that JSON cannot represent.
json values_json(const value& v) {
  constexpr std::int64_t most = 1000;
  const std::int64_t count = std::min(v.shape.count(), most);
  json made = json::array();
  for (std::int64_t i = 0; i < count; ++i) {
    json one = detail::all_elements::visit(v.type, json(), [&]<class T>(std::type_identity<T>) -> json {
      if constexpr (std::same_as<T, bool> || std::integral<T>) return detail::element_at<T>(v, std::size_t(i));
      else if constexpr (std::same_as<T, std::string_view>)
        return std::string{detail::element_at<T>(v, std::size_t(i))};
      else return nullptr;
    });
    if (one.is_null())
      if (const std::optional<double> number = number_at(v, i); number && std::isfinite(*number)) one = *number;
    made.push_back(std::move(one));
  }
  return made;
}

json describe(const named_value& output, const io_info& io, const std::string& file, std::size_t top) {
  const value& v = output.value.view();
  json made{{"name", output.name}, {"declared", io.type_text}};
  if (v.kind == value_kind::tensor) {
    made["type"] = detail::row_of(v.type).name;
    made["shape"] = std::vector<std::int64_t>(v.shape.begin(), v.shape.end());
  }
  made["text"] = to_string(v);
  if (v.kind == value_kind::tensor) made["values"] = values_json(v);
  if (!file.empty()) made["file"] = file;
  if (top == 0) return made;
  json rows = json::array();
  for (const std::vector<ranked>& row : top_of(v, top)) {
    json one = json::array();
    for (const ranked& r : row) one.push_back({{"index", r.index}, {"score", r.score}});
    rows.push_back(std::move(one));
  }
  made["top"] = std::move(rows);
  return made;
}

void print_output(const named_value& output, const std::string& file, std::size_t top) {
  say("{}: {}\n", output.name, to_string(output.value.view()));
  const std::vector<std::vector<ranked>> rows = top_of(output.value.view(), top ? top : 1);
  for (std::size_t r = 0; top && r < rows.size(); ++r)
    for (const ranked& each : rows[r])
      say("  {}{:>6}  {:.6g}\n", rows.size() > 1 ? fmt::format("row {} ", r) : "", each.index, each.score);
  if (const extents& shape = output.value.view().shape; top && rows.size() == std::size_t(most_rows))
    if (const std::int64_t all = shape.count() / row_size(shape); all > most_rows) say("  ... of {} rows\n", all);
  if (!file.empty()) say("  written to {}\n", file);
}

status prepare_folder(const std::string& folder) {
  std::error_code error;
  if (!folder.empty() && (std::filesystem::create_directories(folder, error), error))
    return {status_code::fail, folder + ": " + error.message()};
  return {};
}

status report_outputs(const named_values& outputs, const runnable& loaded, const run_options_given& o, json& into) {
  if (status s = prepare_folder(o.output_dir); !s) return s;
  std::set<std::string> taken;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    result<std::string> file = std::string{};
    if (!o.output_dir.empty()) file = write_output(o.output_dir, outputs[i], loaded.outputs()[i], taken);
    if (!file) return file.error();
    if (o.common.json) into.push_back(describe(outputs[i], loaded.outputs()[i], *file, o.top));
    else print_output(outputs[i], *file, o.top);
  }
  return {};
}

json components_of(const pipeline& whole) {
  json made = json::array();
  for (std::size_t i = 0; i < whole.size(); ++i)
    made.push_back({{"component", whole.selected(i).component()},
                    {"variant", whole.selected(i).variant().name},
                    {"eps", whole.part(i).providers()}});
  return made;
}

json inputs_json(const std::vector<gathered_input>& inputs) {
  json made = json::array();
  for (const gathered_input& each : inputs) {
    const value& v = each.value.view();
    json one{{"name", each.name}, {"from", each.origin}};
    if (v.kind == value_kind::tensor) {
      one["type"] = detail::row_of(v.type).name;
      one["shape"] = std::vector<std::int64_t>(v.shape.begin(), v.shape.end());
    }
    made.push_back(std::move(one));
  }
  return made;
}

int run_model(const run_options_given& o) {
  interrupt::listen();
  clock::time_point start = clock::now();
  const result<runnable> loaded = runnable::load(o.model, o.component, o.common);
  if (!loaded) return fail(loaded.error());
  const double load_ms = ms_since(start);
  const result<std::vector<gathered_input>> inputs = gather_inputs(*loaded, o.inputs);
  if (!inputs) return fail(inputs.error());
  std::vector<named_input> named;
  for (const gathered_input& each : *inputs) named.emplace_back(each.name, each.value);
  if (!o.common.json && !o.common.quiet) report_pictures(*inputs);

  run_settings settings;
  settings.stop = interrupt::token();
  std::optional<trace_profile> profile;
  if (!o.profile.empty() && loaded->size() > 1)
    return fail({status_code::invalid_argument, "a profile is of one component; name it with --component"});
  if (!o.profile.empty()) {
    settings.observer = &profile.emplace(loaded->part(0)).observer();
    if (std::optional<machine_peak> peak = peak_for(loaded->part(0))) profile->set_peak(*std::move(peak));
  }
  start = clock::now();
  const result<named_values> outputs = loaded->run(named, settings);
  const double run_ms = ms_since(start);
  // The profile of a run that the user stopped has the steps until then.
  if (profile && (outputs || interrupt::happened()))
    if (const status s = profile->write(o.profile); !s) return fail(s);
  if (!outputs) return fail(outputs.error());

  json all = json::array();
  if (const status s = report_outputs(*outputs, *loaded, o, all); !s) return fail(s);
  if (!o.common.json) return 0;
  json report{{"model", o.model},
              {"eps", loaded->part(0).providers()},
              {"threads", loaded->part(0).thread_count()},
              {"load_ms", load_ms},
              {"run_us", run_ms * 1000},
              {"inputs", inputs_json(*inputs)},
              {"outputs", std::move(all)}};
  if (const pipeline* const whole = loaded->whole()) report["components"] = components_of(*whole);
  print_json(report);
  return 0;
}

}  // namespace

void add_run(command_line& app) {
  auto o = std::make_shared<run_options_given>();
  o->common.stoppable = true;
  const command it = app.add_command("run", "Runs a model once and prints its outputs");
  it.add("MODEL", o->model, model_words).required();
  it.group("Inputs").add_flag(
      "--random-inputs", o->inputs.random,
      "Random values for inputs that nothing else gives, such that the model runs: indices inside "
      "what they index, masks of ones; symbolic dims as in --dim");
  add_input_options(it, o->inputs);
  const command output = it.group("Output");
  output.add("--output-dir", o->output_dir, "Writes every output there, as .npy (sequences and such as .pb)")
      .type_name("DIR");
  output.add("--top", o->top, "Prints the K largest of each row, of the first 16, of each output; of [N,1000,1,1], too")
      .type_name("K")
      .range(std::size_t{1}, std::size_t{1000000});
  output.add("--profile", o->profile, "Writes a Chrome trace of the run (JSON; opens in Perfetto)").type_name("FILE");
  add_common_options(it, o->common, json_output::flag);
  add_policy_option(it, o->common);
  add_package_options(it, o->component, o->common);
  it.does([o] { return run_model(*o); });
}

}  // namespace cameo::program
