#include "tests/support/fault_table.hpp"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

namespace penstock::test_support {
namespace {

struct Row {
  std::string function;
  int error = 0;
  std::uint64_t from_call = 1;
  std::uint64_t times = UINT64_MAX;
  std::atomic<std::uint64_t> calls{0};
};

/// Reads a number at the start of `text` and removes it from there.
template <typename Number>
bool take_number(std::string_view& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool parse(std::string_view text, Row& row) {
  const std::size_t colon = text.find(':');
  if (colon == 0 || colon == std::string_view::npos) return false;
  row.function = text.substr(0, colon);
  text.remove_prefix(colon + 1);
  if (!take_number(text, row.error)) return false;
  while (!text.empty()) {
    const char mark = text.front();
    text.remove_prefix(1);
    if (mark == '@' ? !take_number(text, row.from_call) : mark != 'x' || !take_number(text, row.times)) {
      return false;
    }
  }
  return true;
}

}  // namespace

struct FaultTable::Rows {
  std::deque<Row> all;
};

FaultTable::FaultTable(const char* variable, const char* text) : variable_(variable), rows_(nullptr) {
  set(text);
}

void FaultTable::set(const char* text) {
  auto rows = std::make_unique<Rows>();
  for (std::string_view left = text != nullptr ? text : ""; !left.empty();) {
    const std::size_t comma = left.find(',');
    const std::string_view entry = left.substr(0, comma);
    left.remove_prefix(comma == std::string_view::npos ? left.size() : comma + 1);
    if (parse(entry, rows->all.emplace_back())) continue;
    rows->all.pop_back();
    std::fprintf(stderr, "%s: cannot read \"%.*s\"\n", variable_, static_cast<int>(entry.size()),
                 entry.data());
  }
  // what was there stays: a call may be counting in it
  rows_.store(rows.release(), std::memory_order_release);
}

int FaultTable::error_of(const char* function) const noexcept {
  for (Row& row : rows_.load(std::memory_order_acquire)->all) {
    if (row.function != function) continue;
    const std::uint64_t call = row.calls.fetch_add(1, std::memory_order_relaxed) + 1;
    if (call >= row.from_call && call - row.from_call < row.times) return row.error;
  }
  return 0;
}

}  // namespace penstock::test_support
