// Tells how a frame of the stack leads to its caller's, by the unwind tables (.eh_frame) of the module that a
// return address lies in, or by the frame pointer. Reads modules that are loaded and never the stack.
#pragma once

#include <cstdint>

namespace penstock::record {

/// The rule of one return address. The *frame's end* is the address behind the return address of the frame
/// (DWARF's CFA); the return address lies in the word before it.
struct FrameRule {
  enum class EndBy : std::uint8_t {
    none,           ///< unknown: the walk ends at this frame
    stack_pointer,  ///< the stack pointer in the call, which is the end of the frame called, and `offset`
    frame_pointer,  ///< the frame pointer and `offset`
    saved_end,      ///< the word at the frame pointer and `slot`, and `offset` (realigned stacks)
  };
  enum class CallersFramePointer : std::uint8_t {
    unchanged,
    at_end,            ///< saved at the frame's end and `saved_at`
    at_frame_pointer,  ///< saved at the frame pointer and `saved_at`
    lost,
  };
  EndBy end_by = EndBy::none;
  CallersFramePointer callers = CallersFramePointer::unchanged;
  std::int32_t offset = 0;
  std::int32_t slot = 0;
  std::int32_t saved_at = 0;
};

/// The rule of code that keeps a frame pointer: on aarch64 all does, by the procedure call standard.
inline constexpr FrameRule frame_pointer_rule{FrameRule::EndBy::frame_pointer,
                                              FrameRule::CallersFramePointer::at_end, 16, 0, -16};

struct CodeAt {
  bool is_code = false;  ///< a loaded module has instructions there
  FrameRule rule;
};

/// Looks up a return address. Where the tables tell nothing, or in a way not understood here, the walk ends:
/// a frame pointer may be any number, or another function's, and the path would lack frames. Cost: about 1
/// µs; takes the loader's lock for its list of modules, under which the loader runs no code of modules.
/// Thread: any.
[[nodiscard]] CodeAt code_at(std::uint64_t return_address) noexcept;

}  // namespace penstock::record
