#pragma once
#include <cameo/core/memory.hpp>
#include <cameo/ep/provider.hpp>
#include <cameo/kernel/kernel_list.hpp>

namespace CAMEO_NAMESPACE {

namespace detail {
struct draft_node;  // plan/draft.hpp

/// The context_store hooks of a provider, with its type erased; `sources` is empty if it stores nothing. `begin` makes
/// the `builder`.
struct context_row {
  std::span<const context_source> sources;
  std::shared_ptr<void> (*begin)();
  bool can_be_weightless;  // store() takes `weightless`
  result<context_part> (*store)(const void* self, void* builder, const fused_view&, const compiled_node&,
                                bool weightless);
  status (*write)(const void* self, const void* builder, byte_sink);
  result<compiled_node> (*restore)(const void* self, const context_binary&, const context_node&);
  result<std::vector<std::string>> (*graphs)(const void* self, const context_binary&);
  std::string (*compatibility)(const void* self, std::span<const fused_view>);
  result<compiled_fit> (*fits)(const void* self, std::string_view written);
  status (*misfit)(const void* self, std::string_view written);            // ok: the framework composes the message
  bool (*identify)(const void* self, void* builder, std::string_view id);  // false: its contexts have no ids
  result<std::string> (*identity)(const void* self, const context_binary&);
  /// Returns an error for bytes that are not a context of this provider; ok if the provider has no hook that reads
  /// contexts.
  status (*recognize)(const void* self, const context_binary&);
};
}  // namespace detail

/// A provider with its type erased. No slot is null: where the provider has no such hook, the slot has a function with
/// the effect of its absence. `self` is the provider's object; spans and views are valid only during the call.
struct provider_row {
  std::string_view name, long_name;  // "cpu", "CPUExecutionProvider"
  bool is_fallback;
  data_layout layout;
  std::span<const op_row> own_ops;  // operators that it declares besides those of its kernels, sorted by id
  result<std::vector<node_group>> (*groups)(const void* self, const graph_view&);
  std::string (*why_not)(const void* self, const node_view&);
  bool (*takes)(const void* self, const node_view&);  // a single node, outside any group
  result<detail::bound_kernel> (*bind)(const void* self, const detail::draft_node&, const detail::node_signature&,
                                       bind_context&);
  result<std::vector<compiled_node>> (*compile)(const void* self, std::span<const fused_view>);
  memory_source (*memory)(const void* self);
  const detail::kernel_table& (*kernels)();                 // an empty table for a provider without kernels
  std::span<const transform_table* const> (*transforms)();  // for its own nodes, after partitioning
  detail::context_row contexts;
  provider_vendor vendor;
  result<std::vector<provider_device>> (*devices)(const void* self);  // empty for a provider without that hook
  std::span<const provider_option> options;
  /// The provider configured with these options; null for a provider that can't be configured and is used as it is.
  result<std::shared_ptr<const void>> (*configured)(const void* self, const provider_options&);
};
/// A type-erased provider: its functions and its object. Sessions that use the provider share the ownership of the
/// object.
struct provider {
  const provider_row* row;
  std::shared_ptr<const void> self;
};

namespace detail {
/// The devices of providers, in the order in which those were registered. A provider whose hook fails has no devices;
/// `failed`, if given, gets its row and the error (EP_FAIL when the hook throws).
CAMEO_API std::vector<ep_device> devices_of(std::span<const provider>,
                                            const callback<void(const provider_row&, const status&)>& failed = {});

/// True if a table has a kernel for a node: the operator, version and types match, and the kernel's `accepts`, if it
/// has one, returns true. Composes the reason for false only if `why` is not null.
CAMEO_API bool kernel_matches(const node_view&, const kernel_table&, std::string* why);
/// Binds a node to the kernel of a table that matches it.
CAMEO_API result<bound_kernel> bind_by_kernels(const kernel_table&, const detail::draft_node&,
                                               const detail::node_signature&, bind_context&);
/// Binds a node to a provider's hook `execute`; `self` is the provider.
CAMEO_API result<bound_kernel> bind_to_execute(const void* self,
                                               status (*execute)(const void* self, const step_view&, run_context&),
                                               const detail::draft_node&, bind_context&);
/// A table without rows, for providers without kernels.
CAMEO_API const kernel_table& no_kernels();

/// A separate group for each node that has no provider and for which `takes` returns true.
CAMEO_API std::vector<node_group> single_nodes(const graph_view&, function_ref<bool(const node_view&)> takes);

/// Calls a hook: a member function, or a static function of ep_traits that takes the object first.
template <class Hook, class P, class... Args>
decltype(auto) call_hook(Hook hook, const P& self, Args&&... args) {
  if constexpr (std::is_member_pointer_v<Hook>) return (self.*hook)(std::forward<Args>(args)...);
  else return hook(self, std::forward<Args>(args)...);
}

/// Calls a hook that can't report an error. An exception is dropped.
template <class Call>
void without_exceptions(Call&& call) noexcept {
#if __cpp_exceptions
  try {
    call();
  } catch (...) {}
#else
  call();
#endif
}

/// The hooks of P behind plain function pointers.
template <class P>
struct erased_hooks {
  using hooks = hooks_of<P>;
  static const P& as_provider(const void* object) { return *static_cast<const P*>(object); }

