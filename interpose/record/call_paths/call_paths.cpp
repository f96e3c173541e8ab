#include "interpose/record/call_paths/call_paths.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "interpose/record/file/recording.hpp"
#include "interpose/record/recorder.hpp"

namespace penstock::record {
namespace {

// These are limits, so that a program with endlessly many paths costs time, not memory.
constexpr std::size_t most_paths = 1 << 16;
constexpr std::size_t most_known = 1 << 17;
constexpr std::size_t longest_chain = 128;

static_assert(most_frames == most_call_path_frames);

std::atomic<CallPaths*> call_paths{nullptr};

std::uint64_t hash_of(std::uint64_t value) noexcept {
  return value * 0x9e3779b97f4a7c15u;
}

}  // namespace

/// A walk that was made, followed in memory by the words that it read.
struct CallPaths::Known {
  std::uint64_t return_address;
  std::uint64_t site;
  const Known* next;
  std::uint32_t words;
  std::uint32_t reach;  ///< where the last of the words ends, as their distances

  [[nodiscard]] const WordRead* read() const noexcept { return reinterpret_cast<const WordRead*>(this + 1); }

  // This reads other frames' memory, which no sanitizer may judge.
  [[gnu::no_sanitize_address, gnu::no_sanitize_thread]] [[nodiscard]] bool is_there(
      std::uint64_t frame, StackBounds bounds) const noexcept {
    if (bounds.high - frame < reach) return false;
    const WordRead* const end = read() + words;
    for (const WordRead* word = read(); word != end; ++word) {
      const std::uint64_t found = *reinterpret_cast<const volatile std::uint64_t*>(frame + word->at);
      if (address_in(found) != word->value + word->is_place * frame) return false;
    }
    return true;
  }
};

namespace {

/// The knowledge of a thread about its own stack. It is plain data: an access costs one instruction.
struct ThisThread {
  StackBounds bounds;
  bool has_asked = false;
  bool is_walking = false;  ///< a call of MPI from a signal's handler, which came in the middle of a walk
  std::array<const void*, 64> last_known{};  ///< CallPaths::Known by hash of where it was
};
[[gnu::tls_model("initial-exec")]] constinit thread_local ThisThread this_thread;

}  // namespace

std::atomic<const CallPaths::Known*>& CallPaths::chain_of(std::uint64_t return_address) noexcept {
  constexpr int bits = 10;
  static_assert(std::tuple_size_v<decltype(chains_)> == 1u << bits);
  return chains_[hash_of(return_address) >> (64 - bits)];
}

std::uint64_t CallPaths::site_of(std::uint64_t return_address, std::uint64_t frame) noexcept {
  ThisThread& thread = this_thread;
  if (!thread.has_asked) [[unlikely]] {
    thread.bounds = bounds_of_this_stack();
    thread.has_asked = true;
  }
  // on a stack of another kind, such as a coroutine's, nothing tells how far it reaches
  if (!thread.bounds.holds(frame)) return return_address;
  const void*& last = thread.last_known[hash_of(return_address ^ (frame << 4)) >> 58];
  if (const auto* const known = static_cast<const Known*>(last);
      known != nullptr && known->return_address == return_address && known->is_there(frame, thread.bounds))
    return known->site;
  for (const Known* known = chain_of(return_address).load(std::memory_order_acquire); known != nullptr;
       known = known->next) {
    if (known->return_address == return_address && known->is_there(frame, thread.bounds)) {
      last = known;
      return known->site;
    }
  }
  if (thread.is_walking) return return_address;
  thread.is_walking = true;
  std::uint64_t site = return_address;
  try {
    site = walk(return_address, frame, thread.bounds);
  } catch (...) {  // out of memory: the call site is still known
  }
  thread.is_walking = false;
  return site;
}

std::uint64_t CallPaths::walk(std::uint64_t return_address, std::uint64_t frame, StackBounds bounds) {
  const std::lock_guard lock(walking_);
  const StackPath path = walk_stack(frame, bounds, return_address, most_, *this);
  if (path.frames == 0) return return_address;
  const std::uint64_t site = path.frames == 1 ? return_address : number_of(path);
  remember(return_address, path, site);
  return site;
}

std::uint64_t CallPaths::number_of(const StackPath& path) {
  const Frames frames{path.frames, path.return_addresses};
  const auto known = numbers_.find(frames);
  if (known != numbers_.end()) return trace::call_path_bit | known->second;
  if (numbers_.size() == most_paths) return path.return_addresses[0];
  const auto id = static_cast<std::uint32_t>(numbers_.size() + 1);
  constexpr std::size_t frames_per_part = std::size(trace::CallPath{}.return_addresses);
  constexpr std::size_t most_parts = (most_frames + frames_per_part - 1) / frames_per_part;
  std::array<trace::CallPath, most_parts> parts{};
  std::size_t count = 0;
  for (std::size_t first = 0; first < path.frames; first += frames_per_part) {
    trace::CallPath& part = parts[count++];
    const std::size_t taken = std::min(frames_per_part, path.frames - first);
    part.id = id;
    part.first = static_cast<std::uint8_t>(first);
    part.frames = static_cast<std::uint8_t>(taken);
    std::copy_n(path.return_addresses.begin() + first, taken, part.return_addresses);
    part.kind = trace::RecordKind::call_path;
  }
  const auto added = numbers_.emplace(frames, id).first;
  if (!recording().write_rare(parts.data(), count)) {
    numbers_.erase(added);
    return path.return_addresses[0];
  }
  return trace::call_path_bit | id;
}

void CallPaths::remember(std::uint64_t return_address, const StackPath& path, std::uint64_t site) noexcept {
  std::atomic<const Known*>& chain = chain_of(return_address);
  std::size_t length = 0;
  for (const Known* each = chain.load(std::memory_order_relaxed); each != nullptr; each = each->next)
    ++length;
  if (length >= longest_chain || known_ == most_known) return;
  void* const memory = ::operator new(sizeof(Known) + path.words * sizeof(WordRead), std::nothrow);
  if (memory == nullptr) return;
  std::uint32_t reach = 0;
  for (std::size_t i = 0; i < path.words; ++i)
    reach = std::max(reach, path.read[i].at + static_cast<std::uint32_t>(sizeof(std::uint64_t)));
  Known* const known = new (memory) Known{return_address, site, chain.load(std::memory_order_relaxed),
                                          static_cast<std::uint32_t>(path.words), reach};
  std::memcpy(static_cast<void*>(known + 1), path.read.data(), path.words * sizeof(WordRead));
  chain.store(known, std::memory_order_release);
  ++known_;
}

/// Thread: that which holds `walking_`.
CodeAt CallPaths::at(std::uint64_t return_address) noexcept try {
  const auto known = rules_.find(return_address);
  if (known != rules_.end()) return known->second;
  const CodeAt code = code_at(return_address);
  if (code.is_code) rules_.emplace(return_address, code);
  return code;
} catch (...) {
  return {};
}

void start_call_paths(std::size_t most) noexcept {
  if (most <= 1) return;
  auto* const started = new (std::nothrow) CallPaths(most);
  call_paths.store(started, std::memory_order_release);
}

[[gnu::noinline]] std::uint64_t call_site_of(const void* return_address) noexcept {
  const auto address = reinterpret_cast<std::uint64_t>(return_address);
  CallPaths* const paths = call_paths.load(std::memory_order_acquire);
  if (paths == nullptr) return address;
  const std::uint64_t site =
      paths->site_of(address, reinterpret_cast<std::uint64_t>(__builtin_frame_address(0)));
  __asm__ volatile("" ::: "memory");  // the call is no jump, which would leave this function's frame before
  return site;
}

}  // namespace penstock::record
