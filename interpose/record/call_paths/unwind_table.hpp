// Reads the unwind tables of x86-64 modules (.eh_frame_hdr and .eh_frame, as the psABI and the Linux Standard
// Base have them) as far as a walk needs: where a frame ends, and where it keeps its caller's frame pointer.
// Reads within a mapped range only, whatever the tables say.
#pragma once

#include <cstdint>

#include "interpose/record/call_paths/frame_rules.hpp"
#include "interpose/record/call_paths/unwind_bytes.hpp"

namespace penstock::record {

/// Finds the rule of the instruction at `address` by the table whose index (.eh_frame_hdr) is at `index`.
/// `mapped`: readable memory around the index, which must hold the table, too. If the table has no rule, or
/// one that cannot be followed here, such as that of a signal's frame, the walk ends
/// (FrameRule::EndBy::none).
[[nodiscard]] FrameRule rule_in_table(std::uint64_t index, ByteRange mapped, std::uint64_t address) noexcept;

}  // namespace penstock::record
