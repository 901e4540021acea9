#include "bad_model.hpp"

#include <cameo/cameo.hpp>
#include <cameo/op/onnx.hpp>

using namespace cameo;
using namespace cameo::test;

namespace {

template <class T>
struct negated {
  static result<negated> bind(const bind_context&) { return negated{}; }
  status run(run_context& c) const {
    const tensor_view<const T> x = c.input<T>(0);
    const result<tensor_view<T>> y = c.output<T>(0, c.input(0).shape);
    if (!y) return y.error();
    for (std::int64_t i = 0; i < std::int64_t(x.size()); ++i) (*y)[i] = -x[i];
    return {};
  }
};

struct float_neg {
  static constexpr std::string_view name = "floats", long_name = "FloatsExecutionProvider";
  using kernels = kernel_list<kernel_entry<op::Neg, since<13>, constrain<"T", float>, negated>>;
};
struct double_neg {
  static constexpr std::string_view name = "doubles", long_name = "DoublesExecutionProvider";
  using kernels = kernel_list<kernel_entry<op::Neg, since<13>, constrain<"T", double>, negated>>;
};

/// The error of loading with two providers without a fallback, neither of which can run every operator.
status refused_by_both(const onnx::ModelProto& m) {
  const scratch_folder folder;
  return runtime<partial<float_neg, double_neg>>{}.load(folder.write(bad_name, m.SerializeAsString())).error();
}

onnx::ModelProto of_type(const char* op, int type) {
  onnx::ModelProto m = new_model();
  add_typed(*m.mutable_graph()->mutable_input(), "x", type);
  add_node(*m.mutable_graph(), op, {"x"}, {"y"}, "n");
  add_untyped_output(*m.mutable_graph(), "y");
  return m;
}

}  // namespace

TEST_CASE("types for which one of the providers has a kernel are accepted") {
  CHECK_REFUSED(refused_by_both(of_type("Neg", onnx::TensorProto::FLOAT)), status_code::ok);
  CHECK_REFUSED(refused_by_both(of_type("Neg", onnx::TensorProto::DOUBLE)), status_code::ok);
}

TEST_CASE("a type that no kernel takes is NOT_IMPLEMENTED with node, operator, the type and why, for each provider") {
  CHECK_REFUSED(refused_by_both(of_type("Neg", onnx::TensorProto::INT8)), status_code::not_implemented, bad_name, "'n'",
                "Neg", "floats", "doubles", "int8", "float", "double");
}

TEST_CASE("an operator that no provider has a kernel for is NOT_IMPLEMENTED with each provider's reason") {
  CHECK_REFUSED(refused_by_both(of_type("Abs", onnx::TensorProto::FLOAT)), status_code::not_implemented, bad_name,
                "'n'", "Abs", "floats", "doubles", "no kernel");
}

TEST_CASE("an older version of the operator than the kernels are for is NOT_IMPLEMENTED with the opset") {
  onnx::ModelProto m = of_type("Neg", onnx::TensorProto::FLOAT);
  m.mutable_opset_import(0)->set_version(7);
  CHECK_REFUSED(refused_by_both(m), status_code::not_implemented, bad_name, "'n'", "Neg", "floats", "doubles");
}

TEST_CASE("an operator whose function needs a missing kernel is named together with the node that failed") {
  CHECK_REFUSED(refused_by_both(of_type("Relu", onnx::TensorProto::INT8)), status_code::not_implemented, bad_name,
                "'n' (Relu", "'n/", "floats", "doubles");
}
