// Implements notice(): prints each text once to stderr and records it. Texts printed before the recording
// begins are kept for it.
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "interpose/record/file/recording.hpp"
#include "interpose/record/recorder.hpp"
#include "transports/host/retried.hpp"

namespace penstock::record {

namespace {

constexpr std::size_t most_notices = 256;  ///< bounds what a program may cause without end

struct Printed {
  std::string text;
  std::uint64_t at_ns;
  bool recorded = false;
};

struct Notices {
  std::mutex mutex;
  std::vector<Printed> printed;
};

/// Never destroyed, as destructors may call notice(), too.
Notices& notices() {
  static auto* const all = new Notices;
  return *all;
}

void record_it(Printed& printed) {
  if (printed.recorded || !is_on()) return;
  trace::Notice record{};
  record.at_ns = printed.at_ns;
  record.text = intern(printed.text);
  record.kind = trace::RecordKind::notice;
  printed.recorded = recording().write_rare(&record, 1);
}

}  // namespace

void say(std::string_view text) noexcept {
  char line[1024] = "penstock: ";
  const std::size_t prefix = std::strlen(line);
  const std::size_t taken = std::min(text.size(), sizeof line - prefix - 1);
  // a setting's value may have line feeds
  std::replace_copy_if(
      text.begin(), text.begin() + static_cast<std::ptrdiff_t>(taken), line + prefix,
      [](unsigned char each) { return std::iscntrl(each) != 0; }, ' ');
  line[prefix + taken] = '\n';
  [[maybe_unused]] const ssize_t written =
      retried([&] { return ::write(STDERR_FILENO, line, prefix + taken + 1); });
}

void notice(std::string_view text) noexcept try {
  Notices& all = notices();
  const std::lock_guard lock(all.mutex);
  const bool known = std::ranges::any_of(all.printed, [&](const Printed& each) { return each.text == text; });
  if (known || all.printed.size() == most_notices) return;
  say(text);
  all.printed.push_back({std::string(text), now_ns()});
  record_it(all.printed.back());
} catch (...) {
  say(text);  // no memory to remember the text
}

void write_kept_notices() noexcept try {
  Notices& all = notices();
  const std::lock_guard lock(all.mutex);
  for (Printed& each : all.printed) record_it(each);
} catch (...) {
  say("out of memory: earlier notices are not in the recording");
}

}  // namespace penstock::record
