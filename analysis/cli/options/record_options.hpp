// The checks of those options of `penstock run` that say which part of a run is recorded. The library, which
// reads the same from variables, must not stop a job because of them, and records all of it instead.
#pragma once

#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "interpose/node/rank_list.hpp"
#include "interpose/record/trace_format.hpp"
#include "interpose/record/window_request.hpp"
#include "transports/host/byte_sizes.hpp"

namespace penstock::cli {

/// Returns true if a name has a colon that is neither of "::" nor of ": ", as names of ranges have them: then
/// it is rather a number that was mistyped, as in "step:1O".
[[nodiscard]] inline bool has_lone_colon(std::string_view name) {
  for (std::size_t i = name.find(':'); i != std::string_view::npos; i = name.find(':', i)) {
    const char next = i + 1 < name.size() ? name[i + 1] : '\0';
    if (next != ':' && next != ' ') return true;
    i += 2;
  }
  return false;
}

/// These return what is wrong with a value; empty: nothing.
[[nodiscard]] inline std::string why_no_window(const std::string& text) {
  record::WindowRequest window;
  return record::parse_window(text, window) && !has_lone_colon(window.range)
             ? ""
             : fmt::format(
                   "\"{}\" is neither a range (step, step:100, step:100: or step:100:200, counted from 1) "
                   "nor profiler",
                   text);
}

[[nodiscard]] inline std::string why_no_ranks(const std::string& text) {
  interpose::RankList ranks;
  return ranks.parse(text) ? "" : fmt::format("\"{}\" is not a list of ranks, such as 0,3-5", text);
}

[[nodiscard]] inline std::string why_not_kept(const std::string& text) {
  // names, a thread, the GPU, the table of what is lost, and two to be overwritten in turn
  constexpr std::uint64_t least_blocks = 6;
  constexpr std::uint64_t least_bytes = trace::file_header_bytes + least_blocks * trace::block_bytes;
  std::uint64_t bytes = 0;
  if (!transports::parse_bytes(text, bytes)) {
    return fmt::format("\"{}\" is not a number of bytes, such as 200M", text);
  }
  return bytes >= least_bytes
             ? ""
             : fmt::format("\"{}\" is too little: a rank with one thread takes {}K, and usual is 200M", text,
                           (least_bytes + 1023) / 1024);
}

}  // namespace penstock::cli
