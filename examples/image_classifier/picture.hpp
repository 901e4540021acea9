#pragma once
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace examples {

/// Red, green and blue of each pixel, row by row from the top left.
struct picture {
  std::int64_t width = 0, height = 0;
  std::vector<std::uint8_t> channels;

  double at(std::int64_t y, std::int64_t x, std::int64_t channel) const {
    return channels[std::size_t((y * width + x) * 3 + channel)];
  }
};

/// Reads a binary PPM file (P6) with 8 bits per channel. Returns a picture of width 0 for other files.
inline picture read_ppm(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  std::string magic;
  std::int64_t numbers[3] = {};  // width, height, largest value
  file >> magic;
  for (std::int64_t& number : numbers) {
    while ((file >> std::ws).peek() == '#') file.ignore(1 << 16, '\n');
    file >> number;
  }
  file.get();
  constexpr std::int64_t most = 1 << 14;
  if (!file || magic != "P6" || std::min(numbers[0], numbers[1]) < 2 || std::max(numbers[0], numbers[1]) > most ||
      numbers[2] != 255)
    return {};
  picture read{numbers[0], numbers[1], std::vector<std::uint8_t>(std::size_t(numbers[0] * numbers[1] * 3))};
  file.read(reinterpret_cast<char*>(read.channels.data()), std::streamsize(read.channels.size()));
  return file ? read : picture{};
}

/// Scales the largest centered square of a picture to side x side pixels of 3 channels from 0 to 1, by linear
/// interpolation between the centers of pixels.
inline std::vector<float> square_of(const picture& from, std::int64_t side) {
  const std::int64_t size = std::min(from.width, from.height);
  const std::int64_t left = (from.width - size) / 2, top = (from.height - size) / 2;
  struct place {
    std::int64_t first;
    double rest;  // the fraction of the way to the next pixel
  };
  const auto place_of = [&](std::int64_t i) {
    const double middle = std::clamp((double(i) + 0.5) * double(size) / double(side) - 0.5, 0.0, double(size - 1));
    const auto first = std::min(std::int64_t(middle), size - 2);
    return place{first, middle - double(first)};
  };
  std::vector<float> made;
  for (std::int64_t i = 0; i < side; ++i)
    for (std::int64_t j = 0; j < side; ++j)
      for (std::int64_t c = 0; c < 3; ++c) {
        const place y = place_of(i), x = place_of(j);
        const auto row = [&](std::int64_t at) {
          return from.at(top + at, left + x.first, c) * (1 - x.rest) +
                 from.at(top + at, left + x.first + 1, c) * x.rest;
        };
        made.push_back(float((row(y.first) * (1 - y.rest) + row(y.first + 1) * y.rest) / 255));
      }
  return made;
}

}  // namespace examples
