// Exchanges sets of vertices among the ranks of a row or a column of the grid. Each set goes in the form that
// suits its size: as a bitmap of a block, a bit a vertex, or as a list, 32 bits a vertex. Every buffer that
// it gives to MPI is device memory, unless staged by hand. Knows nothing of searches.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "examples/bfs/bitmap_kernels.hpp"
#include "examples/support/exchanger.hpp"

namespace bfs {

class FrontierExchange {
 public:
  /// Among the ranks of `communicator`, which must outlive it. Sets of more than `most_listed` vertices go as
  /// bitmaps.
  FrontierExchange(example::Exchange exchange, MPI_Comm communicator, std::int64_t block_words,
                   std::int64_t most_listed);

  [[nodiscard]] int member_count() const { return member_count_; }

  /// Every member's set to every other: `blocks` has a block for each member, in order, this rank's own
  /// filled in. sizes[m] is the size of member m's set, or `unknown`, which goes as a bitmap.
  void gather(const example::Stream& stream, std::uint32_t* blocks, std::span<const std::int64_t> sizes);
  static constexpr std::int64_t unknown = -1;

  /// To each member its set: block m of `blocks` goes to member m. What the others send is added to this
  /// rank's own block.
  void scatter(const example::Stream& stream, std::uint32_t* blocks);

  /// Bytes that this rank has sent so far.
  [[nodiscard]] std::int64_t sent_bytes() const { return sent_bytes_; }

 private:
  [[nodiscard]] bool is_listed(std::int64_t size) const { return size != unknown && size <= most_listed_; }
  [[nodiscard]] std::uint32_t* block(std::uint32_t* blocks, int member) const {
    return blocks + member * block_words_;
  }
  [[nodiscard]] std::uint32_t* list(const example::DeviceArray<std::uint32_t>& lists, int member) const {
    return lists.get() + member * most_listed_;
  }
  void add_message(std::vector<example::Message>& messages, std::uint32_t* list, std::uint32_t* bitmap,
                   std::int64_t size, int member) const;
  void transfer(const example::Stream& stream);
  void count_blocks(const example::Stream& stream, const std::uint32_t* blocks,
                    std::vector<std::int64_t>& sizes);

  example::Exchanger exchanger_;
  int member_ = 0;
  int member_count_ = 1;
  std::int64_t block_words_;
  std::int64_t most_listed_;
  std::int64_t sent_bytes_ = 0;
  Unpacker unpacker_;
  example::DeviceArray<std::uint32_t> lists_to_send_;
  example::DeviceArray<std::uint32_t> lists_received_;
  example::DeviceArray<std::uint32_t> bitmaps_received_;
  example::PinnedArray<std::uint32_t> places_;
  std::vector<example::Message> sends_;
  std::vector<example::Message> receives_;
};

}  // namespace bfs
