#pragma once
#include <cctype>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace examples {

/// Splits text into tokens of a vocabulary (WordPiece). Text is converted to lower case and split into words and
/// punctuation marks; a word becomes its longest prefix in the vocabulary, then the longest continuation ("##ing"), and
/// so on. For English text.
class tokenizer {
 public:
  /// Reads a vocabulary from a file with a token in each line; its number is that of the line, from 0. If [PAD], [UNK],
  /// [CLS] or [SEP] is missing, complete() is false and the other functions must not be called.
  explicit tokenizer(const std::string& vocabulary) {
    std::ifstream file{vocabulary};
    for (std::string line; std::getline(file, line);) numbers_.emplace(line, std::int64_t(numbers_.size()));
    for (const char* special : {"[PAD]", "[UNK]", "[CLS]", "[SEP]"})
      if (!numbers_.contains(special)) complete_ = false;
  }
  bool complete() const { return complete_; }
  /// The number of a token, which must be in the vocabulary.
  std::int64_t operator[](const std::string& piece) const { return numbers_.at(piece); }

  /// The numbers of a text's tokens, such as "[CLS] the cat is sleep ##ing [SEP]".
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
  /// Appends the tokens of a word; [UNK] if it cannot be split.
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
