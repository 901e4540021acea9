// The images of tests/data/pictures with their pixels as Pillow decodes them, and hostile files.
#include <cameo/eps/cpu.hpp>
#include <cameo/eps/cpu/image_decoder.hpp>
#include <cameo/op/onnx.hpp>

#include "kernel_rig.hpp"

#include <doctest/doctest.h>

#include <sys/resource.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

using namespace cameo;
using cameo::test::kernel_rig;

namespace {

using bytes = std::vector<std::uint8_t>;

/// ImageDecoder with a limit that is small enough for a test.
struct small_decoder : eps::image_decoder {
  static result<small_decoder> bind(bind_context& c) {
    result<eps::image_decoder> made = eps::image_decoder::bind(c);
    if (!made) return made.error();
    made->most = 1 << 12;
    return small_decoder{*made};
  }
};

bytes contents(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

/// The files of the folder by name, with what they must decode to: width, height, pixels. Empty if CAMEO_SOURCE_DIR is
/// not set.
std::map<std::string, std::pair<bytes, bytes>> pictures() {
  std::map<std::string, std::pair<bytes, bytes>> made;
  const char* const source = std::getenv("CAMEO_SOURCE_DIR");
  if (!source) return made;
  for (const auto& entry : std::filesystem::directory_iterator{std::string{source} + "/tests/data/pictures"})
    if (entry.path().extension() == ".rgb")
      made[entry.path().stem().string()] = {contents(entry.path().parent_path() / entry.path().stem()),
                                            contents(entry.path())};
  return made;
}

struct decoded_picture {
  status outcome;
  extents shape;
  bytes pixels;
};
template <class Kernel = eps::image_decoder>
decoded_picture decode(const bytes& file, std::string_view format = "RGB") {
  kernel_rig rig{20};
  rig.attribute("pixel_format", format);
  decoded_picture made;
  made.outcome = rig.input<std::uint8_t>({std::int64_t(file.size())}, file).template run<Kernel>({dtype::u8});
  if (!made.outcome) return made;
  made.shape = rig.output<std::uint8_t>(0).shape();
  made.pixels = elements_of<std::uint8_t>(rig);
  return made;
}

/// The largest difference; other versions of a library may decode lossy formats differently.
int difference(const bytes& a, const bytes& b, std::size_t from) {
  int most = a.size() == b.size() - from ? 0 : 999;
  for (std::size_t i = 0; most < 999 && i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i + from]));
  return most;
}
int allowed(const std::string& name) {
  if (name == "four.jpg") return 8;  // the expected colors are those of the image before its compression
  return name.ends_with(".jpg") || name.starts_with("lossy") || name == "tiles.j2k" ? 1 : 0;
}

bool is_absent(const status& s) { return s.code() == status_code::not_implemented; }

void put(bytes& to, std::size_t at, std::uint64_t number, std::size_t count, bool big = false) {
  for (std::size_t i = 0; i < count; ++i) to[at + (big ? count - 1 - i : i)] = std::uint8_t(number >> 8 * i);
}

}  // namespace

TEST_CASE("ImageDecoder has the same pixels as Pillow, in each order, for all files of the folder") {
  const auto all = pictures();
  if (all.empty()) return;
  std::set<std::string> formats;
  for (const auto& each : all) {  // INFO is a lambda, and clang 14 cannot capture structured bindings
    const std::string& name = each.first;
    const auto& [file, wanted] = each.second;
    INFO(name);
    const decoded_picture rgb = decode(file), bgr = decode(file, "BGR"), gray = decode(file, "Grayscale");
    if (is_absent(rgb.outcome)) continue;
    REQUIRE_MESSAGE(rgb.outcome, rgb.outcome.words());
    REQUIRE(rgb.shape == extents{wanted[1], wanted[0], 3});
    CHECK(difference(rgb.pixels, wanted, 2) <= allowed(name));
    REQUIRE(bgr.pixels.size() == rgb.pixels.size());
    REQUIRE(gray.shape == extents{wanted[1], wanted[0], 1});
    for (std::size_t i = 0; i < gray.pixels.size(); ++i) {
      const std::uint8_t *const p = &rgb.pixels[3 * i], *const q = &bgr.pixels[3 * i];
      CHECK((p[0] == q[2] && p[1] == q[1] && p[2] == q[0]));
      CHECK(gray.pixels[i] == (p[0] * 19595 + p[1] * 38470 + p[2] * 7471 + 32768) / 65536);
    }
    formats.insert(name.substr(name.rfind('.')));
  }
  CHECK(formats.contains(".bmp"));
  CHECK(formats.contains(".ppm"));
}

