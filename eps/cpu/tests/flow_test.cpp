#include "run_kernel.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <clocale>

using namespace cameo;
using cameo::test::elements_of;
using cameo::test::floats;
using cameo::test::ints;
using cameo::test::model_run;
using cameo::test::scalar;

namespace {

using words = std::vector<std::string_view>;

any_value condition(bool b) { return any_value::tensor<bool>({}, {b}); }
any_value text(const words& w) { return any_value::tensor<std::string_view>({std::int64_t(w.size())}, w); }

/// A Loop with the sum of x as a loop-carried value, which is also a scan output [trips, 2].
model_run summing(const any_value& trips, const any_value& goes_on) {
  model_run m{16};
  m.input("trips", trips).input("goes_on", goes_on).input("x", any_value::tensor<float>({2}, {1, 2}));
  m.body("body", [&](graph& g) {
    model_run::add_input(g, "i", model_run::tensor(dtype::i64, 0));
    model_run::add_input(g, "before", model_run::tensor(dtype::boolean, 0));
    model_run::add_input(g, "sum", model_run::tensor(dtype::f32, 1));
    m.add_node(g, "Identity", {"before"}, {"after"});
    m.add_node(g, "Add", {"sum", "x"}, {"more"});
    m.add_node(g, "Identity", {"more"}, {"seen"});
    for (std::string_view out : {"after", "more", "seen"}) model_run::add_output(g, out);
  });
  m.node("Loop", {"trips", "goes_on", "x"}, {"last", "all"});
  return m;
}

}  // namespace

TEST_CASE("Loop carries values along and stacks scan outputs; without an iteration they are empty") {
  const auto three = summing(scalar(3), condition(true)).run({"last", "all"});
  REQUIRE(three);
  CHECK(elements_of<float>((*three)[0].value) == floats{4, 8});
  CHECK((*three)[1].value.shape() == extents{3, 2});
  CHECK(elements_of<float>((*three)[1].value) == floats{2, 4, 3, 6, 4, 8});
  for (const auto& none : {summing(scalar(0), condition(true)).run({"last", "all"}),
                           summing(scalar(-1), condition(true)).run({"last", "all"}),
                           summing(scalar(9), condition(false)).run({"last", "all"})}) {
    REQUIRE(none);
    CHECK(elements_of<float>((*none)[0].value) == floats{1, 2});
    CHECK((*none)[1].value.shape()[0] == 0);
  }
}

TEST_CASE("An endless Loop ends with the deadline") {
  const auto r = summing(scalar(INT64_MAX), condition(true)).run({"last"}, {{}, std::chrono::milliseconds{50}});
  CHECK(r.error().code() == status_code::deadline_exceeded);
}

TEST_CASE("Sequences have positions from either end, and errors beyond them") {
  const auto at = [](std::int64_t position) {
    model_run m{13};
    m.input("a", scalar(1)).input("b", scalar(2)).input("p", scalar(position));
    m.node("SequenceConstruct", {"a", "b"}, {"s"}).node("SequenceAt", {"s", "p"}, {"y"});
    return m.run({"y"});
  };
  CHECK(elements_of<std::int64_t>((*at(-1))[0].value) == ints{2});
  CHECK(elements_of<std::int64_t>((*at(0))[0].value) == ints{1});
  for (std::int64_t bad : {std::int64_t{2}, std::int64_t{-3}, std::int64_t{INT64_MIN}})
    CHECK(at(bad).error().code() == status_code::invalid_argument);
}

TEST_CASE("The element of an empty optional is an error") {
  model_run m{18};
  m.input("a", scalar(7)).node("Optional", {"a"}, {"o"}).node("OptionalHasElement", {"o"}, {"has"});
  m.node("OptionalGetElement", {"o"}, {"y"});
  const auto r = m.run({"has", "y"});
  REQUIRE(r);
  CHECK(elements_of<bool>((*r)[0].value) == std::vector<bool>{true});
  CHECK(elements_of<std::int64_t>((*r)[1].value) == ints{7});
}

TEST_CASE("Case changes by Unicode, whatever the locale; bytes that are not UTF-8 stay unchanged") {
  const auto change = [](const words& in, std::string_view action) {
    model_run m{13};
    m.input("x", text(in)).set("case_change_action", action).set("is_case_sensitive", std::int64_t{1});
    return m.node("StringNormalizer", {"x"}, {"y"}).run({"y"});
  };
  const char* const before = std::setlocale(LC_ALL, "C");
  const auto lower = change({"ÄÖŸ", "ΣΑΣ", "ЖЁ", "İIJ", "Ǆ", "ՀԱՅ", "\xff\xc3", "K", "ႠႡ", "𐐀", "Ⰰ"}, "LOWER");
  REQUIRE(lower);
  CHECK(elements_of<std::string_view>((*lower)[0].value) ==
        words{"äöÿ", "σασ", "жё", "iij", "ǆ", "հայ", "\xff\xc3", "k", "ⴀⴁ", "𐐨", "ⰰ"});
  const auto upper = change({"straße", "σας", "ѓя", "ıi", "µſ", "\xed\xa0\x80"}, "UPPER");
  REQUIRE(upper);
  CHECK(elements_of<std::string_view>((*upper)[0].value) == words{"STRAßE", "ΣΑΣ", "ЃЯ", "II", "ΜS", "\xed\xa0\x80"});
  std::setlocale(LC_ALL, before);
}

TEST_CASE("Stop words match in any case by default; if all words are removed, one empty string stays") {
  const auto left = [](std::int64_t exact) {
    model_run m{13};
    m.input("x", text({"Über", "a"})).set("stopwords", words{"üBER", "a"}).set("is_case_sensitive", exact);
    return m.node("StringNormalizer", {"x"}, {"y"}).run({"y"});
  };
  CHECK(elements_of<std::string_view>((*left(0))[0].value) == words{""});
  CHECK(elements_of<std::string_view>((*left(1))[0].value) == words{"Über"});
}

TEST_CASE("StringSplit at delimiters and at white space, to a limit") {
  const auto split = [](const words& in, std::string_view delimiter, std::int64_t limit) {
    model_run m{20};
    m.input("x", text(in)).set("delimiter", delimiter).set("maxsplit", limit);
    return m.node("StringSplit", {"x"}, {"y", "n"}).run({"y", "n"});
  };
  const auto blanks = split({"  a  b c ", ""}, "", 1);
  REQUIRE(blanks);
  CHECK(elements_of<std::string_view>((*blanks)[0].value) == words{"a", "b c ", "", ""});
  CHECK(elements_of<std::int64_t>((*blanks)[1].value) == ints{2, 0});
  const auto commas = split({"a,,b", ""}, ",", 9);
  REQUIRE(commas);
  CHECK(elements_of<std::string_view>((*commas)[0].value) == words{"a", "", "b", "", "", ""});
  CHECK(elements_of<std::int64_t>((*commas)[1].value) == ints{3, 1});
}

TEST_CASE("A pattern that RE2 refuses is an error of the model") {
  model_run m{20};
  m.input("x", text({"ab", "abc"})).set("pattern", "a(b").node("RegexFullMatch", {"x"}, {"y"});
  CHECK(m.run({"y"}).error().code() == status_code::invalid_graph);
}
