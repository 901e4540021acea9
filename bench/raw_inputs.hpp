#pragma once
// Inputs of a model as bench/peers/raw_inputs.py lays them in a folder: inputs.txt has a line for each, name, type,
// dims and file with tabs between them; the file has the elements.
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
