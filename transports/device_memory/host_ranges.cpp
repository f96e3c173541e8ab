#include "transports/device_memory/host_ranges.hpp"

#include <link.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace penstock::transports::cuda {
namespace {

/// Addresses from `begin` up to `end`, without it.
struct Range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  [[nodiscard]] bool holds(std::uintptr_t address) const noexcept {
    return address >= begin && address < end;
  }
};

std::uintptr_t address_of(const void* pointer) noexcept {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

/// Reads /proc, as sbrk cannot tell where the heap began. Returns UINTPTR_MAX (no heap is known) if /proc
/// cannot be read.
std::uintptr_t heap_begin() noexcept {
  std::uintptr_t begin = 0;
  if (std::FILE* file = std::fopen("/proc/self/stat", "re")) {
    char line[2048] = "";
    const std::size_t bytes = std::fread(line, 1, sizeof(line) - 1, file);
    line[bytes] = '\0';
    std::fclose(file);
    // the program's name, in parentheses, may hold anything; start_brk is the 45th field after it
    const char* field = std::strrchr(line, ')');
    for (int skip = 0; field != nullptr && skip < 45; ++skip) field = std::strchr(field + 1, ' ');
    unsigned long long value = 0;
    if (field != nullptr && std::sscanf(field, "%llu", &value) == 1) begin = value;
  }
  return begin == 0 ? UINTPTR_MAX : begin;
}

/// Returns the range of the program's writable segments; the linker lists the program itself first.
Range program_image() noexcept {
  Range image;
  dl_iterate_phdr(
      [](dl_phdr_info* program, std::size_t, void* result) {
        auto& range = *static_cast<Range*>(result);
        for (int i = 0; i < program->dlpi_phnum; ++i) {
          const auto& segment = program->dlpi_phdr[i];
          if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0) continue;
          const std::uintptr_t begin = program->dlpi_addr + segment.p_vaddr;
          range.begin = range.end == 0 ? begin : std::min(range.begin, begin);
          range.end = std::max(range.end, begin + segment.p_memsz);
        }
        return 1;
      },
      &image);
  return image;
}

Range this_threads_stack() noexcept {
  Range stack;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return stack;
  void* lowest = nullptr;
  std::size_t bytes = 0;
  if (pthread_attr_getstack(&attributes, &lowest, &bytes) == 0) {
    stack = {address_of(lowest), address_of(lowest) + bytes};
  }
  pthread_attr_destroy(&attributes);
  return stack;
}

/// Looked up once a thread. Plain data in the static TLS block, so that access costs an instruction: the
/// library is loaded with the program.
const Range& stack_of_this_thread() noexcept {
  [[gnu::tls_model("initial-exec")]] static constinit thread_local Range stack;
  [[gnu::tls_model("initial-exec")]] static constinit thread_local bool known = false;
  if (!known) [[unlikely]] {
    stack = this_threads_stack();
    known = true;
  }
  return stack;
}

/// The heap grows, and nothing else ever lies where it has been. Its end is queried only for an address above
/// the last answer, and not for addresses far above it, as most others are (UCX intercepts sbrk, which then
/// costs 0.1 µs).
bool lies_below_the_heaps_end(std::uintptr_t address) noexcept {
  constexpr std::uintptr_t far = std::uintptr_t{1} << 40;
  static std::atomic<std::uintptr_t> known_end{address_of(sbrk(0))};
  const std::uintptr_t end = known_end.load(std::memory_order_relaxed);
  if (address < end) return true;
  if (address - end > far) return false;
  const std::uintptr_t now = address_of(sbrk(0));
  known_end.store(now, std::memory_order_relaxed);
  return address < now;
}

}  // namespace

bool is_surely_host(const void* pointer) noexcept {
  static const std::uintptr_t heap = heap_begin();
  static const Range image = program_image();
  const Range& stack = stack_of_this_thread();
  const std::uintptr_t address = address_of(pointer);
  // only the part between here and the stack's end is surely in use, and only if we run on that stack (not a
  // fiber's)
  const std::uintptr_t here = address_of(__builtin_frame_address(0));
  if (stack.holds(here) && address >= here && address < stack.end) return true;
  return image.holds(address) || (address >= heap && lies_below_the_heaps_end(address));
}

}  // namespace penstock::transports::cuda
