#include "bad_model.hpp"

#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>

#include <chrono>

namespace cameo::test {

result<session> load_file(const std::string& path, const session_options& options) {
  session_options with = options;
  with.threads = with.threads ? with.threads : 1;
  return runtime<eps::cpu>{}.load(path, with);
}

result<session> load_bytes(const std::string& bytes, const session_options& options) {
  const scratch_folder folder;
  return load_file(folder.write(bad_name, bytes), options);
}

any_value value_from(const onnx::TensorProto& t) {
  extents shape;
  for (std::int64_t d : t.dims()) shape.push_back(d);
  std::vector<std::string_view> views{t.string_data().begin(), t.string_data().end()};
  const void* const data =
      t.data_type() == onnx::TensorProto::STRING ? static_cast<const void*>(views.data()) : t.raw_data().data();
  return any_value::copy_of(value::tensor(dtype(t.data_type()), shape, data));
}

status run_error(const onnx::ModelProto& m, const std::vector<onnx::TensorProto>& inputs) {
  result<session> s = load(m);
  if (!s) return s.error();
  std::vector<any_value> values;
  for (const onnx::TensorProto& t : inputs) values.push_back(value_from(t));
  std::vector<named_input> given;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i].name().empty()) given.emplace_back(inputs[i].name(), values[i]);
  return s->run(given, {.timeout = std::chrono::seconds{10}}).error();
}

namespace {

std::size_t status_kb(std::string_view key) {
  std::ifstream in{"/proc/self/status"};
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(key)) return std::stoul(line.substr(key.size()));
  return 0;
}

}  // namespace

memory_peak::memory_peak() {
  std::ofstream{"/proc/self/clear_refs"}
      << "5";  // resets the peak; if that is not allowed, growth is measured from the old peak
  start_ = status_kb("VmHWM:");
}
std::size_t memory_peak::grown_kb() const {
  const std::size_t now =
      status_kb("VmHWM:");  // the kernel counts in batches, so that the value may be smaller than before
  return now > start_ ? now - start_ : 0;
}

}  // namespace cameo::test

using namespace cameo;
using namespace cameo::test;

TEST_CASE("the models that the tests of bad input change are valid before") {
  CHECK_REFUSED(run_error(add_model(), {floats("x", {32})}), status_code::ok);
  for (const given how : {given::as_constants, given::at_run_time}) {
    const std::vector<onnx::TensorProto> inputs{floats("a", {3, 4}), ints("b", {2, 6})};
    onnx::ModelProto m = one_node("Reshape", inputs, how);
    CHECK_REFUSED(run_error(m, how == given::at_run_time ? inputs : std::vector<onnx::TensorProto>{}), status_code::ok);
  }
  const std::vector<onnx::TensorProto> words{texts("a", {"x y"})};
  CHECK_REFUSED(run_error(one_node("Identity", words, given::at_run_time), words), status_code::ok);
}

TEST_CASE("the peak of memory is measured") {
  const memory_peak peak;
  std::vector<char> large(std::size_t{500} << 20, 'x');
  CHECK(large[large.size() / 2] == 'x');
  CHECK(peak.grown_kb() > allowed_kb);
}
