#pragma once
#include <cameo/ep/provider_row.hpp>

namespace CAMEO_NAMESPACE {

/// A provider whose kernels pack constants in a layout that depends on the processor: `static std::string packing()`
/// identifies the layout, by the instruction set and the version of the packing. Data with another name is never read.
template <class P>
concept has_packing_name = requires {
  { detail::hooks_of<P>::packing() } -> std::convertible_to<std::string>;
};

/// Checks the provider whose plans are stored, with one error message for each requirement.
template <class Base>
struct frozen_check {
  static_assert(detail::named<Base> && has_kernels<Base>,
                "cameo: frozen<Base> keeps plans of kernels; Base needs `using kernels = kernel_list<...>`");
  static_assert(!compiler<Base> && !memory_provider<Base>,
                "cameo: frozen<Base> keeps plans of kernels in the host's memory; Base may neither compile groups nor "
                "have separate memory");
};

namespace eps {

/// A context that is being built: plans, and the weights that they use, without duplicates. Not thread-safe.
class frozen_context {
 public:
  CAMEO_API frozen_context();
  CAMEO_API ~frozen_context();
  frozen_context(const frozen_context&) = delete;
  frozen_context& operator=(const frozen_context&) = delete;
  struct impl;

 private:
  friend struct frozen_hooks;
  std::unique_ptr<impl> impl_;
};

/// The functions of frozen<...>, independent of the type of Base. The object refers to its arguments, and is made for
/// one call.
struct frozen_hooks {
  const provider_row& base;
  const void* self;                  // the base's object
  std::string packing;               // the layout of packed constants; see has_packing_name
  bool verify, copy, round_float16;  // see frozen<...>::options

  /// The convex groups of the nodes that the base runs and a container can hold.
  CAMEO_API result<std::vector<node_group>> groups(const graph_view&) const;
  /// Makes a plan for each group, optimized as in a session with only the base at level all.
  CAMEO_API result<std::vector<compiled_node>> compile(std::span<const fused_view>) const;
  /// Adds a plan. FAIL if the context has another plan with that name. `weightless`: constants that are equal in the
  /// plan and in the model stay in the model, the others are in the context, and kernels pack them when it is loaded.
  CAMEO_API result<context_part> store(frozen_context&, const fused_view&, const compiled_node&, bool weightless) const;
  /// Writes the whole container.
  CAMEO_API status write(const frozen_context&, byte_sink) const;
  /// Restores the plan of a node. Its weights refer to the binary. INVALID_GRAPH for a damaged container, and for one
  /// of another processor or version of cameo; NOT_FOUND if it lacks the plan.
  CAMEO_API result<compiled_node> restore(const context_binary&, const context_node&) const;
  /// Sets the id for the container's header.
  CAMEO_API static void identify(frozen_context&, std::string_view id);
  /// The id in the container's header; empty if it has none. Errors as of restore().
  CAMEO_API result<std::string> identity(const context_binary&) const;
  /// The names of the plans in a context. Errors as of restore().
  CAMEO_API result<std::vector<std::string>> graphs(const context_binary&) const;
  /// The version of cameo and the processor, as text.
  CAMEO_API std::string compatibility(std::span<const fused_view>) const;
  /// `optimal` if the text equals compatibility(), otherwise `unsupported`.
  CAMEO_API result<compiled_fit> fits(std::string_view written) const;
  /// The error for a model that does not fit: INVALID_GRAPH with `written` and the text of compatibility().
  CAMEO_API status misfit(std::string_view written) const;
};

/// Compiles the nodes that kernels of Base run to plans for this processor. A context contains the plans and the
/// constants as the kernels packed them, in one file that sessions and processes map and share. Loading a context reads
/// no weights, and neither packs nor optimizes. The outputs equal those of Base bit for bit. docs/frozen.md describes
/// the format. Base must come later in the list, for nodes with subgraphs: runtime<frozen<cpu>, cpu>. Thread-safe if
/// Base is.
///   INVALID_GRAPH  a context of another processor or version of cameo, with both in the message; a damaged context
template <class Base>
struct frozen {
  static_assert(sizeof(frozen_check<Base>));
  static constexpr std::string_view name = "frozen", long_name = "FrozenExecutionProvider";
  static constexpr provider_vendor vendor{"cameo"};
  static constexpr context_source sources[] = {{"FrozenExecutionProvider"}};
  using context_builder = frozen_context;
  static constexpr provider_option options[] = {
      {"verify", "0",
       "1: the weights of contexts are compared with their checksums when they are opened, which reads them all; so "
       "are "
       "those that weightless contexts leave in the model"},
      {"copy", "0",
       "1: contexts are copied to memory of the session instead of mapped: it costs the memory and the time to copy, "
       "and the file may be overwritten"},
      {"round_float16", "0",
       "1: plans are compiled as a session with session.round_float16 would; that key sets it, too"}};

  Base base = {};
  bool verify = false, copy = false, round_float16 = false;  // see options

  /// The base's devices, with packing() as their architecture: a plan runs on devices with an equal architecture. Only
  /// for a base that lists its devices.
  result<std::vector<provider_device>> devices() const
    requires device_provider<Base>
  {
    result<std::vector<provider_device>> all = detail::row_of<Base>().devices(&base);
    if (!all) return all;
    for (provider_device& each : *all) {
      each.options.clear();
      std::erase_if(each.metadata, [](const auto& said) { return said.first == "architecture"; });
      each.metadata.emplace_back("architecture", packing());
    }
    return all;
  }
  /// A copy with the options of a session.
  result<frozen> configured(const provider_options& wanted) const {
    return frozen{base, wanted["verify"] == "1", wanted["copy"] == "1", wanted["round_float16"] == "1"};
  }
  // The hooks of context_store and the concepts that build on it: see frozen_hooks.
  result<std::vector<node_group>> groups(const graph_view& g) const { return hooks().groups(g); }
  result<std::vector<compiled_node>> compile(std::span<const fused_view> all) const { return hooks().compile(all); }
  /// See frozen_hooks.
  result<context_part> store(frozen_context& to, const fused_view& group, const compiled_node& program) const {
    return hooks().store(to, group, program, false);
  }
  /// See frozen_hooks.
  result<context_part> store_weightless(frozen_context& to, const fused_view& group,
                                        const compiled_node& program) const {
    return hooks().store(to, group, program, true);
  }
  status write(const frozen_context& context, byte_sink to) const { return hooks().write(context, to); }
  /// See frozen_hooks.
  result<compiled_node> restore(const context_binary& from, const context_node& node) const {
    return hooks().restore(from, node);
  }
  void identify(frozen_context& context, std::string_view id) const { frozen_hooks::identify(context, id); }
  result<std::string> identity(const context_binary& from) const { return hooks().identity(from); }
  /// See frozen_hooks.
  result<std::vector<std::string>> graphs(const context_binary& from) const { return hooks().graphs(from); }
  std::string compatibility(std::span<const fused_view> all) const { return hooks().compatibility(all); }
  result<compiled_fit> fits(std::string_view written) const { return hooks().fits(written); }
  status misfit(std::string_view written) const { return hooks().misfit(written); }

 private:
  static std::string packing() {
    if constexpr (has_packing_name<Base>) return detail::hooks_of<Base>::packing();
    else return std::string{detail::row_of<Base>().name};
  }
  frozen_hooks hooks() const { return {detail::row_of<Base>(), &base, packing(), verify, copy, round_float16}; }
};

}  // namespace eps
}  // namespace CAMEO_NAMESPACE
