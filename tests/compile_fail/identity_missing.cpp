// expect: cameo: a provider whose contexts have ids needs both `void identify.context_builder&, std::string_view
// naming: nameless_provider
#include "contexts.hpp"

struct nameless_provider : keeping {
  static constexpr std::string_view name = "nameless", long_name = "NamelessExecutionProvider";
  void identify(std::string& all, std::string_view id) const { all += id; }
#ifndef CAMEO_MUST_FAIL
  cameo::result<std::string> identity(const cameo::context_binary&) const { return std::string{}; }
#endif
};
cameo::runtime<cameo::partial<nameless_provider>> runtime;
