// The rows of src/session/option_table.cpp: what they accept, and docs/options.md.
#include "../../src/session/option_table.hpp"
#include "../../src/session/config.hpp"

#include <doctest/doctest.h>
#include <cameo/test_paths.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace option_table_test {
namespace {

using namespace cameo;

std::string document(std::string_view name) {
  std::ifstream file{std::string{test::source_dir} + "/docs/" + std::string{name}};
  return {std::istreambuf_iterator<char>{file}, {}};
}

/// The options with one text; a failure of the test if it is refused.
session_options options_with(std::string_view name, std::string_view text) {
  session_options made;
  const status done = set_option(made, name, text);
  CAPTURE(done.words());
  CHECK(done);
  return made;
}

std::string refusal(std::string_view name, std::string_view text) {
  session_options made;
  const status done = set_option(made, name, text);
  CHECK(done.code() == status_code::invalid_argument);
  return std::string{done.words()};
}

/// The options that a session key sets, or the words of the error.
std::string key_error(session_options& options, std::string_view key, std::string_view text) {
  options.config.emplace_back(key, text);
  const auto config = session_config::make(options);
  if (!config) return std::string{config.error().words()};
  const status done = config->apply_to(options);
  return std::string{done.words()};
}

using sizes = std::vector<std::pair<std::string, std::int64_t>>;

}  // namespace

TEST_CASE("docs/options.md has the table of session options, as `cameo options` prints it") {
  const std::string page = document("options.md"), table = option_page();
  const std::size_t start = page.find(table.substr(0, table.find('\n')));
  REQUIRE(start != std::string::npos);
  CHECK(page.substr(start) == table);
}

TEST_CASE("an option is set by its name") {
  CHECK(options_with("threads", "3").threads == 3);
  CHECK(options_with("memory_limit", "1048576").memory_limit == 1048576);
  CHECK(options_with("parallel", "1").execution == execution_mode::parallel);
  CHECK(options_with("optimize", "layout").optimize == optimization_level::layout);
  CHECK(options_with("optimize", "99").optimize == optimization_level::all);
  CHECK(options_with("log_level", "verbose").log_from == log_level::verbose);
  CHECK(options_with("log_level", "2").log_from == log_level::warning);
  CHECK(options_with("external_data_folder", "there").external_data_folder == "there");
  CHECK(options_with("providers", "frozen,cpu").providers == std::vector<std::string>{"frozen", "cpu"});
  CHECK(options_with("policy", "prefer_npu").choose_devices);
  CHECK(options_with("config", "a.b=c=d").config == detail::text_pairs{{"a.b", "c=d"}});
  CHECK(options_with("session.strict", "1").config == detail::text_pairs{{"session.strict", "1"}});
  CHECK(options_with("free_dims", "batch=2,sequence=128").free_dims == sizes{{"batch", 2}, {"sequence", 128}});
  CHECK(options_with("free_dims", "max(a,b=1)=2,c=0").free_dims == sizes{{"max(a,b=1)", 2}, {"c", 0}});
  CHECK(options_with("free_dims_by_denotation", "DATA_BATCH=2").free_dims_by_denotation == sizes{{"DATA_BATCH", 2}});
}

TEST_CASE("an option that is repeatable keeps its earlier values, and another only the last one") {
  session_options made;
  for (const auto& [name, text] :
       {std::pair{"free_dims", "a=1"}, {"threads", "2"}, {"free_dims", "b=2"}, {"threads", "3"}})
    CHECK(set_option(made, name, text));
  CHECK(made.free_dims == sizes{{"a", 1}, {"b", 2}});
  CHECK(made.threads == 3);
}

TEST_CASE("a value that an option does not accept is refused with its name and what is right") {
  CHECK(refusal("threads", "1025") == "threads: needs a number from 0 to 1024, not '1025'");
  for (const char* const text : {"", "-1", "1.5", " 1", "1 ", "two", "99999999999999999999"})
    CHECK(refusal("memory_limit", text) == "memory_limit: needs a number from 0, not '" + std::string{text} + "'");
  CHECK(refusal("parallel", "yes") == "parallel: needs 0 or 1, not 'yes'");
  CHECK(refusal("log_level", "warnings") ==
        "log_level: needs verbose, info, warning, 0, 1 or 2, not 'warnings'; did you mean 'warning'?");
  CHECK(refusal("policy", "prefer_gpuu").find("did you mean 'prefer_gpu'?") != std::string::npos);
  CHECK(refusal("providers", "cpu,") == "providers: needs NAME,..., not 'cpu,'");
  CHECK(refusal("config", "a.b") == "config: needs KEY=VALUE, not 'a.b'");
  for (const char* const text : {"", "a", "=1", "a=", "a=-1", "a=x", "a=1,", "a=1,b"})
    CHECK(refusal("free_dims", text) == "free_dims: needs NAME=N,... with N from 0, not '" + std::string{text} + "'");
  CHECK(refusal("memory_limits", "1") ==
        "there is no option 'memory_limits'; did you mean 'memory_limit'?; docs/options.md lists the options");
}

TEST_CASE("a session key sets the member of its option, by its own words only, and overrides it") {
  session_options options;
  options.threads = 5, options.external_data_folder = "here";
  CHECK(key_error(options, "session.intra_op_num_threads", "2").empty());
  CHECK(key_error(options, "session.execution_mode", "parallel").empty());
  CHECK(key_error(options, "session.graph_optimization_level", "enable_basic").empty());
  CHECK(key_error(options, "session.model_external_initializers_file_folder_path", "there").empty());
  CHECK(options.threads == 2);
  CHECK(options.execution == execution_mode::parallel);
  CHECK(options.optimize == optimization_level::basic);
  CHECK(options.external_data_folder == "there");
  for (const auto& [key, text] : {std::pair{"session.intra_op_num_threads", "1025"},
                                  {"session.execution_mode", "1"},
                                  {"session.graph_optimization_level", "none"}}) {
    const std::string name = key;  // clang 14 captures no structured bindings
    CAPTURE(name);
    session_options fresh;
    CHECK(key_error(fresh, name, text).starts_with("session key '" + name + "': needs "));
  }
}

TEST_CASE("the table states the defaults of session_options, and has each name and flag once") {
  const session_options fresh;
  for (const option_row& row : option_rows()) {
    CAPTURE(row.name);
    CHECK(!row.words.empty());
    CHECK(row.name.find('.') == std::string_view::npos);  // a name with a dot is a session key
    CHECK(std::ranges::count(option_rows(), row.name, &option_row::name) == 1);
    CHECK(std::ranges::count(option_rows(), row.flag, &option_row::flag) == 1);
    CHECK(row.flag.starts_with("--"));
    if (row.initial.empty()) continue;
    const session_options set = options_with(row.name, row.initial);
    CHECK(set.threads == fresh.threads);
    CHECK(set.memory_limit == fresh.memory_limit);
    CHECK(set.execution == fresh.execution);
    CHECK(set.optimize == fresh.optimize);
    CHECK(set.log_from == fresh.log_from);
  }
  const auto policy = option_named("policy");
  REQUIRE(policy);
  for (std::string_view rest = (*policy)->value; !rest.empty();) {
    const std::size_t end = std::min(rest.find('|'), rest.size());
    CHECK(options_with("policy", rest.substr(0, end)).choose_devices);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

}  // namespace option_table_test
