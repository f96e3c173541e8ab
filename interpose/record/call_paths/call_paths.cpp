#include "interpose/record/call_paths/call_paths.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "interpose/record/call_paths/python_paths.hpp"
#include "interpose/record/file/recording.hpp"
#include "interpose/record/recorder.hpp"

namespace penstock::record {
namespace {

// These limits are there so that a program with endlessly many paths costs time, not memory.
constexpr std::size_t most_known = 1 << 17;
constexpr std::size_t longest_chain = 128;

std::atomic<CallPaths*> call_paths{nullptr};
std::atomic<PythonPaths*> python_paths{nullptr};  ///< null: there is no Python

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
  std::uint64_t site = return_address;
  if (path.frames > 1) site = numbers_.number_of({path.frames, path.return_addresses});
  remember(return_address, path, site);
  return site;
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

void start_call_paths(std::size_t most, bool says) noexcept {
  if (most <= 1) return;
  auto* const numbers = new (std::nothrow) PathNumbers;
  if (numbers == nullptr) return;
  PythonPaths* const of_python = start_python_paths(most, *numbers, says);
  if (of_python != nullptr) recording().add_features(trace::feature::python_frames);
  python_paths.store(of_python, std::memory_order_relaxed);
  call_paths.store(new (std::nothrow) CallPaths(most, *numbers), std::memory_order_release);
}

[[gnu::noinline]] std::uint64_t call_site_of(const void* return_address) noexcept {
  const auto address = reinterpret_cast<std::uint64_t>(return_address);
  CallPaths* const paths = call_paths.load(std::memory_order_acquire);
  if (paths == nullptr) return address;
  const std::uint64_t site =
      paths->site_of(address, reinterpret_cast<std::uint64_t>(__builtin_frame_address(0)));
  __asm__ volatile("" ::: "memory");  // the call is no jump, which would leave this function's frame before
  PythonPaths* const of_python = python_paths.load(std::memory_order_relaxed);
  return of_python == nullptr ? site : of_python->site_of(site);
}

}  // namespace penstock::record