TEST_CASE("ImageDecoder: bytes that are not a complete image give an output without pixels") {
  const extents none{0, 0, 3};
  for (const bytes& file :
       {bytes{}, bytes{1, 2, 3}, bytes(100, 0xff), bytes{'B', 'M'}, bytes{'P', '6'}, bytes{'P', '6', '\n'},
        bytes{0xff, 0xd8, 0xff}, bytes{'R', 'I', 'F', 'F', 0, 0, 0, 0, 'W', 'E', 'B', 'P'}}) {
    const decoded_picture made = decode(file);
    if (is_absent(made.outcome)) continue;
    REQUIRE_MESSAGE(made.outcome, made.outcome.words());
    CHECK(made.shape == none);
    CHECK(decode(file, "Grayscale").shape == extents{0, 0, 1});
  }
  // Each prefix of each file: up to some length none is a complete image, and from there on all are.
  for (const auto& each : pictures()) {
    const std::string& name = each.first;
    INFO(name);
    const bytes &file = each.second.first, &wanted = each.second.second;
    bool was_whole = false;
    for (std::size_t size = 0; size < file.size(); size += std::max<std::size_t>(1, file.size() / 97)) {
      const decoded_picture made = decode(bytes(file.begin(), file.begin() + std::ptrdiff_t(size)));
      if (is_absent(made.outcome)) break;
      REQUIRE_MESSAGE(made.outcome, made.outcome.words());
      const bool is_whole = made.shape != none;
      CHECK((is_whole || !was_whole));
      if (is_whole) CHECK(difference(made.pixels, wanted, 2) <= allowed(name));
      was_whole = is_whole;
      CHECK((size > file.size() / 8 || !is_whole));
    }
  }
}

TEST_CASE("ImageDecoder: files with a changed byte anywhere give pixels, an output without pixels, or an error") {
  std::mt19937 random{7};
  for (const auto& each : pictures())
    for (int i = 0; i < 60; ++i) {
      const std::string& name = each.first;
      bytes file = each.second.first;
      for (int change = 0; change < 1 + i % 3; ++change)
        file[random() % (i % 2 ? file.size() : std::min<std::size_t>(file.size(), 64))] = std::uint8_t(random());
      const decoded_picture made = decode<small_decoder>(file);
      INFO(name, " change ", i, ": ", made.outcome.words());
      CHECK((made.outcome || made.outcome.code() == status_code::invalid_argument || is_absent(made.outcome)));
    }
}

