// Makes several small uploads by one launch of the batched copy, through pinned memory. Knows no messages.
#pragma once

#include <cstddef>
#include <span>

#include "transports/memory/buffer.hpp"

namespace penstock::transports {

struct Upload {
  const BufferView* view;
  const char* host;
};
inline constexpr std::size_t most_joint_uploads = 64;
/// Larger payloads do not go through the MPI library (Tuning::uploaded_from, as shipped).
inline constexpr std::size_t largest_joint_upload = 16384;
/// Makes several such uploads by one launch, with room for most_joint_uploads of largest_joint_upload each: a
/// launch and its end take as long as two or three orders of a resident kernel (H200: 8 to 9 µs). Waits for
/// the application's earlier work, as far as it concerns one of them. False: they have to be made one by one,
/// for whatever reason; some may have been made. They may be made in any order: if two overlap, either's
/// bytes may stay. Thread: any.
[[nodiscard]] bool upload_together(std::span<const Upload> uploads) noexcept;
/// Returns whether the upload to there can be one of them. They must all be in one context, too.
[[nodiscard]] bool suits_a_joint_upload(const BufferView& view) noexcept;

}  // namespace penstock::transports
