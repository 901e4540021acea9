#pragma once
#include <chrono>
#include <string_view>

namespace cameo::program {

/// A progress bar on standard error. It is drawn only on a terminal and only if the work takes more than half a second,
/// and the destructor removes it.
class progress_bar {
 public:
  explicit progress_bar(bool quiet);
  progress_bar(const progress_bar&) = delete;
  progress_bar& operator=(const progress_bar&) = delete;
  ~progress_bar() { clear(); }

  /// True if show() would draw now. Callers check it first to avoid formatting words that are not drawn.
  bool due() const { return shown_ && std::chrono::steady_clock::now() >= next_; }
  /// Draws the bar if it is due. `fraction` is from 0 to 1.
  void show(double fraction, std::string_view words);
  /// Removes the bar. To be called before anything else is written to the terminal.
  void clear();

 private:
  bool shown_, drawn_ = false;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace cameo::program
