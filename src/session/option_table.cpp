#include "session/option_table.hpp"
#include "core/nearest.hpp"
#include "file/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <type_traits>

namespace CAMEO_NAMESPACE {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t end = 0; end != text.npos; text.remove_prefix(end == text.npos ? 0 : end + 1)) {
    end = text.find(separator);
    parts.push_back(text.substr(0, end));
  }
  return parts;
}

/// Returns INVALID_ARGUMENT with a message such as "needs a, b or c, not 'd'; did you mean 'c'?"
status wrong_word(std::string_view text, const std::vector<std::string_view>& words) {
  std::string all;
  for (std::size_t i = 0; i < words.size(); ++i)
    all += fmt::format("{}{}", i == 0 ? "" : i + 1 < words.size() ? ", " : " or ", words[i]);
  return failed(status_code::invalid_argument, "needs {}, not '{}'{}", all, text, did_you_mean(text, words));
}

template <class T>
bool read_number(std::string_view text, T& to) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  return error == std::errc{} && end == text.data() + text.size();
}

template <std::size_t most>
status read(std::string_view text, std::string_view, std::size_t& to) {
  std::size_t number = 0;
  if (read_number(text, number) && number <= most) return to = number, status{};
  return failed(status_code::invalid_argument, "needs a number from 0{}, not '{}'",
                most < std::numeric_limits<std::size_t>::max() ? fmt::format(" to {}", most) : "", text);
}

/// A word of a fixed set, which lists the words of all enumerators in their order, and then perhaps their numbers.
template <std::size_t, class E>
  requires std::is_enum_v<E>
status read(std::string_view text, std::string_view value, E& to) {
  const std::vector<std::string_view> words = split(value, '|');
  auto number = std::size_t(std::ranges::find(words, text) - words.begin());
  if (number == words.size()) return wrong_word(text, words);
  // The number of the last level is not its index.
  if (!read_number(text, number) && std::is_same_v<E, optimization_level> && number == 4) return to = E{99}, status{};
  return to = E(number), status{};
}

template <std::size_t>
status read(std::string_view text, std::string_view, std::string& to) {
  return to = text, status{};
}

template <std::size_t>
status read(std::string_view text, std::string_view value, std::vector<std::string>& to) {
  for (const std::string_view name : split(text, ',')) {
    if (name.empty()) return failed(status_code::invalid_argument, "needs {}, not '{}'", value, text);
    to.emplace_back(name);
  }
  return {};
}

template <std::size_t>
status read(std::string_view text, std::string_view value, detail::text_pairs& to) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos || equals == 0)
    return failed(status_code::invalid_argument, "needs {}, not '{}'", value, text);
  return to.emplace_back(text.substr(0, equals), text.substr(equals + 1)), status{};
}

/// "a=1,b=2". An '=' ends a name only if a number and then a comma or the end follow it, because names of dims may hold
/// both signs.
template <std::size_t>
status read(std::string_view text, std::string_view value, std::vector<std::pair<std::string, std::int64_t>>& to) {
  std::string_view rest = text;
  for (std::size_t equals = rest.find('='); equals != rest.npos;) {
    const std::size_t end = std::min(rest.find(',', equals), rest.size());
    std::int64_t size = -1;
    if (equals == 0 || !read_number(rest.substr(equals + 1, end - equals - 1), size) || size < 0) {
      equals = rest.find('=', equals + 1);
      continue;
    }
    to.emplace_back(rest.substr(0, equals), size);
    if (end == rest.size()) return {};
    rest.remove_prefix(end + 1), equals = rest.find('=');
  }
  return failed(status_code::invalid_argument, "needs {} with N from 0, not '{}'", value, text);
}

template <std::size_t>
status read(std::string_view text, std::string_view, detail::device_delegate& to) {
  const result<device_policy> policy = detail::device_policy_named(text);
  if (!policy) return status{policy.error()};
  auto made = detail::delegate_of(*policy);
  if (!made) return std::move(made).error();
  return to = std::move(*made), status{};
}

template <class T>
constexpr bool is_list = false;
template <class T>
constexpr bool is_list<std::vector<T>> = true;

