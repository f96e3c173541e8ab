// Two GMH ranks that measure messages between them, and raw copies if both are threads of one process.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "examples/gmh/gmh.h"
#include "examples/gmh/programs/program.hpp"

namespace gmh_programs {

/// The state that the threads of a process share.
struct Shared {
  struct Place {
    void* buffer = nullptr;
    int device = -1;
  };
  std::array<Place, 2> places;
};

/// Returns whether the calling thread is one of the first two ranks; throws if there are fewer.
[[nodiscard]] bool is_one_of_two(gmh_tasklist_t list);

/// One of the two ranks. Both make all calls, with the same arguments.
class Side {
 public:
  Side(gmh_tasklist_t list, Shared& shared, std::size_t most_bytes);
  ~Side();
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  /// Returns whether both are threads of one process.
  [[nodiscard]] bool is_one_process() const { return is_one_process_; }
  [[nodiscard]] int rank() const { return rank_; }

  /// Returns the seconds of half a round trip.
  double ping_pong_s(std::size_t bytes, int rounds);
  /// Returns the seconds of several messages in flight, from the first rank to the second, or both ways.
  double window_s(std::size_t bytes, int messages, bool both_ways);
  /// Returns the seconds of copies into the other rank's memory, by the first rank or by both. The thread
  /// waits for each copy, or for all of them.
  double copies_s(std::size_t bytes, int copies, bool waits_for_each, bool both_ways);
  /// Returns whether a round trip brings all bytes.
  [[nodiscard]] bool arrives(std::size_t bytes);

 private:
  void send(std::size_t bytes);
  void receive(std::size_t bytes);
  void meet();
  [[nodiscard]] char* incoming() const { return buffer_ + most_bytes_; }
  [[nodiscard]] bool is_first() const { return rank_ == 0; }

  gmh_tasklist_t list_;
  Shared& shared_;
  std::size_t most_bytes_;
  int rank_ = 0;
  bool is_one_process_ = false;
  char* buffer_ = nullptr;  ///< outgoing bytes, then incoming ones
  cudaStream_t stream_ = nullptr;
  std::vector<gmh_event_t> events_;
};

/// What `row_of` returns for each size that the two ranks measure.
struct PairRows {
  std::vector<Json> rows;
  bool all_arrive = true;  ///< with --verify
  bool is_one_process = false;
};

/// Measures all sizes on the calling thread, if it is one of the two ranks; the first rank keeps the rows.
/// `row_of(side, bytes)` makes all measurements of a size.
template <typename RowOf>
void measure_pair(gmh_tasklist_t list, Shared& shared, const Common& common,
                  const std::vector<std::size_t>& sizes, PairRows& result, RowOf row_of) {
  if (!is_one_of_two(list)) return;
  Side side(list, shared, *std::max_element(sizes.begin(), sizes.end()));
  for (const std::size_t bytes : sizes) {
    const bool arrives = !common.verify || side.arrives(bytes);
    Json row = row_of(side, bytes);
    if (side.rank() != 0) continue;
    result.rows.push_back(std::move(row));
    result.all_arrive = result.all_arrive && arrives;
    result.is_one_process = side.is_one_process();
  }
}

/// Prints the rows of that program, and in JSON what they are measured between and the members of `more`.
bool print_pair_rows(const Common& common, const char* program, const PairRows& result,
                     const Json& more = Json::object());

}  // namespace gmh_programs
