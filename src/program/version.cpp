#include "program/version.hpp"

#include "build/runtime.hpp"

#include <cameo/core/version.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cameo::program {
namespace {

constexpr const char* compiler =
#ifdef __clang__
    "clang " __clang_version__;
#else
    "g++ " __VERSION__;
#endif

}  // namespace

std::string version_text() {
  const build::runtime with;
  std::vector<std::string> providers;
  for (const provider& p : with.providers()) providers.push_back(fmt::format("{} ({})", p.row->name, p.row->long_name));
  std::string text = fmt::format("cameo {}\ncommit            {}\ncompiler          {}\nproviders         {}\n",
                                 CAMEO_VERSION, built_commit(), compiler, fmt::join(providers, ", "));
  for (const ep_device& d : with.devices([](const provider_row&, const status&) {}))
    for (const auto& [key, value] : d.device.metadata)
      if (key == "instruction_set" || key == "instruction_sets")
        text += fmt::format("{:<17} {} ({})\n", key == "instruction_set" ? "instruction set" : "instruction sets",
                            value, d.provider);
  text.pop_back();
  return text;
}

}  // namespace cameo::program
