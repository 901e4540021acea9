// ONNX Runtime's worker for bench/peers/run, with default options and IO binding as in onnxruntime_worker.py. It is
// written in C++ because the overhead of Python would count for models that take only microseconds.
//
//   bench_peers_onnxruntime LIBRARY MODEL FOLDER THREADS [PLUGIN PROVIDER]
//
// LIBRARY is the path of libonnxruntime.so, FOLDER has the inputs (bench/raw_inputs.hpp). With PLUGIN, a library with
// an execution provider of the name PROVIDER, ONNX Runtime passes the graph to it without optimizations, and later runs
// write their outputs to the memory of the first run's outputs.
#include "../raw_inputs.hpp"
#include "onnxruntime_api.hpp"
#include "worker.hpp"

#include <cstdlib>
#include <memory>

namespace {

namespace ort = peers::ort;

/// Loads ONNX Runtime and calls its functions.
class library {
 public:
  cameo::status open(const char* path, std::uint32_t version) {
    void* const opened = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!opened) return failed(::dlerror());
    using entry = const ort::api_base*();
    auto* const base = reinterpret_cast<entry*>(::dlsym(opened, ort::entry_point));
    table_ = base ? base()->table(version) : nullptr;
    return table_ ? cameo::status{}
                  : failed("the library is too old: it does not have the version of the C API that this program uses");
  }
  static cameo::status failed(std::string words) { return {cameo::status_code::fail, std::move(words)}; }

  /// Calls a function that cannot fail.
  template <class F, class... Args>
  auto get(Args... args) const {
    return at<F>()(args...);
  }
  /// Calls a function that returns a status.
  template <class F, class... Args>
  cameo::status call(Args... args) const {
    ort::status* const error = at<F>()(args...);
    if (!error) return {};
    std::string words = get<ort::get_error_message>(static_cast<const ort::status*>(error));
    get<ort::release_status>(error);
    return failed(std::move(words));
  }

 private:
  template <class F>
  typename F::type* at() const {
    return reinterpret_cast<typename F::type*>(const_cast<void*>(table_[F::place]));
  }
  const void* const* table_ = nullptr;
};

class contender {
 public:
  contender(const library& api, std::string model, const std::string& folder)
      : api_{api}, model_{std::move(model)}, inputs_{bench::read_inputs(folder)} {}
  ~contender() {
    release_outputs();
    if (binding_) api_.get<ort::release_binding>(binding_);
    for (ort::value* each : tensors_) api_.get<ort::release_value>(each);
    session_.reset();
    if (memory_) api_.get<ort::release_memory_info>(memory_);
    if (options_) api_.get<ort::release_options>(options_);
    if (environment_) api_.get<ort::release_environment>(environment_);
  }
  contender(const contender&) = delete;
  contender& operator=(const contender&) = delete;

  cameo::status open(int threads) {
    cameo::status s = api_.call<ort::create_environment>(ort::log_errors, "bench", &environment_);
    if (s) s = api_.call<ort::create_options>(&options_);
    if (s) s = api_.call<ort::set_log_severity>(options_, ort::log_errors);
    if (s) s = api_.call<ort::set_intra_op_threads>(options_, threads);
    if (s) s = api_.call<ort::set_inter_op_threads>(options_, 1);
    if (s) s = api_.call<ort::create_cpu_memory_info>(ort::device_allocator, ort::default_memory, &memory_);
    if (s) s = api_.call<ort::default_allocator>(&allocator_);
    return s;
  }

  /// Registers a plugin; sessions that are created afterwards use its provider.
  cameo::status add(const char* plugin, std::string_view provider) {
    const ort::ep_device* const* all = nullptr;
    std::size_t count = 0;
    cameo::status s = api_.call<ort::register_plugin>(environment_, "bench", plugin);
    if (s) s = api_.call<ort::ep_devices>(environment_, &all, &count);
    if (!s) return s;
    const auto is_its = [&](const ort::ep_device* each) { return api_.get<ort::ep_name>(each) == provider; };
    const ort::ep_device* const* const found = std::find_if(all, all + count, is_its);
    if (found == all + count) return library::failed("the plugin does not have the provider " + std::string{provider});
    keeps_outputs_ = true;
    s = api_.call<ort::set_optimization>(options_, ort::no_optimization);
    if (s) s = api_.call<ort::append_devices>(options_, environment_, found, 1, nullptr, nullptr, 0);
    return s;
  }

  struct release {
    const library* api;
    void operator()(ort::session* made) const { api->get<ort::release_session>(made); }
  };
  using session_type = std::unique_ptr<ort::session, release>;

  cameo::result<session_type> create() const {
    ort::session* made = nullptr;
    if (cameo::status s = api_.call<ort::create_session>(environment_, model_.c_str(), options_, &made); !s) return s;
    return session_type{made, release{&api_}};
  }
  void keep(session_type made) { session_ = std::move(made); }

