#pragma once
#include <cameo/file/file_bytes.hpp>
#include <cameo/graph/graph.hpp>
#include <cameo/graph/model_pointer.hpp>
#include <cameo/os/heap_arena.hpp>

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace CAMEO_NAMESPACE {

/// An imported opset of a model or a function.
struct opset_import {
  std::string_view domain;  // "" for ONNX's domain
  std::int64_t version;
};

/// A model-local function, or an operator's function body. Attributes in its body may refer to the caller's attributes.
struct function {
  std::string_view domain, name, overload, doc_string;
  std::span<const std::string_view> attribute_names;  // the attributes without a default
  std::span<const attribute> attribute_defaults;
  std::span<const opset_import> imports;
  std::span<const detail::property> metadata;
  std::string_view unknown;  // see model::unknown
  std::unique_ptr<graph> body;
};

/// An operator in one of its versions.
struct versioned_op {
  const op_row* op;
  const op_version* version;
};

/// A model: its graphs and all that they refer to. The file that it was read from stays mapped. Not thread-safe.
class model {
 public:
  CAMEO_API model();
  CAMEO_API ~model();
  model(const model&) = delete;
  model& operator=(const model&) = delete;

  detail::heap_arena memory;  // texts, attributes, constants that are not in a mapped file
  std::int64_t ir_version = 0, model_version = 0;
  std::string_view producer_name, producer_version, domain, doc_string;
  std::vector<opset_import> imports;
  std::vector<detail::property> metadata;
  std::vector<std::string> symbols{"?"};  // names of dim symbols; symbol 0 means no symbol
  std::deque<function> functions;         // the model's local functions
  std::vector<std::shared_ptr<const detail::file_bytes>> files;
  std::string path;                        // the file that it was read from; empty for bytes
  std::vector<std::string> warnings;       // what the reader left out or corrected, for a log
  std::uint64_t most_memory = 1ull << 33;  // limit of `memory` in bytes; a sparse constant that would pass it is not
                                           // made dense
  std::vector<versioned_op> to_come;       // operators that rewrites may add later; ORT files describe these, too
  /// The fields of the file that cameo does not interpret: the bytes of a message of the same kind with only these
  /// fields, for a writer of the same format. Values, nodes, attributes, graphs and functions have such a member, too.
  std::string_view unknown;

  graph& main() const { return *main_; }
  /// Adds a graph that the model owns, for a node's attribute.
  CAMEO_API graph& add_graph(graph* outer);
  /// Stores a type for the lifetime of the model.
  CAMEO_API const value_type* keep(value_type);
  /// The opset that the model imports for a domain; 0 if it imports none.
  CAMEO_API std::int64_t opset(std::string_view domain) const;
  /// The number of the symbol with this name; equal names get the same number.
  CAMEO_API std::uint32_t symbol(std::string_view name);
  /// A new symbol, different from all others, without a name in the file.
  CAMEO_API std::uint32_t fresh_symbol();
  /// A new symbol with the name of an existing one. symbol() still returns the existing one for that name.
  CAMEO_API std::uint32_t another_symbol(std::uint32_t existing);
  /// The local function that a node calls, or null.
  CAMEO_API const function* find_function(std::string_view domain, std::string_view name,
                                          std::string_view overload) const;

 private:
  struct tables;
  std::unique_ptr<tables> tables_;
  std::unique_ptr<graph> main_;
};

}  // namespace CAMEO_NAMESPACE
