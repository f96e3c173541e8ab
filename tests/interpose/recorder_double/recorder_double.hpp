// A stand-in for the recorder (interpose/record/recorder.hpp): what is written stays in memory for the test
// to look at, and the test sets the clock. Knows no MPI.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "interpose/record/trace_format.hpp"

namespace penstock::test {

/// Thread: any; taken records are copies.
class RecorderDouble {
 public:
  static void start();  ///< forgets everything, recording on
  static void stop();
  static void set_clock(std::uint64_t now_ns);
  [[nodiscard]] static std::vector<trace::MpiCall> calls();
  [[nodiscard]] static std::vector<trace::Communicator> communicators();
  [[nodiscard]] static std::vector<trace::MessageHalf> messages();
  [[nodiscard]] static std::vector<std::string> notices();
  [[nodiscard]] static std::string text(std::uint32_t id);
};

}  // namespace penstock::test
