// Measures the transports of this machine, between two processes of its own for each kind of link between
// GPUs, and makes a table of it. What `penstock tune` does, without its command line.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

#include "transports/tuning/tuning_file.hpp"

namespace penstock::transports::tune {

struct Options {
  /// Fewer rounds, payloads up to 16 MiB: what is decided by larger ones keeps its shipped figure.
  bool quick = false;
  std::chrono::seconds limit{110};  ///< what is not measured by then keeps its shipped figure
};

/// Who is told how it goes.
struct Listener {
  /// `done` of `all` steps; `what` comes next.
  std::function<void(std::size_t done, std::size_t all, const std::string& what)> progress;
  /// A line that must not be lost: a transport that is not open, or has failed.
  std::function<void(const std::string& line)> say;
};

/// Starts processes and ends them again. Why nothing could be measured; empty: the file has what was.
/// Initialises CUDA here, makes no context.
[[nodiscard]] std::string tune(const Options& options, const Listener& listener, TuningFile& file);

}  // namespace penstock::transports::tune
