#pragma once
#include <cameo/cameo.hpp>

#include <string>

/// The hooks of a provider that compiles groups.
struct compiling {
  cameo::result<std::vector<cameo::node_group>> groups(const cameo::graph_view&) const {
    return std::vector<cameo::node_group>{};
  }
  cameo::result<std::vector<cameo::compiled_node>> compile(std::span<const cameo::fused_view>) const {
    return std::vector<cameo::compiled_node>{};
  }
};
/// The hooks of a provider that compiles groups and stores compiled contexts.
struct keeping : compiling {
  static constexpr cameo::context_source sources[] = {{"NamelessExecutionProvider"}};
  using context_builder = std::string;
  cameo::result<cameo::context_part> store(std::string&, const cameo::fused_view&, const cameo::compiled_node&) const {
    return cameo::context_part{};
  }
  cameo::status write(const std::string& all, cameo::byte_sink to) const { return to(std::as_bytes(std::span{all})); }
  cameo::result<cameo::compiled_node> restore(const cameo::context_binary&, const cameo::context_node&) const {
    return cameo::status_code::not_found;
  }
};