/// The row of a member. `most` is the largest number that it takes.
template <auto member, std::size_t most = std::numeric_limits<std::size_t>::max()>
constexpr option_row option(std::string_view name, std::string_view flag, std::string_view value,
                            std::string_view initial, std::string_view words) {
  using type = std::remove_reference_t<decltype(std::declval<session_options>().*member)>;
  return {name, flag, value, initial, words, is_list<type>, [](auto& options, auto text, auto form) {
            return read<most>(text, form, options.*member);
          }};
}

using o = session_options;
constexpr option_row rows[] = {
    option<&o::providers>("providers", "--ep", "NAME,...", "",
                          "Execution providers, by short or long name, in order of priority; without any the fallback"),
    option<&o::choose_devices>(
        "policy", "--policy",
        "default|prefer_cpu|prefer_npu|prefer_gpu|max_performance|max_efficiency|min_overall_power", "",
        "Chooses providers by their devices; excludes providers"),
    option<&o::threads, 1024>("threads", "--threads", "N", "0",
                              "Threads of a run, the caller's included; 0: as many as cpuset and CPU quota allow")
        .with_key(config_key<"session.intra_op_num_threads">, "N"),
    option<&o::execution>("parallel", "--parallel", "0|1", "0",
                          "Whether nodes that are independent of each other run at once")
        .with_key(config_key<"session.execution_mode">, "sequential|parallel"),
    option<&o::optimize>("optimize", "--optimize", "none|basic|extended|layout|all|0|1|2|3|99", "all",
                         "How far the graph is rewritten")
        .with_key(config_key<"session.graph_optimization_level">,
                  "disable_all|enable_basic|enable_extended|enable_layout|enable_all|0|1|2|3|99"),
    option<&o::memory_limit>("memory_limit", "--memory-limit", "BYTES", "0",
                             "Memory for the values of one run, in bytes; 0: the machine's memory"),
    option<&o::free_dims>("free_dims", "--free-dim", "NAME=N,...", "",
                          "Sizes of symbolic dims of the inputs, by name; the model is planned for them"),
    option<&o::free_dims_by_denotation>("free_dims_by_denotation", "--free-dim-by-denotation", "NAME=N,...", "",
                                        "Sizes of symbolic dims of the inputs, by denotation, such as DATA_BATCH"),
    option<&o::external_data_folder>("external_data_folder", "--external-data-folder", "FOLDER", "",
                                     "Folder of the external data; without it the model's folder")
        .with_key(config_key<"session.model_external_initializers_file_folder_path">, "FOLDER"),
    option<&o::config>("config", "--config", "KEY=VALUE", "",
                       "An entry of the session's configuration, with ONNX Runtime's names (docs/session_keys.md)"),
    option<&o::log_from>("log_level", "--log", "verbose|info|warning|0|1|2", "info",
                         "Least severity of messages; Python, the program and Triton begin with warning"),
};

}  // namespace

std::string_view option_row::shown_value() const {
  return value.substr(0, is_switch() ? value.npos : value.find("|0|"));
}

std::span<const option_row> option_rows() { return rows; }

result<const option_row*> option_named(std::string_view name) {
  if (const auto* const row = std::ranges::find(rows, name, &option_row::name); row != std::end(rows)) return row;
  std::vector<std::string_view> names;
  for (const option_row& row : rows) names.push_back(row.name);
  return failed(status_code::invalid_argument, "there is no option '{}'{}; docs/options.md lists the options", name,
                did_you_mean(name, names));
}

status set_option(session_options& options, std::string_view name, std::string_view text) {
  if (name.find('.') != name.npos) return options.config.emplace_back(name, text), status{};
  const result<const option_row*> row = option_named(name);
  status set = row ? (*row)->set(options, text) : status{row.error()};
  return set || !row ? set : std::move(set).in(name);
}

std::string option_page() {
  const auto quoted = [](std::string_view text) {
    return text.empty() ? std::string{} : fmt::format("`{}`", fmt::join(split(text, '|'), "`, `"));
  };
  std::string page = "| Option | Program | Value | Default | Session key | Meaning |\n|---|---|---|---|---|---|\n";
  for (const option_row& row : rows)
    page += fmt::format("| `{}` | `{}` | {} | {} | {} | {} |\n", row.name, row.flag, quoted(row.shown_value()),
                        quoted(row.initial), quoted(row.key), row.words);
  return page;
}

}  // namespace CAMEO_NAMESPACE
