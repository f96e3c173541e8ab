// The patterns of messages that message_benchmark measures, as MPI calls. Both ranks call each function
// together. Knows no clock.
#pragma once

#include <cstdint>

#include "tests/benchmarks/message_buffers.hpp"

namespace penstock::benchmarks {

/// All the messages of a point once; returns on rank 0 when all have arrived.
void exchange(const Point& point, int rank, MessageBuffers& buffers);

/// A benchmark of messages that do not arrive would be fast: marks every message that this rank sends, at its
/// begin and end, with what no other `nonce` gives …
void mark(const Point& point, int rank, std::uint64_t nonce, MessageBuffers& buffers);
/// … and, after an exchange, ends the job with a line if a message came to this rank without its mark.
void expect_marks(const Point& point, int rank, std::uint64_t nonce, MessageBuffers& buffers);

}  // namespace penstock::benchmarks
