#pragma once
#include <cameo/core/status.hpp>

#include <charconv>
#include <cstdint>
#include <string>

namespace CAMEO_NAMESPACE {

/// The text by which messages identify a node, in all layers.
struct node_words {
  std::string_view name, domain, op_type;
  std::string_view output = {};  // the first output: identifies a node without a name
  std::int64_t opset = 0;        // 0: left out

  /// Calls put(std::string_view) with the parts of the text: "node 'conv1' (Conv)", or without a name "the node that
  /// makes 'y' (com.acme.Conv, opset 2)".
  template <class Put>
  void say(Put&& put) const {
    if constexpr (!status::has_words) return;
    if (name.empty() && output.empty()) {
      put("a node without a name");
    } else {
      put(name.empty() ? "the node that makes '" : "node '");
      put(name.empty() ? output : name);
      put("'");
    }
    put(" (");
    if (!domain.empty()) put(domain), put(".");
    put(op_type);
    if (opset > 0) {
      char digits[20];
      put(", opset ");
      put({digits, std::size_t(std::to_chars(digits, digits + sizeof digits, opset).ptr - digits)});
    }
    put(")");
  }
  std::string text() const {
    std::string all;
    say([&](std::string_view part) { all += part; });
    return all;
  }
};

}  // namespace CAMEO_NAMESPACE
