// A program whose runtime reads .ort files only: a script checks which libraries it is linked with. It runs a model
// with inputs of zeros and prints the number of outputs.
#include <cameo/eps/cpu.hpp>
#include <cameo/format/ort.hpp>
#include <cameo/session/runtime.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  using namespace cameo;
  if (argc != 2) return 2;
  const runtime<formats<ort_format>, eps::cpu> reads_ort;
  const result<session> s = reads_ort.load(std::string{argv[1]});
  if (!s) return std::fprintf(stderr, "%s\n", std::string{s.error().words()}.c_str()), 1;
  std::vector<any_value> zeros;
  std::vector<named_input> inputs;
  for (const io_info& input : s->inputs()) {
    extents shape;
    for (dim d : *input.type.shape) shape.push_back(d.known() ? d.size : 1);
    const value of{value_kind::tensor, input.type.type, 0, shape};
    const std::vector<std::max_align_t> bytes(of.bytes() / sizeof(std::max_align_t) + 1);
    zeros.push_back(any_value::copy_of(value::tensor(input.type.type, shape, bytes.data())));
  }
  for (std::size_t i = 0; i < zeros.size(); ++i) inputs.emplace_back(s->inputs()[i].name, zeros[i]);
  const result<named_values> made = s->run(inputs);
  if (!made) return std::fprintf(stderr, "%s\n", std::string{made.error().words()}.c_str()), 1;
  std::printf("%zu outputs\n", std::size(*made));
  return 0;
}