TEST_CASE("ImageDecoder: sizes in headers are checked before memory is allocated") {
  const auto all = pictures();
  if (all.empty()) return;
  struct lie {
    const char* name;
    std::size_t width_at, height_at, size;
    bool big;
  };
  // The headers of all these files claim 65,000 x 65,000 pixels. The header of a PNG file has a checksum, whose error
  // is found before that of the size.
  for (const lie& each : {lie{"rgb.jpg", 0, 0, 2, true},
                          {"rgb.tif", 0, 0, 4, false},
                          {"runs8.bmp", 18, 22, 4, false},
                          {"exact.jp2", 0, 0, 4, true}}) {
    bytes file = all.at(each.name).first;
    std::size_t width_at = each.width_at, height_at = each.height_at;
    const auto find = [&](std::initializer_list<std::uint8_t> what) {
      return std::size_t(std::search(file.begin(), file.end(), what.begin(), what.end()) - file.begin());
    };
    if (std::string_view{each.name} == "rgb.jpg") height_at = find({0xff, 0xc0}) + 5, width_at = height_at + 2;
    if (std::string_view{each.name} == "rgb.tif")
      width_at = find({0x00, 0x01, 0x04, 0x00}) + 8, height_at = find({0x01, 0x01, 0x04, 0x00}) + 8;
    if (std::string_view{each.name} == "exact.jp2") {
      width_at = find({0xff, 0x4f, 0xff, 0x51}) + 8, height_at = width_at + 4;
      put(file, width_at + 16, 65000, 4, true), put(file, width_at + 20, 65000, 4, true);  // one tile
    }
    put(file, width_at, 65000, each.size, each.big), put(file, height_at, 65000, each.size, each.big);
    const decoded_picture made = decode(file);
    INFO(std::string{each.name}, ": ", made.outcome.words());
    if (is_absent(made.outcome)) continue;
    CHECK(made.outcome.code() == status_code::invalid_argument);
    CHECK(std::string_view{made.outcome.words()}.find("65000x65000 pixels; the most are 134217728") !=
          std::string_view::npos);
  }
  // A header that claims more pixels than the bytes behind it can have.
  bytes bmp = all.at("rgb.bmp").first,
        ppm{'P', '6', ' ', '9', '9', '9', '9', ' ', '9', '9', '9', '9', ' ', '9', '\n', 1, 2};
  put(bmp, 18, 9999, 4), put(bmp, 22, 9999, 4);
  CHECK(decode(bmp).shape == extents{0, 0, 3});
  CHECK(decode(ppm).shape == extents{0, 0, 3});
  put(bmp, 22, 0, 4);
  CHECK(decode(bmp).shape == extents{0, 0, 3});
  // A JPEG 2000 file of 60,000 tiles, for each of which the library would allocate kilobytes.
  bytes tiles = all.at("exact.jp2").first;
  const std::uint8_t mark[] = {0xff, 0x4f, 0xff, 0x51};
  const auto at =
      std::size_t(std::search(tiles.begin(), tiles.end(), std::begin(mark), std::end(mark)) - tiles.begin());
  put(tiles, at + 8, 245, 4, true), put(tiles, at + 12, 245, 4, true);
  put(tiles, at + 24, 1, 4, true), put(tiles, at + 28, 1, 4, true);
  put(tiles, at - 8 - 15 - 22 + 8, 245, 4, true), put(tiles, at - 8 - 15 - 22 + 12, 245, 4, true);  // in the box ihdr
  const auto peak = [] {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return used.ru_maxrss;  // KiB
  };
  const long before = peak();
  if (const decoded_picture made = decode(tiles); !is_absent(made.outcome)) CHECK(made.shape == extents{0, 0, 3});
  CHECK(peak() - before < 64 << 10);
}

TEST_CASE("ImageDecoder refuses inputs that cannot be files, and unknown pixel formats") {
  const bytes file(4);
  kernel_rig square{20};
  square.checked_as<op::ImageDecoder>();
  CHECK(square.input<std::uint8_t>({2, 2}, file).run<eps::image_decoder>({dtype::u8}).code() ==
        status_code::invalid_argument);
  kernel_rig cmyk{20};
  cmyk.checked_as<op::ImageDecoder>().attribute("pixel_format", std::string_view{"CMYK"});
  CHECK(cmyk.input<std::uint8_t>({4}, file).run<eps::image_decoder>({dtype::u8}).code() == status_code::invalid_graph);
  if (const char* const source = std::getenv("CAMEO_SOURCE_DIR")) {
    const bytes moving = contents(std::string{source} + "/tests/data/pictures/animated.webp");
    REQUIRE(!moving.empty());
    CHECK(is_absent(decode(moving).outcome));
  }
}
