// Measures the transports of this machine, between two processes of its own for each kind of link between
// GPUs, and makes a table of the results. This is `penstock tune` without its command line.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

#include "transports/tuning/tuning_file.hpp"

namespace penstock::transports::tune {

struct Options {
  /// Fewer rounds, payloads up to 16 MiB: figures that larger ones decide stay as shipped.
  bool quick = false;
  std::chrono::seconds limit{110};  ///< figures that are not measured by then stay as shipped
};

/// Receives the progress and the notices.
struct Listener {
  /// `done` of `all` steps; `what` is next.
  std::function<void(std::size_t done, std::size_t all, const std::string& what)> progress;
  /// A line that must not be lost: a transport that is not open, or has failed.
  std::function<void(const std::string& line)> say;
};

/// Starts processes and ends them again. Returns why nothing could be measured; empty: the file has the
/// results. Initialises CUDA here, makes no context.
[[nodiscard]] std::string tune(const Options& options, const Listener& listener, TuningFile& file);

}  // namespace penstock::transports::tune
