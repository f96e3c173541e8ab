// Two GMH ranks that measure messages between them, and raw copies if both are threads of one process.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "examples/gmh/gmh.h"

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

/// Returns the median of five measurements.
template <typename Measure>
double median_of(Measure measure) {
  std::array<double, 5> values;
  for (double& each : values) each = measure();
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace gmh_programs
