#include "examples/bfs/frontier_exchange.hpp"

#include <algorithm>

namespace bfs {
namespace {

int rank_in(MPI_Comm communicator) {
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  return rank;
}

int size_of(MPI_Comm communicator) {
  int size = 0;
  MPI_Comm_size(communicator, &size);
  return size;
}

/// Lists or bitmaps for all members but this one; none where there is no other.
std::size_t room_for(int member_count, std::int64_t words) {
  return member_count == 1 ? 1 : static_cast<std::size_t>(std::max(member_count * words, std::int64_t{1}));
}

void clear(const example::Stream& stream, std::uint32_t* words, std::int64_t count) {
  example::check(cudaMemsetAsync(words, 0, static_cast<std::size_t>(count) * 4, stream.get()),
                 "clear a bitmap");
}

}  // namespace

FrontierExchange::FrontierExchange(example::Exchange exchange, MPI_Comm communicator,
                                   std::int64_t block_words, std::int64_t most_listed)
    : exchanger_(exchange, communicator),
      member_(rank_in(communicator)),
      member_count_(size_of(communicator)),
      block_words_(block_words),
      most_listed_(most_listed),
      unpacker_(member_count_ == 1 ? 0 : block_words * member_count_),
      lists_to_send_(room_for(member_count_, most_listed)),
      lists_received_(room_for(member_count_, most_listed)),
      bitmaps_received_(room_for(member_count_, block_words)),
      places_(static_cast<std::size_t>(member_count_) + 1) {}

void FrontierExchange::gather(const example::Stream& stream, std::uint32_t* blocks,
                              std::span<const std::int64_t> sizes) {
  if (member_count_ == 1) {
    return;
  }
  std::uint32_t* const own = block(blocks, member_);
  const std::int64_t own_size = sizes[static_cast<std::size_t>(member_)];
  std::uint32_t* const own_list = list(lists_to_send_, member_);
  if (is_listed(own_size) && own_size > 0) {
    unpacker_.queue_places(stream, own, block_words_);
    unpacker_.queue_list(stream, own, 0, block_words_, own_list);
  }
  for (int member = 0; member < member_count_; ++member) {
    if (member != member_) {
      const std::int64_t size = sizes[static_cast<std::size_t>(member)];
      add_message(sends_, own_list, own, own_size, member);
      add_message(receives_, list(lists_received_, member), block(blocks, member), size, member);
    }
  }
  transfer(stream);
  for (int member = 0; member < member_count_; ++member) {
    const std::int64_t size = sizes[static_cast<std::size_t>(member)];
    if (member != member_ && is_listed(size)) {
      clear(stream, block(blocks, member), block_words_);
      queue_pack(stream, list(lists_received_, member), size, block(blocks, member));
    }
  }
}

void FrontierExchange::scatter(const example::Stream& stream, std::uint32_t* blocks) {
  if (member_count_ == 1) {
    return;
  }
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(member_count_), unknown);
  std::vector<std::int64_t> coming = sizes;
  if (most_listed_ > 0) {  // else all are bitmaps, and nobody needs to count
    count_blocks(stream, blocks, sizes);
    MPI_Alltoall(sizes.data(), 1, MPI_INT64_T, coming.data(), 1, MPI_INT64_T, exchanger_.communicator());
  }
  for (int member = 0; member < member_count_; ++member) {
    if (member == member_) {
      continue;
    }
    const std::int64_t size = sizes[static_cast<std::size_t>(member)];
    std::uint32_t* const words = list(lists_to_send_, member);
    if (is_listed(size) && size > 0) {
      unpacker_.queue_list(stream, blocks, member * block_words_, block_words_, words);
    }
    add_message(sends_, words, block(blocks, member), size, member);
    add_message(receives_, list(lists_received_, member), block(bitmaps_received_.get(), member),
                coming[static_cast<std::size_t>(member)], member);
  }
  transfer(stream);
  std::uint32_t* const own = block(blocks, member_);
  for (int member = 0; member < member_count_; ++member) {
    const std::int64_t size = coming[static_cast<std::size_t>(member)];
    if (member != member_ && is_listed(size)) {
      queue_pack(stream, list(lists_received_, member), size, own);
    } else if (member != member_) {
      queue_unite(stream, block(bitmaps_received_.get(), member), own, block_words_);
    }
  }
}

/// Nothing is sent for an empty set.
void FrontierExchange::add_message(std::vector<example::Message>& messages, std::uint32_t* list,
                                   std::uint32_t* bitmap, std::int64_t size, int member) const {
  if (!is_listed(size)) {
    messages.push_back({bitmap, static_cast<int>(block_words_), member, 0});
  } else if (size > 0) {
    messages.push_back({list, static_cast<int>(size), member, 0});
  }
}

void FrontierExchange::transfer(const example::Stream& stream) {
  stream.synchronize();
  for (const example::Message& message : sends_) {
    sent_bytes_ += std::int64_t{message.count} * 4;
  }
  exchanger_(stream, sends_, receives_);
  sends_.clear();
  receives_.clear();
}

void FrontierExchange::count_blocks(const example::Stream& stream, const std::uint32_t* blocks,
                                    std::vector<std::int64_t>& sizes) {
  unpacker_.queue_places(stream, blocks, block_words_ * member_count_);
  const auto block_bytes = static_cast<std::size_t>(block_words_) * 4;
  example::check(cudaMemcpy2DAsync(places_.get(), 4, unpacker_.places(), block_bytes, 4, sizes.size() + 1,
                                   cudaMemcpyDeviceToHost, stream.get()),
                 "copy the sizes of sets");
  stream.synchronize();
  for (std::size_t member = 0; member < sizes.size(); ++member) {
    sizes[member] = std::int64_t{places_.get()[member + 1]} - places_.get()[member];
  }
}

}  // namespace bfs
