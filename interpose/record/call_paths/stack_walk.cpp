#include "interpose/record/call_paths/stack_walk.hpp"

#include <pthread.h>

namespace penstock::record {
namespace {

/// Between the walk's first frame and the application's lie some of Penstock's own, fewer than these.
constexpr std::size_t most_own_frames = 8;
/// A frame may depend on the frame pointer, a saved end and the return address.
constexpr std::size_t most_words_of_frame = 3;

class Walk {
 public:
  Walk(std::uint64_t frame, StackBounds bounds, FrameRules& rules) noexcept
      : first_(frame), bounds_(bounds), rules_(rules) {}

  StackPath to(std::uint64_t first_return_address, std::size_t most) noexcept {
    if (!bounds_.holds(first_) || !go_on()) return {};
    std::size_t own_frames = 0;
    while (return_address_ != first_return_address) {
      if (++own_frames > most_own_frames || !go_on()) return {};
    }
    path_.return_addresses[path_.frames++] = return_address_;
    while (path_.frames < most && go_on()) path_.return_addresses[path_.frames++] = return_address_;
    return path_;
  }

 private:
  /// Goes to the caller's frame; false: there is none, or it cannot be known.
  bool go_on() noexcept {
    const std::size_t words = path_.words;
    if (path_.words + most_words_of_frame <= path_.read.size() && take(code_.rule)) return true;
    path_.words = words;
    return false;
  }

  bool take(const FrameRule& rule) noexcept {
    std::uint64_t end = 0;
    switch (rule.end_by) {
      case FrameRule::EndBy::none:
        return false;
      case FrameRule::EndBy::stack_pointer:
        end = end_;
        break;
      case FrameRule::EndBy::frame_pointer:
        if (!depend_on_frame_pointer()) return false;
        end = frame_pointer_;
        break;
      case FrameRule::EndBy::saved_end: {
        const std::uint64_t at = behind(frame_pointer_, rule.slot);
        if (!depend_on_frame_pointer() || !is_readable(at)) return false;
        end = word_at(at);
        note(at, true, end);
        break;
      }
    }
    end = behind(end, rule.offset);
    const std::uint64_t returns_at = end - sizeof(std::uint64_t);
    if (end <= end_ || !is_readable(returns_at)) return false;
    const std::uint64_t return_address = address_in(word_at(returns_at));
    const CodeAt code = rules_.at(return_address);
    if (!code.is_code) return false;
    note(returns_at, false, return_address);
    if (!restore_frame_pointer(rule, end)) return false;
    end_ = end;
    return_address_ = return_address;
    code_ = code;
    return true;
  }

  /// Returns false if the walk ends. A frame pointer that is not saved where it can be read ends it when it
  /// is used, not before.
  bool restore_frame_pointer(const FrameRule& rule, std::uint64_t end) noexcept {
    std::uint64_t at = 0;
    switch (rule.callers) {
      case FrameRule::CallersFramePointer::unchanged:
        return true;
      case FrameRule::CallersFramePointer::lost:
        has_frame_pointer_ = false;
        return true;
      case FrameRule::CallersFramePointer::at_end:
        at = behind(end, rule.saved_at);
        break;
      case FrameRule::CallersFramePointer::at_frame_pointer:
        if (!depend_on_frame_pointer()) return false;
        at = behind(frame_pointer_, rule.saved_at);
        break;
    }
    has_frame_pointer_ = is_readable(at);
    if (!has_frame_pointer_) return true;
    saved_at_ = at;
    frame_pointer_ = word_at(at);
    return true;
  }

  /// Returns false if the frame pointer is no place of the stack. In code that does not keep one it is any
  /// number, which matters only where a frame's end goes by it.
  bool depend_on_frame_pointer() noexcept {
    if (!has_frame_pointer_ || frame_pointer_ < first_ || frame_pointer_ >= bounds_.high) return false;
    if (saved_at_ != noted_) note(saved_at_, true, frame_pointer_);
    noted_ = saved_at_;
    return true;
  }
  void note(std::uint64_t at, bool is_place, std::uint64_t value) noexcept {
    path_.read[path_.words++] = {static_cast<std::uint32_t>(at - first_), is_place ? 1u : 0u,
                                 is_place ? value - first_ : value};
  }
  [[nodiscard]] bool is_readable(std::uint64_t at) const noexcept { return bounds_.has_word(at, first_); }
  static std::uint64_t behind(std::uint64_t place, std::int32_t distance) noexcept {
    return place + static_cast<std::uint64_t>(std::int64_t{distance});
  }
  // This reads other frames' memory, which no sanitizer may judge.
  [[gnu::no_sanitize_address, gnu::no_sanitize_thread, gnu::noinline]] static std::uint64_t word_at(
      std::uint64_t at) noexcept {
    return *reinterpret_cast<const volatile std::uint64_t*>(at);
  }

  const std::uint64_t first_;
  const StackBounds bounds_;
  FrameRules& rules_;
  std::uint64_t end_ = first_;  ///< of the frame before
  std::uint64_t frame_pointer_ = first_;
  std::uint64_t saved_at_ = 0;  ///< where the frame pointer was read; 0: it is the walk's first frame
  std::uint64_t noted_ = 0;
  bool has_frame_pointer_ = true;
  std::uint64_t return_address_ = 0;
  CodeAt code_{true, frame_pointer_rule};
  StackPath path_;
};

}  // namespace

StackBounds bounds_of_this_stack() noexcept {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  void* begin = nullptr;
  std::size_t bytes = 0;
  const int error = pthread_attr_getstack(&attributes, &begin, &bytes);
  pthread_attr_destroy(&attributes);
  if (error != 0) return {};
  const auto low = reinterpret_cast<std::uint64_t>(begin);
  return {low, low + bytes};
}

StackPath walk_stack(std::uint64_t frame, StackBounds bounds, std::uint64_t first_return_address,
                     std::size_t most, FrameRules& rules) noexcept {
  return Walk(frame, bounds, rules).to(first_return_address, most < most_frames ? most : most_frames);
}

}  // namespace penstock::record
