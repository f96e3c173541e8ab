// Allocates large blocks of memory from huge pages, and keeps them when they are freed. A report fills and
// frees the same large vectors for rank after rank; with ordinary pages, first touches and page-table misses
// took half of its time (analysis/README.md has the figures). Replaces the global operator new; smaller
// blocks still come from malloc.
#include <sys/mman.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>

// sanitizers have their own
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PENSTOCK_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define PENSTOCK_SANITIZED
#endif
#endif

#ifndef PENSTOCK_SANITIZED

namespace {

constexpr std::size_t smallest_bytes = std::size_t{128} << 10;
constexpr std::size_t kept_bytes = std::size_t{64} << 20;  ///< larger ones go back to the system when freed
constexpr std::size_t header_bytes = 64;                   ///< before each block; a multiple of the alignment

/// Size classes are eighths of powers of two, so that at most an eighth of a block is lost.
constexpr std::size_t class_count = 64 * 8;

class Blocks {
 public:
  Blocks() {
    // address space only; a terabyte, or what `ulimit -v` allows
    for (std::size_t bytes = std::size_t{1} << 40; bytes >= kept_bytes; bytes /= 4) {
      void* const region =
          ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (region != MAP_FAILED) {
        begin_ = next_ = reinterpret_cast<std::uintptr_t>(region);
        end_ = begin_ + bytes;
        ::madvise(region, bytes, MADV_HUGEPAGE);  // if it fails, pages are small
        return;
      }
    }
  }

  /// Returns null if no room is left.
  void* take(std::size_t bytes) noexcept {
    if (bytes > end_ - begin_) {
      return nullptr;
    }
    const std::size_t number = class_of(bytes + header_bytes);
    const std::lock_guard lock(mutex_);
    if (Header* const block = free_[number]; block != nullptr) {
      free_[number] = block->next;
      return payload_of(block);
    }
    const std::size_t size = size_of_class(number);
    if (size > end_ - next_) {
      return nullptr;
    }
    auto* const block = new (reinterpret_cast<void*>(next_)) Header{number, nullptr};
    next_ += size;
    return payload_of(block);
  }

  /// Returns false if the address is not one of these blocks.
  bool give_back(void* payload) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(payload);
    if (address < begin_ || address >= end_) {
      return false;
    }
    auto* const block = reinterpret_cast<Header*>(address - header_bytes);
    if (const std::size_t size = size_of_class(block->number); size > kept_bytes) {
      constexpr std::size_t page_bytes = std::size_t{2} << 20;
      const std::uintptr_t first = (address + page_bytes - 1) & ~(page_bytes - 1);
      const std::uintptr_t last = (address - header_bytes + size) & ~(page_bytes - 1);
      ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
    }
    const std::lock_guard lock(mutex_);
    block->next = free_[block->number];
    free_[block->number] = block;
    return true;
  }

 private:
  struct Header {
    std::size_t number;  ///< of its size class
    Header* next;        ///< next free block of that size
  };
  static void* payload_of(Header* block) noexcept {
    return reinterpret_cast<std::byte*>(block) + header_bytes;
  }
  /// Returns the smallest class that holds this many bytes.
  static std::size_t class_of(std::size_t bytes) noexcept {
    const auto power = static_cast<std::size_t>(63 - __builtin_clzll(bytes - 1));
    return power * 8 + ((bytes - 1) >> (power - 3)) - 7;
  }
  static std::size_t size_of_class(std::size_t number) noexcept {
    const std::size_t power = (number - 1) / 8;
    return (9 + (number - 1) % 8) << (power - 3);
  }

  std::mutex mutex_;
  std::uintptr_t begin_ = 0;
  std::uintptr_t next_ = 0;  ///< memory from here on was never used
  std::uintptr_t end_ = 0;
  std::array<Header*, class_count> free_{};
};

/// Never destroyed: other code frees memory after this program's statics are destroyed.
Blocks& blocks() noexcept {
  alignas(Blocks) static std::byte room[sizeof(Blocks)];
  static Blocks* const all = new (room) Blocks;
  return *all;
}

void* allocate(std::size_t bytes) {
  if (bytes >= smallest_bytes) {
    if (void* const block = blocks().take(bytes); block != nullptr) {
      return block;
    }
  }
  return std::malloc(bytes == 0 ? 1 : bytes);
}

}  // namespace

void* operator new(std::size_t bytes) {
  for (;;) {
    if (void* const block = allocate(bytes); block != nullptr) {
      return block;
    }
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) {
      throw std::bad_alloc();
    }
    handler();
  }
}

void operator delete(void* block) noexcept {
  if (block != nullptr && !blocks().give_back(block)) {
    std::free(block);
  }
}

void operator delete(void* block, std::size_t bytes) noexcept {
  if (bytes < smallest_bytes) {
    std::free(block);
  } else {
    ::operator delete(block);
  }
}

#endif
