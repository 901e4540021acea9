#pragma once
#include <cameo/context/workspace.hpp>
#include <cameo/ep/provider_row.hpp>
#include <cameo/file/atomic_file.hpp>
#include <cameo/partition/partition.hpp>

namespace CAMEO_NAMESPACE {

struct shared_context;

/// Options for the contexts of a compiled model.
struct context_output {
  std::string folder;       // of the context files, with its last separator; empty: the current folder
  std::string stem;         // of their names, "<stem>_<long name>.bin"; may be empty if contexts are embedded
  bool embed = false;       // contexts are inside the model; never set with `shared`
  bool weightless = false;  // constants stay in the model if the provider can leave them outside its contexts
  /// Receives contexts, which are then not written to files; null: files are written.
  detail::callback<status(std::string_view name, std::span<const std::byte>)> write;
  file_batch* files = nullptr;                // receives the written files; null: compiled_model::files()
  const context_workspace* shared = nullptr;  // has the context that several models share; null: it is not shared
  bool is_last = false;                       // this is the last of these models, so that the context is complete
};

/// Converts a partitioned model to the compiled model, so that a format can write it, and back again by restore().
/// Compiled groups become EPContext nodes, for which imports and metadata are added; initializers that only compiled
/// groups read are removed permanently. Context files exist after files() is committed. Errors are those of the
/// providers' hooks, preceded by the provider's name.
class compiled_model {
 public:
  static result<std::unique_ptr<compiled_model>> make(model&, std::vector<fused_node>&,
                                                      std::span<const compiled_node> programs,
                                                      std::span<const provider>, const context_output&);
  compiled_model(const compiled_model&) = delete;
  compiled_model& operator=(const compiled_model&) = delete;
  /// Restores the model if restore() was not called, as after an error. If memory runs out, the model stays incomplete.
  ~compiled_model();

  /// Restores the partitioned model. Must be called once, after writing. Throws std::bad_alloc.
  void restore();
  /// The number of compiled nodes; 0: nothing was compiled.
  std::size_t node_count() const { return originals_.size(); }
  /// The context files. Files added to this batch appear together with them or not at all.
  file_batch& files() { return *files_; }

 private:
  /// A node before it became an EPContext node.
  struct original {
    graph* in;
    node_id node;
    detail::graph_node contents;
    std::vector<value_id> inputs;
  };
  compiled_model(model& m, file_batch* files)
      : model_{m}, imports_{m.imports}, metadata_{m.metadata}, files_{files ? files : &own_files_} {}
  status store(std::size_t p, std::vector<fused_node>&, std::span<const compiled_node>, const provider&,
               const context_output&);
  status store_groups(shared_context&, const provider&, std::span<const fused_node>, std::span<const compiled_node>,
                      std::span<const std::size_t> numbers, const context_output&, std::vector<context_part>&);
  status keep_context(shared_context&, const context_output&);
  status finish_shared(const provider&, const context_output&);
  void become_node(const fused_node&, const shared_context&, const context_part&, bool is_main,
                   std::string_view context, bool embedded);
  void add_constants(const fused_node&, std::span<const value_id> of_body);
  void add_compatibility(const provider&, std::span<const fused_view>);
  std::string_view keep(std::string words) { return texts_.emplace_back(std::move(words)); }

  model& model_;
  std::vector<opset_import> imports_;
  std::vector<detail::property> metadata_;
  std::vector<original> originals_;
  bool is_restored_ = false;
  std::deque<std::string> texts_;  // owns the texts of attributes and metadata
  file_batch own_files_;
  file_batch* files_;
};

/// The path of the context of the provider with this long name.
std::string context_path_of(const context_output&, std::string_view long_name);
/// True if earlier models share an unwritten context of that provider, whose path they chose.
bool is_under_way(const context_workspace&, std::string_view long_name);

/// Checks that earlier models that share contexts with this one are in the same folder, because a node contains only
/// the file name of its context. INVALID_ARGUMENT if not. It is called before any group is compiled.
status require_one_folder(const context_output&, std::span<const provider>);

}  // namespace CAMEO_NAMESPACE
