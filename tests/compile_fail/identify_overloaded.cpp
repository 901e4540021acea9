// expect: cameo: the hook `identify` is private or overloaded
// naming: nameless_provider
#include "contexts.hpp"

struct nameless_provider : keeping {
  static constexpr std::string_view name = "nameless", long_name = "NamelessExecutionProvider";
  void identify(std::string& all, std::string_view id) const { all += id; }
#ifdef CAMEO_MUST_FAIL
  void identify(std::string& all) const { all += "unknown"; }
#endif
  cameo::result<std::string> identity(const cameo::context_binary&) const { return std::string{}; }
};
cameo::runtime<cameo::partial<nameless_provider>> runtime;
