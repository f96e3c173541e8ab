// Which calls of which functions are to fail, as a test says: "cuMemAlloc_v2:2@5x1,cuIpcOpenMemHandle_v2:101"
// lets the named function return that code, from its 5th call on (@, default the 1st), once (x, default for
// ever). Knows only names and numbers.
#pragma once

#include <atomic>

namespace penstock::test_support {

/// Thread: any. Never destroyed, as calls may come until the process ends; nor is what was said before.
class FaultTable {
 public:
  /// `variable`: where the text is from, which the line on stderr names for an entry that cannot be read (it
  /// is left out). `text` may be null.
  FaultTable(const char* variable, const char* text);

  /// From now on, instead of what was said before.
  void set(const char* text);
  /// What this call of `function` is to return; 0 mostly. Counts calls.
  [[nodiscard]] int error_of(const char* function) const noexcept;

 private:
  struct Rows;
  const char* variable_;
  std::atomic<Rows*> rows_;
};

}  // namespace penstock::test_support
