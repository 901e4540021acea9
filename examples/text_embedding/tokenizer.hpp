#pragma once
#include <cctype>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace examples {

/// Cuts text into the pieces of a vocabulary (WordPiece): words and single punctuation marks, in small letters; each is
/// the longest piece that it begins with, then the longest that continues it ("##ing"), and so on. For English text.
class tokenizer {
 public:
  /// `vocabulary`: a file with a piece in each line; its number is the line's. Without [PAD], [UNK], [CLS] and [SEP]
  /// it is not complete(), and of no use.
  explicit tokenizer(const std::string& vocabulary) {
    std::ifstream file{vocabulary};
    for (std::string line; std::getline(file, line);) numbers_.emplace(line, std::int64_t(numbers_.size()));
    for (const char* special : {"[PAD]", "[UNK]", "[CLS]", "[SEP]"})
      if (!numbers_.contains(special)) complete_ = false;
  }
  bool complete() const { return complete_; }
  /// The number of a piece that is there.
  std::int64_t operator[](const std::string& piece) const { return numbers_.at(piece); }

  /// "[CLS] the cat is sleep ##ing [SEP]", as numbers.
  std::vector<std::int64_t> operator()(std::string_view text) const {
    std::vector<std::int64_t> tokens{numbers_.at("[CLS]")};
    std::string word;
    const auto end_word = [&] {
      if (!word.empty()) append_pieces(word, tokens);
      word.clear();
    };
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (std::isalnum(byte)) {
        word += char(std::tolower(byte));
        continue;
      }
      end_word();
      if (!std::isspace(byte)) append_pieces({c}, tokens);
    }
    end_word();
    tokens.push_back(numbers_.at("[SEP]"));
    return tokens;
  }

 private:
  /// A word that can't be put together is one [UNK].
  void append_pieces(const std::string& word, std::vector<std::int64_t>& tokens) const {
    const std::size_t before = tokens.size();
    for (std::size_t first = 0, length; first < word.size(); first += length) {
      auto found = numbers_.end();
      for (length = word.size() - first; length > 0; --length)
        if (found = numbers_.find((first ? "##" : "") + word.substr(first, length)); found != numbers_.end()) break;
      if (found == numbers_.end()) {
        tokens.resize(before);
        tokens.push_back(numbers_.at("[UNK]"));
        return;
      }
      tokens.push_back(found->second);
    }
  }

  std::unordered_map<std::string, std::int64_t> numbers_;
  bool complete_ = true;
};

}  // namespace examples
