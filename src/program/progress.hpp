#pragma once
#include <chrono>
#include <string_view>

namespace cameo::program {

/// A progress bar on standard error, if that is a terminal and the work takes long; removed at the end.
class progress_bar {
 public:
  explicit progress_bar(bool quiet);
  progress_bar(const progress_bar&) = delete;
  progress_bar& operator=(const progress_bar&) = delete;
  ~progress_bar() { clear(); }

  /// True when it is time to draw again: words need not be put together otherwise.
  bool due() const { return shown_ && std::chrono::steady_clock::now() >= next_; }
  /// `fraction` from 0 to 1; draws if it is time.
  void show(double fraction, std::string_view words);
  /// Before something else is written to the terminal.
  void clear();

 private:
  bool shown_, drawn_ = false;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace cameo::program
