#pragma once
#include <cameo/ep/provider_row.hpp>
#include <cameo/run/runner.hpp>
#include <cameo/session/any_value.hpp>
#include <cameo/session/options.hpp>

namespace cameo::inline CAMEO_ABI {

class session;

/// An input or output of a model, with the dims that are known before a run.
struct io_info {
  std::string name;
  value_type type;
  bool optional = false;  // an input with a default (an initializer of the same name)
  std::string type_text;  // "tensor(float)[batch,3,224,224]"
};

/// An input of one run; borrows name and value, which are read until the run ends and never changed. In host memory.
struct named_input {
  std::string_view name;
  value input;
  named_input(std::string_view n, const value& v) : name{n}, input{v} {}
  named_input(std::string_view n, const any_value& v) : name{n}, input{v.view()} {}
};

/// Where a node runs and, where asked, why not earlier in the list. Providers by their short names.
struct placement_info {
  std::string node, domain, op_type, provider;
  std::int64_t opset = 0;
  std::size_t depth = 0;              // 0: the main graph; in a subgraph more
  std::string fused_from;             // for a fused node: the operators in it
  std::vector<std::string> refusals;  // "npu has no kernel for it", one per earlier provider
};

/// A runner of a session with its inputs and outputs bound to memory: running it again copies nothing and, from the
/// second run on, allocates nothing. One run at a time; different bindings run at once. The session outlives it.
class io_binding {
 public:
  io_binding(io_binding&&) noexcept;
  io_binding& operator=(io_binding&&) noexcept;
  ~io_binding();

  /// The value's memory is read in every run until it is bound anew; it must live so long, and its elements may change
  /// between runs. INVALID_ARGUMENT as session::run.
  status bind_input(std::string_view name, const value&);
  /// Runs write here: room for shape.count() elements of the output's type in the caller's memory, until it is bound
  /// anew (`{}`: the binding's own memory again). A smaller output is fine and output() tells its shape; a run whose
  /// output is larger ends with INVALID_ARGUMENT. INVALID_ARGUMENT for an unknown name, another type, or strings.
  status bind_output(std::string_view name, const value&);
  /// The output's value of the last run; in the caller's memory, or in the binding's own until the next run. `i` is
  /// below output_count(); null for a name that the model does not have.
  const value& output(std::size_t i) const;
  const value* output(std::string_view name) const;
  std::size_t output_count() const;
  /// Bytes for values in between.
  std::size_t arena_bytes() const;

 private:
  friend class session;
  struct impl;
  explicit io_binding(std::unique_ptr<impl>);
  std::unique_ptr<impl> impl_;
};

/// What a session is made of, without types: providers by priority, formats it reads, transforms it applies before
/// partitioning. Borrowed while loading.
struct session_parts {
  std::span<const provider> providers;
  std::span<const format_row> formats;
  std::span<const transform_table* const> transforms = {};
};

/// A model ready to run. Thread-safe: run() from any number of threads.
class session {
 public:
  session(session&&) noexcept;
  session& operator=(session&&) noexcept;
  ~session();

  /// In the model's order, without initializers that a caller may not replace.
  const std::vector<io_info>& inputs() const;
  const std::vector<io_info>& outputs() const;

  /// One run; all outputs, copied, in the model's order.
  ///   INVALID_ARGUMENT             an input is missing, unknown, given twice, or of another type, rank or size than
  ///                                the model says; the words name it. Also what kernels say of their data
  ///   CANCELED, DEADLINE_EXCEEDED  as the settings ask
  ///   OUT_OF_MEMORY                memory or session_options::memory_limit is used up
  ///   EP_FAIL                      a kernel or a provider threw
  result<named_values> run(std::initializer_list<named_input> inputs, const run_settings& settings = {}) const {
    return run(std::span<const named_input>{inputs.begin(), inputs.size()}, settings);
  }
  result<named_values> run(std::span<const named_input> inputs, const run_settings& = {}) const;

  /// A runner of one's own. OUT_OF_MEMORY when its memory can't be had.
  result<io_binding> bind() const;
  /// One run of it; errors as above. INVALID_ARGUMENT when the binding is another session's.
  status run(io_binding&, const run_settings& = {}) const;

  /// Every node that runs, in order.
  std::vector<placement_info> placements(bool with_refusals = false) const;
  /// Nodes and copies between memory kinds in the main graph's plan.
  std::size_t step_count() const;
  /// Threads that a run may use, the caller's included.
  std::size_t thread_count() const;
  /// Names of the providers in use, in order of priority.
  std::vector<std::string> providers() const;
  /// Bytes of values with known shapes that a run needs.
  std::size_t fixed_bytes() const;
  /// The model as it was partitioned. Lives as long as the session.
  const model& graph() const;
  /// The graph that a fused node of graph() stands for; null for other nodes. Lives as long as the session.
  const cameo::graph* fused_body(const graph_node&) const;
  /// Lives as long as the session.
  const plan_view& plan() const;
  /// Which transforms changed the graph while it was loaded.
  const transform_log& rewrites() const;

  /// For runtime<...>; see there.
  static result<session> load(const session_parts&, const std::string& path, const session_options&);
  static result<session> load(const session_parts&, std::span<const std::byte> bytes, std::string_view name,
                              const session_options&);
  static result<session> load(const session_parts&, std::unique_ptr<model>, const session_options&);

  struct impl;

 private:
  explicit session(std::unique_ptr<impl>);
  static result<session> finish(result<std::unique_ptr<impl>> loaded);
  std::unique_ptr<impl> impl_;
};

/// Prints "CODE: words" to standard error and returns 1, so that main can `return report(...)`.
int report(const status&);
/// Prints every value, shortened, and returns 0.
int print(const named_values&);

}  // namespace cameo::inline CAMEO_ABI
