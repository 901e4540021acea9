#include "bad_model.hpp"
#include "wire_format.hpp"

using namespace cameo;
using namespace cameo::test;

namespace {

/// A field that claims to have `length` bytes, but has four.
std::string lie(unsigned field, std::uint64_t length) { return key(field, 2) + varint(length) + "abcd"; }

const std::string head = new_model().SerializeAsString();

void check_invalid(const std::string& bytes) {
  const memory_peak peak;
  CHECK(ends_within(5, [&] { CHECK_REFUSED(load_bytes(bytes).error(), status_code::invalid_protobuf, bad_name); }));
  CHECK(peak.grown_kb() < allowed_kb);
}

}  // namespace

TEST_CASE("lengths beyond the end of the file are INVALID_PROTOBUF, at every level, and take no memory") {
  for (const std::uint64_t length : {std::uint64_t{5}, std::uint64_t{1} << 20, std::uint64_t{0x7FFFFFFF},
                                     std::uint64_t{0x80000000}, std::uint64_t{0xFFFFFFFF}, std::uint64_t{1} << 40,
                                     ~std::uint64_t{0} >> 1, ~std::uint64_t{0}, ~std::uint64_t{0} - 8}) {
    check_invalid(head + lie(7, length));
    check_invalid(head + wrap(7, lie(1, length)));                             // a node
    check_invalid(head + wrap(7, lie(5, length)));                             // an initializer
    check_invalid(head + wrap(7, wrap(5, lie(9, length))));                    // its raw_data
    check_invalid(head + wrap(7, wrap(5, lie(4, length))));                    // its packed floats
    check_invalid(head + wrap(7, wrap(1, wrap(5, wrap(5, lie(9, length))))));  // raw_data of an attribute
    check_invalid(head + lie(20, length));                                     // training_info
    check_invalid(head + lie(1000, length));                                   // an unknown field
  }
}

TEST_CASE("varints of more than ten bytes and keys that end the file are INVALID_PROTOBUF") {
  check_invalid(head + key(1, 0) + std::string(11, '\x80') + '\1');
  check_invalid(head + std::string(20, '\x80') + '\1');
  check_invalid(head + wrap(7, wrap(5, key(1, 0) + std::string(11, '\xFF') + '\1')));
  check_invalid(head + key(7, 2));
  check_invalid(head + key(7, 2) + '\x80');
  check_invalid(head + key(500, 1) + "1234");  // a field of eight bytes
  check_invalid(head + key(500, 5) + "12");    // a field of four bytes
}

TEST_CASE("field number 0, wire types 6 and 7 and groups without an end are INVALID_PROTOBUF") {
  check_invalid(head + std::string(1, '\2') + '\0');
  check_invalid(head + key(7, 6));
  check_invalid(head + key(7, 7));
  check_invalid(head + key(500, 3) + key(1, 0) + '\1');
  check_invalid(head + key(500, 4));
  check_invalid(head + key(500, 3) + key(501, 4));
  std::string groups;
  for (int i = 0; i < 100000; ++i) groups += key(500, 3);
  check_invalid(head + groups);
}

TEST_CASE("known fields with another wire type are a status") {
  for (const unsigned wire : {0u, 1u, 5u}) {
    const std::string number = wire == 0 ? varint(3) : std::string(wire == 1 ? 8 : 4, '\1');
    for (const std::string& bytes : {head + key(7, wire) + number, head + wrap(7, key(1, wire) + number),
                                     head + wrap(7, wrap(5, key(9, wire) + number))}) {
      const status s = load_bytes(bytes).error();
      INFO(shown(s));
      CHECK(s.code() != status_code::ok);
      CHECK(says(s, bad_name));
    }
  }
}

TEST_CASE("types and unknown messages nested without end are a status, not a crash") {
  std::string type = wrap(1, wrap(1, "\x08\1"));
  for (int i = 0; i < 20000; ++i) type = wrap(4, wrap(1, type));  // a sequence of sequences of ...
  const status s = load_bytes(head + wrap(7, wrap(11, wrap(1, "x") + wrap(2, type)))).error();
  INFO(shown(s));
  const bool refused = s.code() == status_code::invalid_protobuf || s.code() == status_code::invalid_graph;
  CHECK(refused);
  CHECK(says(s, bad_name));
}

TEST_CASE("300,000 empty nodes, inputs or functions are a status, in linear time and memory") {
  const memory_peak peak;
  CHECK(ends_within(60, [&] {
    for (const unsigned field : {1u, 5u, 11u, 12u, 13u, 15u}) {
      std::string many;
      for (int i = 0; i < 300000; ++i) many += wrap(field, "");
      CHECK(load_bytes(head + wrap(7, many)).error().code() != status_code::ok);
    }
    std::string many;
    for (int i = 0; i < 300000; ++i) many += wrap(25, "");
    CHECK(load_bytes(head + many).error().code() != status_code::ok);
  }));
  CHECK(peak.grown_kb() < 3 * allowed_kb);
}
