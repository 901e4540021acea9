// expect: cameo: a provider that stores compiled contexts needs
// naming: forgetful_provider
#include <cameo/cameo.hpp>

#include <string>

struct forgetful_provider {
  static constexpr std::string_view name = "forgetful", long_name = "ForgetfulExecutionProvider";
  static constexpr cameo::context_source sources[] = {{"ForgetfulExecutionProvider"}};
  using context_builder = std::string;
  cameo::result<std::vector<cameo::node_group>> groups(const cameo::graph_view&) const {
    return std::vector<cameo::node_group>{};
  }
  cameo::result<std::vector<cameo::compiled_node>> compile(std::span<const cameo::fused_view>) const {
    return std::vector<cameo::compiled_node>{};
  }
  cameo::result<cameo::context_part> store(std::string&, const cameo::fused_view&, const cameo::compiled_node&) const {
    return cameo::context_part{};
  }
  cameo::status write(const std::string& all, cameo::byte_sink to) const { return to(std::as_bytes(std::span{all})); }
#ifndef CAMEO_MUST_FAIL
  cameo::result<cameo::compiled_node> restore(const cameo::context_binary&, const cameo::context_node&) const {
    return cameo::status_code::not_found;
  }
#endif
};
cameo::runtime<cameo::partial<forgetful_provider>> runtime;
