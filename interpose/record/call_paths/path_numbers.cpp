#include "interpose/record/call_paths/path_numbers.hpp"

#include <algorithm>
#include <iterator>

#include "interpose/record/file/recording.hpp"
#include "interpose/record/recorder.hpp"

namespace penstock::record {
namespace {

/// The limit is there so that a program with endlessly many paths costs time, not memory.
constexpr std::size_t most_paths = 1 << 16;

static_assert(most_frames == most_call_path_frames);

[[gnu::tls_model("initial-exec")]] constinit thread_local bool this_thread_has_lock = false;

bool write_path(std::uint32_t id, const PathFrames& path) noexcept {
  constexpr std::size_t frames_per_part = std::size(trace::CallPath{}.return_addresses);
  constexpr std::size_t most_parts = (most_frames + frames_per_part - 1) / frames_per_part;
  std::array<trace::CallPath, most_parts> parts{};
  std::size_t count = 0;
  for (std::size_t first = 0; first < path.count; first += frames_per_part) {
    trace::CallPath& part = parts[count++];
    const std::size_t taken = std::min(frames_per_part, path.count - first);
    part.id = id;
    part.first = static_cast<std::uint8_t>(first);
    part.frames = static_cast<std::uint8_t>(taken);
    std::copy_n(path.frames.begin() + first, taken, part.return_addresses);
    part.kind = trace::RecordKind::call_path;
  }
  return recording().write_rare(parts.data(), count);
}

}  // namespace

/// Locks, unless the thread has the lock: a signal's handler that calls MPI came in between.
class PathNumbers::Lock {
 public:
  explicit Lock(std::mutex& mutex) : mutex_(mutex), has_(!this_thread_has_lock) {
    if (!has_) return;
    this_thread_has_lock = true;
    mutex_.lock();
  }
  ~Lock() {
    if (!has_) return;
    mutex_.unlock();
    this_thread_has_lock = false;
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  [[nodiscard]] bool has() const noexcept { return has_; }

 private:
  std::mutex& mutex_;
  const bool has_;
};

std::uint64_t PathNumbers::number_of(const PathFrames& path) {
  const Lock lock(mutex_);
  if (!lock.has()) return path.frames[0];
  const auto known = numbers_.find(path);
  if (known != numbers_.end()) return trace::call_path_bit | known->second;
  if (numbers_.size() == most_paths) return path.frames[0];
  // so that what follows cannot fail halfway
  if (by_number_.size() == by_number_.capacity()) by_number_.reserve(2 * by_number_.size() + 64);
  const auto id = static_cast<std::uint32_t>(numbers_.size() + 1);
  const auto added = numbers_.emplace(path, id).first;
  if (!write_path(id, path)) {
    numbers_.erase(added);
    return path.frames[0];
  }
  by_number_.push_back(&added->first);
  return trace::call_path_bit | id;
}

bool PathNumbers::is_full() const {
  const Lock lock(mutex_);
  return !lock.has() || numbers_.size() == most_paths;
}

PathFrames PathNumbers::frames_of(std::uint64_t site) const {
  if ((site & trace::call_path_bit) == 0) return {1, {site}};
  const Lock lock(mutex_);
  if (!lock.has()) return {};
  const auto number = static_cast<std::uint32_t>(site);
  return number >= 1 && number <= by_number_.size() ? *by_number_[number - 1] : PathFrames{};
}

}  // namespace penstock::record
