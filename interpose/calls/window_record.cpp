#include "interpose/calls/window_record.hpp"

#include <mutex>
#include <unordered_map>
#include <vector>

#include "interpose/calls/communicator_record.hpp"
#include "interpose/record/recorder.hpp"
#include "transports/host/guarded.hpp"

namespace penstock::interpose {
namespace {

/// Local ids from here on are windows', those below communicators'.
constexpr std::uint32_t first_window = 1u << 31;

struct NumberedWindow {
  std::uint32_t local_id = 0;
  std::uint32_t meetings = 0;  ///< collective calls so far
  std::vector<int> world_ranks;
};

/// Never destroyed, as static destructors may use windows.
struct NumberedWindows {
  std::mutex lock;
  std::uint32_t next_local_id = first_window;
  std::unordered_map<MPI_Win, NumberedWindow> windows;
};
NumberedWindows& numbered() {
  static NumberedWindows& all = *new NumberedWindows;
  return all;
}

/// Calls `use` with the window's entry, if it has one.
template <typename Use>
void with_window(MPI_Win window, Use use) noexcept {
  NumberedWindows& all = numbered();
  const std::lock_guard guard(all.lock);
  const auto found = all.windows.find(window);
  if (found != all.windows.end()) use(found->second);
}

}  // namespace

void number_window(const CallScope& scope, MPI_Comm communicator, MPI_Win window) noexcept {
  const CommunicatorInfo* const info = peek_info(communicator);
  if (!scope.recording() || info == nullptr) return;
  static_cast<void>(transports::guarded([&]() -> Status {
    NumberedWindows& all = numbered();
    const std::lock_guard guard(all.lock);
    NumberedWindow& made = all.windows[window];
    made = {all.next_local_id++, 0, info->world_ranks};
    record_members(mixed_id(info->global_id, scope.collective_ordinal()), made.local_id, "window", *info);
    return {};
  }));
}

void forget_window_number(MPI_Win window) noexcept {
  NumberedWindows& all = numbered();
  const std::lock_guard guard(all.lock);
  all.windows.erase(window);
}

void record_meeting(CallScope& scope, MPI_Win window) noexcept {
  with_window(window, [&](NumberedWindow& known) { scope.meeting(known.local_id, ++known.meetings); });
}

void record_window(CallScope& scope, MPI_Win window) noexcept {
  record_access(scope, window, -1, 0);
}

void record_wait(CallScope& scope, MPI_Win window, int member) noexcept {
  if (scope.recording()) record_access(scope, window, member, 0);
}

void record_access(CallScope& scope, MPI_Win window, int target, std::uint64_t bytes) noexcept {
  with_window(window, [&](const NumberedWindow& known) {
    const auto index = static_cast<std::size_t>(target);
    const bool is_known = target >= 0 && index < known.world_ranks.size();
    scope.access(known.local_id, is_known ? known.world_ranks[index] : -1, bytes);
  });
}

}  // namespace penstock::interpose
