#pragma once
#include <cameo/context/workspace.hpp>
#include <cameo/ep/provider_row.hpp>
#include <cameo/file/atomic_file.hpp>
#include <cameo/partition/partition.hpp>

namespace CAMEO_NAMESPACE {

struct shared_context;

/// What a compiled model is to be, and where its contexts go.
struct context_output {
  std::string folder;       // of files beside the model, with its last separator; empty: the current one
  std::string stem;         // of their names: "<stem>_<long name>.bin"; not empty unless they are embedded
  bool embed = false;       // inside the model; never with `shared`
  bool weightless = false;  // constants stay in the model, as far as providers leave them there
  /// Takes contexts instead of files; null: files.
  detail::callback<status(std::string_view name, std::span<const std::byte>)> write;
  file_batch* files = nullptr;                // gets the files that make() makes; null: the compiled_model's own
  const context_workspace* shared = nullptr;  // one context for several models; null: this model's own
  bool is_last = false;                       // of those several: the context is complete now
};

/// Turns a partitioned model into the compiled one, for a writer of its format, and back again by restore(): compiled
/// groups become EPContext nodes, imports and metadata get what those need, and initializers that only compiled groups
/// read are removed for good. Contexts in files exist once files() are committed. Errors are those of
/// the providers' hooks, with their names.
class compiled_model {
 public:
  static result<std::unique_ptr<compiled_model>> make(model&, std::vector<fused_node>&,
                                                      std::span<const compiled_node> programs,
                                                      std::span<const provider>, const context_output&);
  compiled_model(const compiled_model&) = delete;
  compiled_model& operator=(const compiled_model&) = delete;
  /// Restores the model as far as there is memory; only where restore() was not called, after an error.
  ~compiled_model();

  /// Makes the model what it was. Called once, at the end; throws std::bad_alloc.
  void restore();
  /// Compiled nodes in it; 0: nothing was compiled.
  std::size_t node_count() const { return before_.size(); }
  /// Contexts that become files, and what else is to be there with them or not at all.
  file_batch& files() { return *files_; }

 private:
  struct original {
    graph* in;
    node_id node;
    detail::graph_node as_it_was;
    std::vector<value_id> inputs;
  };
  compiled_model(model& m, file_batch* files)
      : model_{m}, imports_{m.imports}, metadata_{m.metadata}, files_{files ? files : &own_files_} {}
  status store(std::size_t p, std::vector<fused_node>&, std::span<const compiled_node>, const provider&,
               const context_output&);
  status keep_context(shared_context&, const context_output&);
  status finish_shared(const provider&, const context_output&);
  void become_node(const fused_node&, const shared_context&, const context_part&, bool is_main,
                   std::string_view context, bool embedded);
  void add_constants(const fused_node&, std::span<const value_id> of_body);
  void tell_fit(const provider&, std::span<const fused_view>);
  std::string_view keep(std::string words) { return texts_.emplace_back(std::move(words)); }

  model& model_;
  std::vector<opset_import> imports_;
  std::vector<detail::property> metadata_;
  std::vector<original> before_;
  bool is_restored_ = false;
  std::deque<std::string> texts_;  // of attributes and metadata
  file_batch own_files_;
  file_batch* files_;
};

/// The path of the context of the provider with this long name.
std::string context_path_of(const context_output&, std::string_view long_name);
/// Whether models before have a context of that provider's under way, whose file they named.
bool is_under_way(const context_workspace&, std::string_view long_name);

/// Called before any group is compiled. INVALID_ARGUMENT when earlier models that share contexts with this one are in
/// another folder: a node contains only the name of its context's file.
status require_one_folder(const context_output&, std::span<const provider>);

}  // namespace CAMEO_NAMESPACE
