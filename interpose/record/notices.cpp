// Implements notice(): prints each text once to stderr and records it. Texts printed before the recording
// begins are kept for it.
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "interpose/record/recorder.hpp"
#include "interpose/record/recording.hpp"
#include "transports/host/retried.hpp"

namespace penstock::record {

namespace {

constexpr std::size_t most_notices = 256;  ///< bounds what a program may cause without end

struct Ballot {
  std::string text;
  std::uint64_t at_ns;
  bool recorded = false;
};

struct Notices {
  std::mutex mutex;
  std::vector<Ballot> said;
};

/// Never destroyed, as destructors may call notice(), too.
Notices& notices() {
  static auto* const all = new Notices;
  return *all;
}

void record_it(Ballot& said) {
  if (said.recorded || !is_on()) return;
  trace::Notice record{};
  record.at_ns = said.at_ns;
  record.text = intern(said.text);
  record.kind = trace::RecordKind::notice;
  said.recorded = recording().write_rare(&record, 1);
}

}  // namespace

void say(std::string_view text) noexcept {
  char line[1024] = "penstock: ";
  const std::size_t prefix = std::strlen(line);
  const std::size_t taken = std::min(text.size(), sizeof line - prefix - 1);
  std::memcpy(line + prefix, text.data(), taken);
  line[prefix + taken] = '\n';
  [[maybe_unused]] const ssize_t written =
      retried([&] { return ::write(STDERR_FILENO, line, prefix + taken + 1); });
}

void notice(std::string_view text) noexcept try {
  Notices& all = notices();
  const std::lock_guard lock(all.mutex);
  const bool known =
      std::any_of(all.said.begin(), all.said.end(), [&](const Ballot& s) { return s.text == text; });
  if (known || all.said.size() == most_notices) return;
  say(text);
  all.said.push_back({std::string(text), now_ns()});
  record_it(all.said.back());
} catch (...) {
  say(text);  // no memory to remember the text
}

void write_kept_notices() noexcept try {
  Notices& all = notices();
  const std::lock_guard lock(all.mutex);
  for (Ballot& said : all.said) record_it(said);
} catch (...) {
  say("out of memory: earlier notices are not in the recording");
}

}  // namespace penstock::record