  cameo::status first() {
    cameo::status s = api_.call<ort::create_binding>(session_.get(), &binding_);
    for (bench::input& each : inputs_) {
      ort::value*& tensor = tensors_.emplace_back();
      const int type = int(each.type);  // cameo and ONNX Runtime both use ONNX's numbers
      if (s)
        s = api_.call<ort::create_tensor>(memory_, each.bytes.data(), each.bytes.size(), each.shape.begin(),
                                          each.shape.rank(), type, &tensor);
      if (s) s = api_.call<ort::bind_input>(binding_, each.name.c_str(), tensor);
    }
    std::size_t count = 0;
    if (s) s = api_.call<ort::output_count>(session_.get(), &count);
    for (std::size_t i = 0; s && i < count; ++i) {
      char* name = nullptr;
      if (s = api_.call<ort::output_name>(session_.get(), i, allocator_, &name); !s) break;
      names_.emplace_back(name);
      s = api_.call<ort::bind_output_to_device>(binding_, name, memory_);
      if (s) s = api_.call<ort::free_allocated>(allocator_, name);
    }
    if (s) s = run();
    return s && keeps_outputs_ ? keep_outputs() : s;
  }
  cameo::status run() const { return api_.call<ort::run_with_binding>(session_.get(), nullptr, binding_); }

  cameo::result<std::vector<peers::output>> outputs() {
    release_outputs();
    if (cameo::status s = api_.call<ort::bound_outputs>(binding_, allocator_, &outputs_, &output_count_); !s) return s;
    std::vector<peers::output> all;
    for (std::size_t i = 0; i < output_count_; ++i) {
      peers::output& each = all.emplace_back();
      if (cameo::status s = describe(outputs_[i], each); !s) return s;
      each.name = names_[i];
    }
    return all;
  }

 private:
  cameo::status describe(ort::value* tensor, peers::output& into) const {
    ort::type_and_shape* shape = nullptr;
    if (cameo::status s = api_.call<ort::shape_of>(tensor, &shape); !s) return s;
    int type = 0;
    std::size_t rank = 0;
    void* data = nullptr;
    cameo::status s = api_.call<ort::element_type>(shape, &type);
    if (s) s = api_.call<ort::rank>(shape, &rank);
    into.dims.resize(rank);
    if (s) s = api_.call<ort::dims>(shape, into.dims.data(), rank);
    api_.get<ort::release_shape>(shape);
    if (s) s = api_.call<ort::tensor_data>(tensor, &data);
    into.type = cameo::dtype(type), into.data = data;
    into.bytes = cameo::value::tensor(into.type, cameo::extents{into.dims}, data).bytes();
    return s;
  }
  /// Binds the outputs of the first run, so that later runs write to the same memory.
  cameo::status keep_outputs() {
    cameo::status s = api_.call<ort::bound_outputs>(binding_, allocator_, &outputs_, &output_count_);
    for (std::size_t i = 0; s && i < output_count_; ++i)
      s = api_.call<ort::bind_output>(binding_, names_[i].c_str(), outputs_[i]);
    return s;
  }
  void release_outputs() {
    for (std::size_t i = 0; i < output_count_; ++i) api_.get<ort::release_value>(outputs_[i]);
    if (outputs_) static_cast<void>(api_.call<ort::free_allocated>(allocator_, outputs_));
    outputs_ = nullptr, output_count_ = 0;
  }

  const library& api_;
  std::string model_;
  std::vector<bench::input> inputs_;
  ort::environment* environment_ = nullptr;
  ort::options* options_ = nullptr;
  ort::memory_info* memory_ = nullptr;
  ort::allocator* allocator_ = nullptr;  // belongs to the library
  session_type session_;
  ort::binding* binding_ = nullptr;
  std::vector<ort::value*> tensors_;
  std::vector<std::string> names_;
  ort::value** outputs_ = nullptr;
  std::size_t output_count_ = 0;
  bool keeps_outputs_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5 && argc != 7) {
    std::fprintf(stderr, "usage: bench_peers_onnxruntime LIBRARY MODEL FOLDER THREADS [PLUGIN PROVIDER]\n");
    return 2;
  }
  ::setenv("ORT_DISABLE_TELEMETRY", "1", 1);  // must be set before the library is loaded
  library loaded;
  const std::uint32_t version = argc == 7 ? ort::version_with_plugins : ort::version;
  if (const cameo::status s = loaded.open(argv[1], version); !s) return cameo::report(s);
  contender mine{loaded, argv[2], argv[3]};
  if (const cameo::status s = mine.open(std::stoi(argv[4])); !s) return cameo::report(s);
  if (argc == 7)
    if (const cameo::status s = mine.add(argv[5], argv[6]); !s) return cameo::report(s);
  return peers::worker{mine}.serve();
}
