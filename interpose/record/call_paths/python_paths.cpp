#include "interpose/record/call_paths/python_paths.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "interpose/record/file/strings.hpp"
#include "interpose/record/recorder.hpp"

namespace penstock::record {

/// A walk that was made.
struct PythonPaths::Known {
  std::uint64_t site = 0;  ///< without Python's functions
  ReadLog read;
  std::uint64_t result = 0;
  Known* next = nullptr;  ///< that of the thread's next call, the last time
};

/// The knowledge of a thread about its own frames.
struct PythonPaths::OfThread {
  std::array<Known, 64> known;  ///< by hash of the site and the innermost frame
  Known* last = nullptr;        ///< that of the last call
  ReadLog head;                 ///< what was read to find the place
  std::vector<std::byte> scratch;
};

namespace {

/// The state of a thread. It is plain data: an access costs one instruction.
struct PythonOfThread {
  void* known = nullptr;  ///< PythonPaths::OfThread
  /// A call of MPI from a signal's handler came in the middle of reading, or the thread has ended.
  bool is_closed = false;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local PythonOfThread python_of_thread;

std::string text_of(const PythonFrame& frame) {
  return std::to_string(frame.line) + "\n" + frame.function + "\n" + frame.file;
}

}  // namespace

/// Returns what the calling thread knows; it goes with the thread. Errors: std::bad_alloc.
PythonPaths::OfThread* PythonPaths::of_this_thread() {
  struct Owner {
    std::unique_ptr<OfThread> owned;
    ~Owner() {
      python_of_thread.known = nullptr;
      python_of_thread.is_closed = true;
    }
  };
  if (python_of_thread.known == nullptr) {
    static thread_local Owner owner;
    owner.owned = std::make_unique<OfThread>();
    python_of_thread.known = owner.owned.get();
  }
  return static_cast<OfThread*>(python_of_thread.known);
}

std::uint64_t PythonPaths::site_of(std::uint64_t site) noexcept {
  if (python_of_thread.is_closed) return site;
  const std::uint64_t thread_state = interpreter_.state_of_this_thread();
  if (thread_state == 0) return site;
  python_of_thread.is_closed = true;
  std::uint64_t result = site;
  try {
    result = look_up(site, thread_state);
  } catch (...) {  // out of memory: the call site is still known
  }
  python_of_thread.is_closed = false;
  return result;
}

std::uint64_t PythonPaths::look_up(std::uint64_t site, std::uint64_t thread_state) {
  OfThread& thread = *of_this_thread();
  // Calls mostly come in the order of the last time, so one look at memory is enough.
  Known* known = thread.last != nullptr ? thread.last->next : nullptr;
  if (known == nullptr || known->site != site || !known->read.is_unchanged(thread.scratch)) {
    known = find(site, thread_state, thread);
    if (known == nullptr) return site;
    if (thread.last != nullptr) thread.last->next = known;
  }
  thread.last = known;
  // An interpreter that ends frees the states of other threads behind this mark; what was read before holds.
  return interpreter_.state_of_this_thread() == thread_state ? known->result : site;
}

PythonPaths::Known* PythonPaths::find(std::uint64_t site, std::uint64_t thread_state, OfThread& thread) {
  thread.head.clear();
  const std::optional<PythonFrameHead> head =
      PythonStack(interpreter_.layout(), interpreter_.types(), thread.head).innermost(thread_state);
  if (!head) return nullptr;
  const std::uint64_t hash = (site ^ head->address * 31 ^ head->position * 17) * 0x9e3779b97f4a7c15u;
  constexpr int bits = 6;
  static_assert(std::tuple_size_v<decltype(thread.known)> == 1u << bits);
  Known& known = thread.known[hash >> (64 - bits)];
  if (known.site == site && known.read.is_unchanged(thread.scratch)) return &known;
  known.site = 0;
  known.read.clear();
  PythonStack stack(interpreter_.layout(), interpreter_.types(), known.read);
  const std::optional<PythonFrameHead> again = stack.innermost(thread_state);
  if (!again) return nullptr;
  known.result = walk(site, again->address, stack);
  known.site = site;
  return &known;
}

std::uint64_t PythonPaths::walk(std::uint64_t site, std::uint64_t frame, PythonStack& stack) {
  PathFrames path = numbers_.frames_of(site);
  // else code that is made up at run time would fill the recording with its names
  if (path.count == 0 || numbers_.is_full()) return site;
  const auto* const begin = path.frames.data();
  const auto of_interpreter = std::find_if(begin, begin + path.count, [this](std::uint64_t address) {
    return interpreter_.has_code(address - 1);
  });
  // what is between the interpreter and MPI may be the user's, or only pass the call on
  std::size_t inner = std::max<std::size_t>(1, static_cast<std::size_t>(of_interpreter - begin));
  const std::vector<PythonFrame> functions = stack.frames(frame, most_ - std::min(inner, most_ / 2));
  if (functions.empty()) return site;
  inner = std::min(inner, most_ - functions.size());
  std::size_t count = inner;
  for (const PythonFrame& each : functions) {
    const std::uint32_t text = strings().id_of(text_of(each));
    if (text == trace::no_string) return site;
    path.frames[count++] = trace::python_frame_bit | text;
  }
  std::fill(path.frames.begin() + static_cast<std::ptrdiff_t>(count), path.frames.end(), 0);
  path.count = count;
  const std::uint64_t number = numbers_.number_of(path);
  return (number & trace::call_path_bit) != 0 ? number : site;
}

PythonPaths* start_python_paths(std::size_t most, PathNumbers& numbers, bool says) noexcept try {
  PythonInterpreter interpreter;
  std::string why_not;
  if (interpreter.find()) {
    std::byte byte{};
    if (read_own_memory(interpreter.types().code, std::span(&byte, 1)))
      return new PythonPaths(interpreter, std::min(most, most_frames), numbers);
    why_not = "process_vm_readv is forbidden here";
  } else if (interpreter.unknown_minor() != 0) {
    why_not = "Python 3." + std::to_string(interpreter.unknown_minor()) + " is not known";
  }
  if (says && !why_not.empty()) notice("call paths have no functions of Python: " + why_not);
  return nullptr;
} catch (...) {
  return nullptr;
}

}  // namespace penstock::record
