#pragma once
#include <cameo/format/onnx.hpp>
#include <cameo/session/session.hpp>
#include <cameo/transform/rules/standard.hpp>

#include <array>
#include <tuple>

namespace cameo::inline CAMEO_ABI {

template <class P, class... All>
struct once_check {
  static_assert(((std::string_view{hooks_of<P>::name} == hooks_of<All>::name) + ...) == 1,
                "cameo: this provider, or another with its name, is listed twice");
};
template <class Last>
struct last_check {
  static_assert(fallback_provider<Last>,
                "cameo: the last provider of a runtime must be a fallback (`using role = cameo::fallback;`); "
                "if it need not run every operator, write runtime<partial<...>>");
};

/// Providers in order of priority, without a promise that they can run everything.
template <class... Ps>
struct partial {};

/// The formats that load() reads unless it is told others.
using default_formats = format_list<onnx_format>;
/// The transforms that load() applies before partitioning unless it is told others (transform_set<...>, with the
/// standard ones or without). Providers bring those that come after.
using default_transforms = standard_transforms;

template <class... Ps>
class runtime;

/// A runtime is exactly its list: what is not named here is not in the program. Cheap; sessions share its providers and
/// may outlive it.
template <class... Ps>
class runtime<partial<Ps...>> {
  static_assert(sizeof...(Ps) > 0, "cameo: a runtime needs at least one provider");
  static_assert((sizeof(provider_check<Ps>) && ... && true));
  static_assert((sizeof(once_check<Ps, Ps...>) && ... && true));

 public:
  runtime() = default;
  /// With provider objects that have been configured.
  explicit runtime(Ps... objects) requires(sizeof...(Ps) > 0)
      : objects_{std::make_shared<std::tuple<Ps...>>(std::move(objects)...)} {}

  /// Reads, checks, partitions and plans a model; see session_options for what can be chosen. Sessions share the
  /// provider objects. Thread-safe where the providers' hooks are. Errors start with the file's name:
  ///   NO_SUCHFILE, INVALID_PROTOBUF, INVALID_ARGUMENT, INVALID_GRAPH  what is wrong with the file or the options
  ///   NOT_IMPLEMENTED                                   a node that no provider takes, with each one's reason
  ///   FAIL, EP_FAIL, MODEL_REQUIRES_COMPILATION         what is wrong with a provider or its claims
  ///   OUT_OF_MEMORY, MODEL_LOAD_CANCELED                as the options ask
  template <class Formats = default_formats, class Transforms = default_transforms>
  result<session> load(const std::string& path, const session_options& options = {}) const {
    const auto mine = providers();
    return session::load({mine, Formats::rows, Transforms::tables()}, path, options);
  }
  /// From memory, which must outlive the session: weights are not copied.
  template <class Formats = default_formats, class Transforms = default_transforms>
  result<session> load(std::span<const std::byte> bytes, const session_options& options = {},
                       std::string_view name = "model") const {
    const auto mine = providers();
    return session::load({mine, Formats::rows, Transforms::tables()}, bytes, name, options);
  }
  /// A graph that was built or changed in memory.
  template <class Formats = default_formats, class Transforms = default_transforms>
  result<session> load(std::unique_ptr<model> graph, const session_options& options = {}) const {
    const auto mine = providers();
    return session::load({mine, Formats::rows, Transforms::tables()}, std::move(graph), options);
  }

  /// Rows and objects in order of priority.
  std::array<provider, sizeof...(Ps)> providers() const {
    return {provider{&provider_row_of<Ps>, {objects_, &std::get<Ps>(*objects_)}}...};
  }

 private:
  std::shared_ptr<std::tuple<Ps...>> objects_ = std::make_shared<std::tuple<Ps...>>();
};

template <class... Ps>
class runtime : public runtime<partial<Ps...>> {
  static_assert(sizeof...(Ps) > 0, "cameo: a runtime needs at least one provider");
  static_assert(sizeof(last_check<std::tuple_element_t<sizeof...(Ps) - 1, std::tuple<Ps...>>>));

 public:
  using runtime<partial<Ps...>>::runtime;
};
/// runtime{my_npu{settings}, cameo::eps::cpu{}}
template <class... Ps>
runtime(Ps...) -> runtime<Ps...>;

}  // namespace cameo::inline CAMEO_ABI
