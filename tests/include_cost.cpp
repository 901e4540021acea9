// A user's file that includes cameo and defines a provider. CI prints the seconds that it takes to compile.
#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>
#include <cameo/op/onnx.hpp>

namespace {

template <class T>
struct negate {
  static cameo::result<negate> bind(cameo::bind_context&) { return negate{}; }
  cameo::status run(cameo::run_context& c) const {
    const cameo::tensor_view<const T> x = c.input<T>(0);
    cameo::result<cameo::tensor_view<T>> y = c.output<T>(0, x.shape());
    if (!y) return y.error();
    for (std::int64_t i = 0; i < x.count(); ++i) (*y)[i] = -x[i];
    return cameo::status_code::ok;
  }
};

struct my_npu {
  static constexpr std::string_view name = "my_npu", long_name = "MyNpuExecutionProvider";
  using kernels = cameo::kernel_list<
      cameo::kernel_entry<cameo::op::Neg, cameo::since<13>, cameo::constrain<"T", float, double>, negate>>;
};

}  // namespace

int run_model(const std::string& path, const cameo::any_value& image);
int run_model(const std::string& path, const cameo::any_value& image) {
  auto session = cameo::runtime<my_npu, cameo::eps::cpu>{}.load(path);
  if (!session) return cameo::report(session.error());
  auto outputs = session->run({{"image", image}});
  return outputs ? cameo::print(*outputs) : cameo::report(outputs.error());
}
