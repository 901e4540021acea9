#pragma once
#include <cameo/core/status.hpp>

#include <charconv>
#include <cstdint>
#include <string>

CAMEO_BEGIN_NAMESPACE

/// The text by which messages identify a node. The only function for it, for all layers.
struct node_words {
  std::string_view name, domain, op_type;
  std::string_view output = {};  // its first one: names a node that has no name
  std::int64_t opset = 0;        // 0: not worth saying

  /// "node 'conv1' (Conv)", "the node that makes 'y' (com.acme.Conv, opset 2)": part by part, to put(std::string_view).
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

CAMEO_END_NAMESPACE
