// Recycles the memory of objects that are made for each message: the thread that freed it keeps it for its
// next object. The C library keeps seven of a size, and windows of messages are longer. Knows nothing of the
// objects.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>

namespace penstock::transports {

/// None under AddressSanitizer, which would not see a use after free.
#if defined(__SANITIZE_ADDRESS__)
#define PENSTOCK_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PENSTOCK_ASAN 1
#endif
#endif
#ifdef PENSTOCK_ASAN
inline constexpr unsigned most_recycled = 0;
#undef PENSTOCK_ASAN
#else
inline constexpr unsigned most_recycled = 128;
#endif

/// Gives a final class T its operators new and delete, as a base of it. Thread: any; an object may be freed
/// on another thread than it was made on. Holds at most `most` pieces of memory of T's size for each thread,
/// until that thread ends.
template <class T, unsigned most = most_recycled>
class Recycled {
 public:
  static void* operator new(std::size_t bytes) {
    Pieces& pieces = pieces_of_this_thread;
    if (pieces.first == nullptr) return ::operator new(bytes);
    Piece* const piece = pieces.first;
    pieces.first = piece->next;
    --pieces.count;
    return piece;
  }
  static void operator delete(void* memory) noexcept {
    static_assert(std::is_final_v<T> && sizeof(T) >= sizeof(Piece) &&
                  alignof(T) <= alignof(std::max_align_t));
    Pieces& pieces = pieces_of_this_thread;
    if (pieces.count >= most || !is_released_at_exit()) return ::operator delete(memory);
    pieces.first = new (memory) Piece{pieces.first};
    ++pieces.count;
  }

 private:
  struct Piece {
    Piece* next;
  };
  /// Plain data, so that access costs one instruction.
  struct Pieces {
    Piece* first;
    unsigned count;
    bool is_released_at_exit;
  };
  struct Release {
    ~Release() {
      Pieces& pieces = pieces_of_this_thread;
      while (Piece* const piece = pieces.first) {
        pieces.first = piece->next;
        ::operator delete(piece);
      }
      pieces.count = most;  // what is freed later is not kept
    }
  };
  static bool is_released_at_exit() noexcept {
    if (!pieces_of_this_thread.is_released_at_exit) {
      static thread_local const Release release;
      static_cast<void>(release);
      pieces_of_this_thread.is_released_at_exit = true;
    }
    return true;
  }

  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local Pieces pieces_of_this_thread{};
};

}  // namespace penstock::transports
