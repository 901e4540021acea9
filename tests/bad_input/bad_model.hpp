#pragma once
// Makes invalid models in memory, writes them to a file and loads them as a user would, with
// runtime<eps::cpu>{}.load(path). Functions that are not inline are in bad_model_test.cpp.
#include <cameo/session/session.hpp>

#include "format/onnx_messages.hpp"
#include "processor_time.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <limits>

namespace cameo::test {

/// The name of the files that `load` writes, which messages must contain.
inline constexpr const char* bad_name = "bad.onnx";

/// Loads a file on cpu.
result<session> load_file(const std::string& path, const session_options& = {});
/// Writes the bytes to bad.onnx in a temporary folder, loads it, and removes the folder.
result<session> load_bytes(const std::string& bytes, const session_options& = {});
inline result<session> load(const onnx::ModelProto& m) { return load_bytes(m.SerializeAsString()); }
inline status load_error(const onnx::ModelProto& m) { return load(m).error(); }

/// A value for a run with the type, dims and raw_data (or string_data) of a message.
any_value value_from(const onnx::TensorProto&);

/// Loads a model and runs it for at most a second. Returns the first error, or ok.
status run_error(const onnx::ModelProto& m, const std::vector<onnx::TensorProto>& inputs = {});

/// Measures how much the process's peak of resident memory has grown since the object was created.
class memory_peak {
 public:
  memory_peak();
  std::size_t grown_kb() const;

 private:
  std::size_t start_;
};
/// The allowed growth of memory, in KiB, while bad input is refused: more than tests and sanitizers vary, but far less
/// than hostile sizes.
inline constexpr std::size_t allowed_kb = 400 << 10;

inline std::string shown(const status& s) { return std::string{s.name()} + ": " + std::string{s.words()}; }

/// Checks the code of an error, and that its message contains every one of the given words.
#define CHECK_REFUSED(refusal, expected, ...)                                          \
  do {                                                                                 \
    const ::cameo::status refused_ = (refusal);                                        \
    INFO(::cameo::test::shown(refused_));                                              \
    CHECK(refused_.code() == (expected));                                              \
    for (const std::string& word_ : std::initializer_list<std::string>{__VA_ARGS__}) { \
      INFO("must say: ", word_);                                                       \
      CHECK(::cameo::test::says(refused_, word_));                                     \
    }                                                                                  \
  } while (false)

inline constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                              most = std::numeric_limits<std::int64_t>::max();

template <class T>
std::string raw(std::initializer_list<T> elements) {
  return {reinterpret_cast<const char*>(elements.begin()), elements.size() * sizeof(T)};
}
inline onnx::TensorProto ints(const std::string& name, std::vector<std::int64_t> elements) {
  return tensor_message(name, onnx::TensorProto::INT64, {std::int64_t(elements.size())},
                        {reinterpret_cast<const char*>(elements.data()), 8 * elements.size()});
}
inline onnx::TensorProto int_scalar(const std::string& name, std::int64_t element) {
  onnx::TensorProto t = ints(name, {element});
  t.clear_dims();
  return t;
}
inline onnx::TensorProto truth(const std::string& name, bool element) {
  return tensor_message(name, onnx::TensorProto::BOOL, {}, std::string(1, char(element)));
}
/// A tensor of float zeros.
inline onnx::TensorProto floats(const std::string& name, std::vector<std::int64_t> dims) {
  std::size_t count = 1;
  for (std::int64_t d : dims) count *= std::size_t(d);
  return tensor_message(name, onnx::TensorProto::FLOAT, std::move(dims), std::string(4 * count, '\0'));
}
inline onnx::TensorProto texts(const std::string& name, std::vector<std::string> elements) {
  onnx::TensorProto t;
  t.set_name(name);
  t.set_data_type(onnx::TensorProto::STRING);
  t.add_dims(std::int64_t(elements.size()));
  for (std::string& each : elements) t.add_string_data(std::move(each));
  return t;
}

/// Adds a graph input or output of a type; without dims, it has no shape.
inline onnx::ValueInfoProto& add_typed(google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>& to,
                                       const std::string& name, int type) {
  auto& v = *to.Add();
  v.set_name(name);
  v.mutable_type()->mutable_tensor_type()->set_elem_type(type);
  return v;
}
inline void add_untyped_output(onnx::GraphProto& g, const std::string& name) { g.add_output()->set_name(name); }

inline onnx::AttributeProto& add_attribute(onnx::NodeProto& n, const char* name,
                                           onnx::AttributeProto::AttributeType type) {
  auto& a = *n.add_attribute();
  a.set_name(name);
  a.set_type(type);
  return a;
}
inline void set(onnx::NodeProto& n, const char* name, std::int64_t i) {
  add_attribute(n, name, onnx::AttributeProto::INT).set_i(i);
}
inline void set(onnx::NodeProto& n, const char* name, int i) { set(n, name, std::int64_t{i}); }
inline void set(onnx::NodeProto& n, const char* name, float f) {
  add_attribute(n, name, onnx::AttributeProto::FLOAT).set_f(f);
}
inline void set(onnx::NodeProto& n, const char* name, const char* s) {
  add_attribute(n, name, onnx::AttributeProto::STRING).set_s(s);
}
inline void set(onnx::NodeProto& n, const char* name, std::vector<std::int64_t> numbers) {
  auto& a = add_attribute(n, name, onnx::AttributeProto::INTS);
  for (std::int64_t i : numbers) a.add_ints(i);
}
inline void set(onnx::NodeProto& n, const char* name, const onnx::TensorProto& t) {
  *add_attribute(n, name, onnx::AttributeProto::TENSOR).mutable_t() = t;
}
inline void set(onnx::NodeProto& n, const char* name, const onnx::GraphProto& g) {
  *add_attribute(n, name, onnx::AttributeProto::GRAPH).mutable_g() = g;
}

/// Whether the inputs of a one-node model (node 'n', output y; an input "" is omitted) are constants, or graph inputs
/// of unknown rank, so that nothing is refused before the run.
enum class given { as_constants, at_run_time };
inline onnx::ModelProto one_node(const std::string& op, const std::vector<onnx::TensorProto>& inputs, given how,
                                 int outputs = 1) {
  onnx::ModelProto m = new_model();
  auto& g = *m.mutable_graph();
  auto& n = add_node(g, op, {}, {}, "n");
  for (int i = 0; i < outputs; ++i) n.add_output(i ? "y" + std::to_string(i) : std::string{"y"});
  for (const onnx::TensorProto& t : inputs) {
    n.add_input(t.name());
    if (t.name().empty()) continue;
    if (how == given::as_constants) *g.add_initializer() = t;
    else add_typed(*g.mutable_input(), t.name(), t.data_type());
  }
  for (const std::string& o : n.output()) add_untyped_output(g, o);
  return m;
}

}  // namespace cameo::test
