// Copies a payload chunk by chunk between its place and host memory, in the background: the GPU's part of the
// transport between nodes. Knows neither how chunks travel nor where their memory comes from.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>

#include "transports/copies/chunk_ring.hpp"
#include "transports/copies/copy.hpp"
#include "transports/cuda/context.hpp"

namespace penstock::transports {

/// Owns its place in a stream until destroyed; the destructor waits for what is queued. Thread: one at a
/// time.
class ChunkCopies {
 public:
  /// Starts the copies. `out`: the application's earlier work on the buffer must be done. `in`: that work is
  /// waited for.
  [[nodiscard]] static Status start(const BufferView& view, Way way,
                                    std::unique_ptr<ChunkCopies>& copies) noexcept;
  ChunkCopies(const BufferView& view, Way way, cuda::ContextRef context);
  ~ChunkCopies();
  ChunkCopies(const ChunkCopies&) = delete;
  ChunkCopies& operator=(const ChunkCopies&) = delete;

  /// Queues the copy of the payload's next bytes to or from `chunk`. If the view is host memory, copies at
  /// once.
  [[nodiscard]] Status copy(char* chunk, std::size_t bytes) noexcept;
  /// Sets `ended` to the number of chunks, in order, that completed since the last call. Never blocks.
  [[nodiscard]] Status advance(std::size_t& ended) noexcept;

 private:
  [[nodiscard]] Status begin() noexcept;
  [[nodiscard]] Status queue(char* chunk, std::size_t bytes);

  BufferView view_;
  LayoutCursor cursor_;
  cuda::ContextRef context_;  ///< null: the view is host memory
  CUstream stream_ = nullptr;
  std::deque<cuda::Event> in_flight_;
  std::size_t ended_ = 0;  ///< copied by the CPU
  Way way_;
};

}  // namespace penstock::transports
