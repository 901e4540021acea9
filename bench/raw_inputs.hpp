#pragma once
// Reads the inputs of a model from a folder that bench/peers/raw_inputs.py wrote. Its file inputs.txt has a line for
// each input: name, type, dims (separated by commas) and file, separated by tabs. The file has the elements in native
// byte order.
#include <cameo/core/dtype.hpp>
#include <cameo/core/extents.hpp>

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace bench {

struct input {
  std::string name;
  cameo::dtype type = cameo::dtype::undefined;
  cameo::extents shape;
  std::vector<char> bytes;
};

inline std::vector<input> read_inputs(const std::string& folder) {
  std::vector<input> inputs;
  std::ifstream list{folder + "/inputs.txt"};
  for (std::string line; std::getline(list, line);) {
    std::istringstream words{line};
    std::string type, dims, file;
    input each;
    std::getline(words, each.name, '\t') && std::getline(words, type, '\t') && std::getline(words, dims, '\t') &&
        std::getline(words, file, '\t');
    each.type = cameo::detail::dtype_named(type);
    std::istringstream sizes{dims};
    for (std::string dim; std::getline(sizes, dim, ',');) each.shape.push_back(std::stoll(dim));
    std::ifstream from{folder + "/" + file, std::ios::binary};
    each.bytes.assign(std::istreambuf_iterator<char>{from}, {});
    inputs.push_back(std::move(each));
  }
  return inputs;
}

}  // namespace bench
