// expect: cameo: not an element type of ONNX
// naming: char
#include <cameo/cameo.hpp>

#ifdef CAMEO_MUST_FAIL
using wanted = char;
#else
using wanted = std::int8_t;
#endif
bool has_bytes(const cameo::named_values& outputs) { return bool(outputs.get<wanted>("y")); }
