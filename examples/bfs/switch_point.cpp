#include "examples/bfs/switch_point.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "examples/bfs/frontier_exchange.hpp"

namespace bfs {
namespace {

class Measurement {
 public:
  Measurement(example::Exchange exchange, MPI_Comm communicator, std::int64_t block_words)
      : exchange_(exchange, communicator, block_words, block_words),
        block_words_(static_cast<std::size_t>(block_words)),
        sets_(block_words_ * static_cast<std::size_t>(exchange_.member_count())) {}

  /// Every member sends a set of that size, as a list, to every other. Up to a vertex a word.
  double list_s(std::int64_t size) { return fastest_s(size, size); }
  double bitmap_s() { return fastest_s(1, FrontierExchange::unknown); }

 private:
  double fastest_s(std::int64_t size, std::int64_t announced_size) {
    std::vector<std::uint32_t> set(block_words_);
    std::fill_n(set.begin(), size, 1u);
    for (int member = 0; member < exchange_.member_count(); ++member) {
      example::check(cudaMemcpyAsync(sets_.get() + static_cast<std::size_t>(member) * block_words_,
                                     set.data(), block_words_ * 4, cudaMemcpyHostToDevice, stream_.get()),
                     "copy a bitmap");
    }
    stream_.synchronize();
    const std::vector<std::int64_t> sizes(static_cast<std::size_t>(exchange_.member_count()), announced_size);
    constexpr int repetitions = 8;  // the first ones open connections
    double fastest = 1e9;
    for (int repetition = 0; repetition < repetitions; ++repetition) {
      MPI_Barrier(MPI_COMM_WORLD);
      const double start_s = MPI_Wtime();
      exchange_.gather(stream_, sets_.get(), sizes);
      stream_.synchronize();
      fastest = std::min(fastest, MPI_Wtime() - start_s);
    }
    return fastest;
  }

  FrontierExchange exchange_;
  std::size_t block_words_;
  example::DeviceArray<std::uint32_t> sets_;
  example::Stream stream_{example::Priority::normal};
};

}  // namespace

std::int64_t measured_switch_point(example::Exchange exchange, MPI_Comm communicator,
                                   std::int64_t block_words) {
  Measurement measurement(exchange, communicator, block_words);
  const std::array<double, 3> own_s{measurement.list_s(1), measurement.list_s(block_words),
                                    measurement.bitmap_s()};
  std::array<double, 3> slowest_s{};
  MPI_Allreduce(own_s.data(), slowest_s.data(), 3, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const auto [shortest_s, longest_s, bitmap_s] = slowest_s;
  if (bitmap_s >= longest_s) {
    return block_words;
  }
  if (bitmap_s <= shortest_s) {
    return 0;
  }
  // a list's time grows with its length
  const double share = (bitmap_s - shortest_s) / (longest_s - shortest_s);
  return static_cast<std::int64_t>(share * static_cast<double>(block_words));
}

}  // namespace bfs