  static const kernel_table& kernels() {
    if constexpr (has_kernels<P>) return hooks::kernels::table;
    else return no_kernels();
  }
  static bool takes(const void* self, const node_view& node, std::string* why) {
    if constexpr (claims_nodes<P>) {
      if (!call_hook(&hooks::claims, as_provider(self), node)) {
        if (why) *why = " declines it";
        return false;
      }
    }
    if constexpr (has_kernels<P>) return kernel_matches(node, kernels(), why);
    else return static_cast<void>(self), static_cast<void>(node), true;
  }
  static bool takes_one(const void* self, const node_view& node) {
    if constexpr (claims_groups<P> && !has_kernels<P>) return false;
    else return takes(self, node, nullptr);
  }
  static result<std::vector<node_group>> groups(const void* self, const graph_view& g) {
    if constexpr (claims_groups<P>) {
      return call_hook(&hooks::groups, as_provider(self), g);
    } else {
      return single_nodes(g, [self](const node_view& node) { return takes(self, node, nullptr); });
    }
  }
  static std::string why_not(const void* self, const node_view& node) {
    if constexpr (claims_groups<P>) {
      return static_cast<void>(self), static_cast<void>(node), " has no group for it";
    } else {
      std::string why;
      return takes(self, node, &why) ? " runs it" : why;
    }
  }
  static result<bound_kernel> bind(const void* self, const detail::draft_node& node,
                                   const detail::node_signature& signature, bind_context& context) {
    if constexpr (executes<P>) {
      static_cast<void>(signature);
      return bind_to_execute(
          self,
          [](const void* object, const step_view& step, run_context& each) -> status {
            return call_hook(&hooks::execute, as_provider(object), step, each);
          },
          node, context);
    } else {
      if constexpr (configures_kernels<P>) call_hook(&hooks::before_bind, as_provider(self), context);
      else static_cast<void>(self);
      return bind_by_kernels(kernels(), node, signature, context);
    }
  }
  static result<std::vector<compiled_node>> compile(const void* self, std::span<const fused_view> groups) {
    if constexpr (compiler<P>) return call_hook(&hooks::compile, as_provider(self), groups);
    else return status{status_code::fail, "names groups to be fused, but has no `compile`"};
  }
  static memory_source memory(const void* self) {
    if constexpr (memory_provider<P>) {
      return {
          hooks::name,
          const_cast<void*>(self),
          [](void* object, std::size_t bytes, std::size_t alignment) noexcept -> void* {
            void* memory = nullptr;  // also where the hook throws
            without_exceptions([&] { memory = call_hook(&hooks::allocate, as_provider(object), bytes, alignment); });
            return memory;
          },
          [](void* object, void* memory, std::size_t bytes) noexcept {
            without_exceptions([&] { call_hook(&hooks::release, as_provider(object), memory, bytes); });
          },
          [](void* object, void* to, const void* from, std::size_t bytes) -> status {
            return call_hook(&hooks::copy_from_host, as_provider(object), to, from, bytes);
          },
          [](void* object, void* to, const void* from, std::size_t bytes) -> status {
            return call_hook(&hooks::copy_to_host, as_provider(object), to, from, bytes);
          }};
    } else {
      return static_cast<void>(self), heap_memory();
    }
  }
  static std::span<const transform_table* const> transforms() {
    if constexpr (rewriting_provider<P>) return hooks::transforms::tables();
    else return {};
  }
  static constexpr std::span<const context_source> sources() {
    if constexpr (context_store<P>) return hooks::sources;
    else return {};
  }
  static std::shared_ptr<void> begin_context() {
    if constexpr (context_store<P>) return std::make_shared<typename hooks::context_builder>();
    else return nullptr;
  }
  static result<context_part> store(const void* self, void* builder, const fused_view& group,
                                    const compiled_node& program, [[maybe_unused]] bool weightless) {
    if constexpr (weightless_store<P>)
      if (weightless)
        return call_hook(&hooks::store_weightless, as_provider(self),
                         *static_cast<typename hooks::context_builder*>(builder), group, program);
    if constexpr (context_store<P>)
      return call_hook(&hooks::store, as_provider(self), *static_cast<typename hooks::context_builder*>(builder), group,
                       program);
    else return status{status_code::not_implemented, "keeps no contexts"};
  }
  static status write_context(const void* self, const void* builder, byte_sink to) {
    if constexpr (context_store<P>)
      return call_hook(&hooks::write, as_provider(self), *static_cast<const typename hooks::context_builder*>(builder),
                       to);
    else return {status_code::not_implemented, "keeps no contexts"};
  }
  static result<compiled_node> restore(const void* self, const context_binary& binary, const context_node& node) {
    if constexpr (context_store<P>) return call_hook(&hooks::restore, as_provider(self), binary, node);
    else return status{status_code::not_implemented, "keeps no contexts"};
  }
  static result<std::vector<std::string>> graphs(const void* self, const context_binary& binary) {
    if constexpr (context_lister<P>) return call_hook(&hooks::graphs, as_provider(self), binary);
    else return std::vector<std::string>{};
  }
  static std::string compatibility(const void* self, std::span<const fused_view> groups) {
    if constexpr (compatibility_checker<P>) return call_hook(&hooks::compatibility, as_provider(self), groups);
    else return {};
  }
  static result<compiled_fit> fits(const void* self, std::string_view written) {
    if constexpr (compatibility_checker<P>) return call_hook(&hooks::fits, as_provider(self), written);
    else return compiled_fit::not_applicable;
  }
  static status misfit(const void* self, std::string_view written) {
    if constexpr (misfit_reporter<P>) return call_hook(&hooks::misfit, as_provider(self), written);
    else return {};
  }
  static bool identify(const void* self, void* builder, std::string_view id) {
    if constexpr (context_identifier<P>)
      call_hook(&hooks::identify, as_provider(self), *static_cast<typename hooks::context_builder*>(builder), id);
    return context_identifier<P>;
  }
  static result<std::string> identity(const void* self, const context_binary& binary) {
    if constexpr (context_identifier<P>) return call_hook(&hooks::identity, as_provider(self), binary);
    else return std::string{};
  }
  static status recognize(const void* self, const context_binary& binary) {
    if constexpr (context_lister<P>) {
      auto graphs = call_hook(&hooks::graphs, as_provider(self), binary);
      if (!graphs) return std::move(graphs).error();
      return graphs->empty() ? status_code::not_found : status_code::ok;
    } else if constexpr (context_identifier<P>) {
      auto id = call_hook(&hooks::identity, as_provider(self), binary);
      return id ? status{} : std::move(id).error();
    } else {
      return static_cast<void>(self), static_cast<void>(binary), status{};
    }
  }
  static constexpr provider_vendor vendor() {
    if constexpr (has_vendor<P>) return hooks::vendor;
    else return {};
  }
  static result<std::vector<provider_device>> devices(const void* self) {
    if constexpr (device_provider<P>) return call_hook(&hooks::devices, as_provider(self));
    else return std::vector<provider_device>{};
  }
  static constexpr std::span<const provider_option> options() {
    if constexpr (configurable_provider<P>) return hooks::options;
    else return {};
  }
  static result<std::shared_ptr<const void>> configured(const void* self, const provider_options& options) {
    if constexpr (configurable_provider<P>) {
      auto made = call_hook(&hooks::configured, as_provider(self), options);
      if (!made) return std::move(made).error();
      using configured_type = typename decltype(made)::value_type;
      if constexpr (std::is_same_v<configured_type, P>) {
        return std::shared_ptr<const void>{std::make_shared<const P>(std::move(*made))};
      } else {
        const auto copy = std::make_shared<P>(as_provider(self));
        static_cast<configured_type&>(*copy) = std::move(*made);
        return std::shared_ptr<const void>{copy};
      }
    } else {
      return static_cast<void>(self), static_cast<void>(options), std::shared_ptr<const void>{};
    }
  }
  static constexpr std::span<const op_row> own_ops() {
    if constexpr (has_operators<P>) return hooks::operators::rows;
    else return {};
  }
};

/// The row of P. It is named after the provider, not after a runtime's list, so that symbols stay short. It is a
/// constant, so that nothing runs before main.
template <class P>
inline constexpr provider_row provider_row_of{
    hooks_of<P>::name,
    hooks_of<P>::long_name,
    fallback_provider<P>,
    preferred_layout<P>(),
    erased_hooks<P>::own_ops(),
    erased_hooks<P>::groups,
    erased_hooks<P>::why_not,
    erased_hooks<P>::takes_one,
    erased_hooks<P>::bind,
    erased_hooks<P>::compile,
    erased_hooks<P>::memory,
    erased_hooks<P>::kernels,
    erased_hooks<P>::transforms,
    {erased_hooks<P>::sources(), erased_hooks<P>::begin_context, weightless_store<P>, erased_hooks<P>::store,
     erased_hooks<P>::write_context, erased_hooks<P>::restore, erased_hooks<P>::graphs, erased_hooks<P>::compatibility,
     erased_hooks<P>::fits, erased_hooks<P>::misfit, erased_hooks<P>::identify, erased_hooks<P>::identity,
     erased_hooks<P>::recognize},
    erased_hooks<P>::vendor(),
    erased_hooks<P>::devices,
    erased_hooks<P>::options(),
    erased_hooks<P>::configured};

/// The row of P. A provider that is compiled into a library declares an `extern template` of this function, and its
/// library instantiates it: then programs that list the provider do not compile its row again.
template <class P>
const provider_row& row_of() {
  return detail::provider_row_of<P>;
}
}  // namespace detail

}  // namespace CAMEO_NAMESPACE
