#include "program/command_line.hpp"

#include <CLI/CLI.hpp>

namespace cameo::program {

option option::required() const { return option{it_->required()}; }
option option::type_name(const char* name) const { return option{it_->type_name(name)}; }
option option::description(const char* words) const { return option{it_->description(words)}; }
option option::check(text_check wrong) const { return option{it_->check(std::move(wrong))}; }
option option::between(std::size_t least, std::size_t most) const {
  return option{it_->check(CLI::Range(least, most))};
}
option option::between(double least, double most) const { return option{it_->check(CLI::Range(least, most))}; }
option option::needs(option other) const { return option{it_->needs(other.it_)}; }
option option::excludes(option other) const { return option{it_->excludes(other.it_)}; }

command command::add_command(const char* name, const char* words) const {
  it_->require_subcommand(1);
  return {*it_->add_subcommand(name, words), *chosen_};
}

option command::add(const char* names, std::string& to, const char* words) const {
  return option{it_->add_option(names, to, words)};
}
option command::add(const char* names, std::optional<std::string>& to, const char* words) const {
  return option{it_->add_option(names, to, words)};
}
option command::add(const char* names, std::vector<std::string>& to, const char* words) const {
  return option{it_->add_option(names, to, words)};
}
option command::add(const char* names, std::size_t& to, const char* words) const {
  return option{it_->add_option(names, to, words)};
}
option command::add(const char* names, double& to, const char* words) const {
  return option{it_->add_option(names, to, words)};
}
option command::add_flag(const char* names, bool& to, const char* words) const {
  return option{it_->add_flag(names, to, words)};
}

option command::add(const char* names, std::function<void(const std::string&)> take, const char* words) const {
  return option{it_->add_option_function<std::string>(names, take, words)};
}

option command::add_each(const char* names, std::function<void(const std::string&)> take, const char* words) const {
  const auto take_all = [take = std::move(take)](const std::vector<std::string>& all) {
    for (const std::string& each : all) take(each);
  };
  CLI::Option* const made = it_->add_option_function<std::vector<std::string>>(names, take_all, words);
  return option{made->expected(1)->allow_extra_args(false)->take_all()};
}

option command::operator[](const char* name) const { return option{it_->get_option(name)}; }
void command::remove(const char* name) const { it_->remove_option(it_->get_option(name)); }

void command::does(std::function<int()> what) const {
  it_->callback([what = std::move(what), chosen = chosen_] { *chosen = what; });
}

struct command_line::impl {
  CLI::App app;
  std::function<int()> chosen;
};

command_line::command_line(const char* words, const char* version, const char* footer)
    : impl_{new impl{CLI::App{words, "cameo"}, {}}} {
  impl_->app.set_version_flag("--version", version);
  impl_->app.require_subcommand(1);
  impl_->app.footer(footer);
}
command_line::~command_line() = default;

command command_line::add_command(const char* name, const char* words) const {
  return {*impl_->app.add_subcommand(name, words), impl_->chosen};
}

int command_line::run(int argc, char** argv) const {
  try {
    impl_->app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return impl_->app.exit(e) == 0 ? 0 : 2;  // --help and --version are no errors
  }
  return impl_->chosen();
}

}  // namespace cameo::program
