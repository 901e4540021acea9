#pragma once
#include <cameo/test_paths.hpp>

#include <filesystem>
#include <vector>

/// Models and inputs for tests of sessions.
namespace cameo::test {

inline const std::filesystem::path digits = std::filesystem::path{source_dir} / "examples/digits/digits.onnx";
inline const std::vector<float> three{1, 2, 3};

}  // namespace cameo::test
