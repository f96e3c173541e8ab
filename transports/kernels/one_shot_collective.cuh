// The device code of collectives that exchange data, and combine or place it, in one kernel. Only kernels.cu
// includes this file.
#pragma once

#include <type_traits>

#include "transports/kernels/one_shot_collective.hpp"
#include "transports/kernels/polling.cuh"
#include "transports/kernels/reduction.cuh"

namespace penstock::transports::kernels {
namespace {

/// A line of a vector as its elements and as what travels.
template <class T>
union OneShotLine {
  Vector<T> vector;
  std::uint32_t words[one_shot_line_words];
};

/// Loads are fresh, as the resident kernel outlives what it has read.
template <class T>
__device__ OneShotLine<T> load_line(const T* from, std::uint64_t elements) {
  OneShotLine<T> line = {};
  if constexpr (std::is_arithmetic_v<T>) {
    if (elements >= Vector<T>::length && reinterpret_cast<std::uintptr_t>(from) % sizeof(Vector<T>) == 0) {
      const auto words = load<Loads::fresh>(reinterpret_cast<const Word16*>(from));
      line.words[0] = static_cast<std::uint32_t>(words.low);
      line.words[1] = static_cast<std::uint32_t>(words.low >> 32);
      line.words[2] = static_cast<std::uint32_t>(words.high);
      line.words[3] = static_cast<std::uint32_t>(words.high >> 32);
      return line;
    }
  }
  for (std::uint32_t i = 0; i < Vector<T>::length && i < elements; ++i)
    line.vector.elements[i] = load_element_fresh(from + i);
  return line;
}

template <class T>
__device__ void store_line(T* to, const OneShotLine<T>& line, std::uint64_t elements) {
  if constexpr (std::is_arithmetic_v<T>) {
    if (elements >= Vector<T>::length && reinterpret_cast<std::uintptr_t>(to) % sizeof(Vector<T>) == 0) {
      *reinterpret_cast<Vector<T>*>(to) = line.vector;
      return;
    }
  }
  for (std::uint32_t i = 0; i < Vector<T>::length && i < elements; ++i)
    store_element(to + i, line.vector.elements[i]);
}

template <class T>
__device__ void send_line(std::uint64_t* to, const OneShotLine<T>& line, std::uint64_t stamp) {
  for (std::uint32_t i = 0; i < one_shot_line_words; i += 2)
    write_stamped(to + i, stamp | line.words[i], stamp | line.words[i + 1]);
}

/// Why a launch's threads give up.
constexpr std::uint32_t gave_up_waiting = 1;
constexpr std::uint32_t gave_up_on_sizes = 2;  ///< sizes differ

/// When threads give up: one after its time limit, or when it finds a wrong size, and then all.
struct Patience {
  std::uint64_t deadline_ns;
  std::uint32_t* has_given_up;

  __device__ bool is_over() const {
    if (read_changing(*has_given_up) != 0) return true;
    if (clock_ns() <= deadline_ns) return false;
    atomicOr(has_given_up, gave_up_waiting);
    return true;
  }
};

#ifdef __CUDACC__
constexpr std::uint32_t polls_between_looks = 64;
#else
constexpr std::uint32_t polls_between_looks = 1;  // a look at the clock lets others run
#endif

/// Returns true if the line has arrived.
template <class T>
__device__ bool poll_line(const std::uint64_t* from, std::uint32_t stamp, OneShotLine<T>& line) {
  bool is_there = true;
  for (std::uint32_t i = 0; i < one_shot_line_words; i += 2) {
    const StampedPair pair = read_stamped(from + i);
    is_there = is_there && pair.first >> 32 == stamp && pair.second >> 32 == stamp;
    line.words[i] = static_cast<std::uint32_t>(pair.first);
    line.words[i + 1] = static_cast<std::uint32_t>(pair.second);
  }
  return is_there;
}

/// Polls until the line has arrived. Returns false when it is time to give up.
template <class T>
__device__ bool await_line(const std::uint64_t* from, std::uint32_t stamp, const Patience& patience,
                           OneShotLine<T>& line) {
  for (std::uint32_t polls = 1; !poll_line(from, stamp, line); ++polls) {
    if (polls % polls_between_looks == 0 && patience.is_over()) return false;
  }
  return true;
}

/// On the simulated GPU threads run one after the other, and all must have sent before one waits.
__device__ void let_others_send() {
#ifndef __CUDACC__
  __syncwarp();
#endif
}

/// Returns how many of those bytes are left from there on.
__device__ std::uint32_t left_from(std::uint64_t bytes, std::uint64_t first) {
  return first < bytes ? static_cast<std::uint32_t>(bytes - first) : 0;
}

/// Returns the most bytes that go to one rank, or come from one.
__device__ std::uint64_t largest_of(const OneShotCollective& collective, std::uint64_t OneShotPeer::*bytes) {
  std::uint64_t largest = 0;
// A launch fetches its code anew, and unrolled this loop was half of it: 0.5 us.
#ifdef __CUDACC__
#pragma unroll 1
#endif
  for (std::uint32_t rank = 0; rank < collective.ranks; ++rank) {
    const std::uint64_t next = collective.peers[rank].*bytes;
    if (next > largest) largest = next;
  }
  return largest;
}

__device__ std::uint64_t lines_of(std::uint64_t bytes) {
  return (bytes + one_shot_line_bytes - 1) / one_shot_line_bytes;
}

/// Returns the words from the beginning of a slot to a line of the payload.
__device__ std::uint64_t words_before(std::uint64_t line) {
  return (one_shot_header_lines + line) * one_shot_line_words;
}

__device__ std::uint64_t stamp_of(const OneShotCollective& collective) {
  return std::uint64_t{collective.stamp} << 32;
}

/// Returns the rank whose header this thread handles, if there is one: the last threads have the fewest
/// lines.
__device__ std::uint32_t rank_of_header(ThreadGroup group) {
  return group.threads - 1 - group.thread;
}

/// Returns whether a part of that many bytes has a header. Without one, both ends know its size.
__device__ bool has_header(const OneShotCollective& collective, std::uint64_t bytes) {
  return collective.is_checked || bytes == 0;
}

/// Sends all lines, which `load(offset in bytes, bytes left)` returns, and the headers that are needed.
template <class Load>
__device__ void send_lines(const OneShotCollective& collective, ThreadGroup group, Load load) {
  if (!collective.sends) return;
  const bool is_for_each = collective.is_for_each;
  const std::uint64_t largest = largest_of(collective, &OneShotPeer::sent);
  for (std::uint64_t i = group.thread; i < lines_of(largest); i += group.threads) {
    const std::uint64_t first = i * one_shot_line_bytes;
    std::uint64_t begin = 0;
    for (std::uint32_t rank = 0; rank < collective.ranks;) {
      const auto line =
          load(begin + first, left_from(is_for_each ? collective.peers[rank].sent : largest, first));
      do {
        const OneShotPeer& peer = collective.peers[rank];
        if (first < peer.sent) send_line(peer.outgoing + words_before(i), line, stamp_of(collective));
        begin += peer.sent;
        ++rank;
      } while (!is_for_each && rank < collective.ranks);
    }
  }
  if (const std::uint32_t rank = rank_of_header(group);
      rank < collective.ranks && has_header(collective, collective.peers[rank].sent)) {
    OneShotLine<std::uint32_t> header = {};
    header.words[0] = static_cast<std::uint32_t>(collective.peers[rank].sent);
    send_line(collective.peers[rank].outgoing, header, stamp_of(collective));
  }
}

/// Waits for the headers, with a thread for each rank. Returns false if it is time to give up, or if sizes
/// differ.
__device__ bool await_headers(const OneShotCollective& collective, const Patience& patience,
                              ThreadGroup group) {
  const std::uint32_t rank = rank_of_header(group);
  if (rank >= collective.ranks) return true;
  const std::uint64_t expected = collective.peers[rank].received;
  if (!has_header(collective, expected)) return true;
  OneShotLine<std::uint32_t> header;
  if (!await_line(collective.peers[rank].incoming, collective.stamp, patience, header)) return false;
  if (!collective.is_checked || header.words[0] == expected) return true;
  atomicOr(patience.has_given_up, gave_up_on_sizes);
  return false;
}

/// Waits for line `i` of each of the `count` ranks from `first` on, if there are so many. Polls one after the
/// other would each take as long as the way to memory.
template <class T, std::uint32_t count>
__device__ bool await_lines(const OneShotCollective& collective, std::uint32_t first, std::uint64_t i,
                            const Patience& patience, OneShotLine<T> (&lines)[count]) {
  const auto from = [&](std::uint32_t k) { return collective.peers[first + k].incoming + words_before(i); };
  if constexpr (count == 1) return await_line(from(0), collective.stamp, patience, lines[0]);
  for (std::uint32_t polls = 1;; ++polls) {
    bool are_there = true;
    for (std::uint32_t k = 0; k < count; ++k) {
      if (first + k < collective.ranks)
        are_there = poll_line(from(k), collective.stamp, lines[k]) && are_there;
    }
    if (are_there) return true;
    if (polls % polls_between_looks == 0 && patience.is_over()) return false;
  }
}

/// `at_once`: the number of ranks for a line of each of which a thread waits together.
template <class T, std::uint32_t at_once, class Combine>
__device__ void exchange_and_combine(const OneShotCollective& collective, const Patience& patience,
                                     ThreadGroup group, Combine combine) {
  const auto* const own = static_cast<const std::uint8_t*>(collective.own);
  send_lines(collective, group, [&](std::uint64_t offset, std::uint32_t left) {
    return load_line(reinterpret_cast<const T*>(own + offset), left / sizeof(T));
  });
  let_others_send();
  if (!await_headers(collective, patience, group)) return;
  const std::uint64_t bytes = collective.peers[0].received;
  for (std::uint64_t i = group.thread; i < lines_of(bytes); i += group.threads) {
    OneShotLine<T> result;
    for (std::uint32_t rank = 0; rank < collective.ranks; rank += at_once) {
      OneShotLine<T> next[at_once];
      if (!await_lines(collective, rank, i, patience, next)) return;
      for (std::uint32_t k = 0; k < at_once && rank + k < collective.combined; ++k) {
        for (std::uint32_t j = 0; j < Vector<T>::length; ++j) {
          result.vector.elements[j] = rank + k == 0
                                          ? next[k].vector.elements[j]
                                          : combine(result.vector.elements[j], next[k].vector.elements[j]);
        }
      }
    }
    if (collective.combined == 0) continue;
    const std::uint64_t first = i * one_shot_line_bytes;
    store_line(reinterpret_cast<T*>(static_cast<std::uint8_t*>(collective.to) + first), result,
               left_from(bytes, first) / sizeof(T));
  }
}

/// Loads and stores lines of blocks, which are bytes at any address: at once if the address is aligned, else
/// byte by byte, with all loads in flight together. Shifts build the words, as an array of bytes would have
/// to lie in memory.
__device__ OneShotLine<std::uint32_t> load_bytes(const std::uint8_t* from, std::uint64_t bytes) {
  OneShotLine<std::uint32_t> line = {};
  if (bytes >= one_shot_line_bytes && reinterpret_cast<std::uintptr_t>(from) % one_shot_line_bytes == 0)
    return load_line(reinterpret_cast<const std::uint32_t*>(from), one_shot_line_words);
  for (std::uint32_t i = 0; i < one_shot_line_bytes; ++i) {
    if (i < bytes) line.words[i / 4] |= std::uint32_t{load<Loads::fresh>(from + i)} << i % 4 * 8;
  }
  return line;
}
__device__ void store_bytes(std::uint8_t* to, const OneShotLine<std::uint32_t>& line, std::uint64_t bytes) {
  if (bytes >= one_shot_line_bytes && reinterpret_cast<std::uintptr_t>(to) % one_shot_line_bytes == 0)
    return store_line(reinterpret_cast<std::uint32_t*>(to), line, one_shot_line_words);
  for (std::uint32_t i = 0; i < one_shot_line_bytes; ++i) {
    if (i < bytes) to[i] = static_cast<std::uint8_t>(line.words[i / 4] >> i % 4 * 8);
  }
}

__device__ void exchange_blocks(const OneShotCollective& collective, const Patience& patience,
                                ThreadGroup group) {
  const auto* const own = static_cast<const std::uint8_t*>(collective.own);
  auto* const to = static_cast<std::uint8_t*>(collective.to);
  send_lines(collective, group,
             [&](std::uint64_t offset, std::uint32_t left) { return load_bytes(own + offset, left); });
  let_others_send();
  if (!await_headers(collective, patience, group)) return;
  const std::uint64_t lines = lines_of(largest_of(collective, &OneShotPeer::received));
  for (std::uint64_t i = group.thread; i < lines; i += group.threads) {
    const std::uint64_t first = i * one_shot_line_bytes;
    std::uint64_t begin = 0;
    for (std::uint32_t rank = 0; rank < collective.ranks; begin += collective.peers[rank++].received) {
      const std::uint64_t received = collective.peers[rank].received;
      if (first >= received) continue;
      OneShotLine<std::uint32_t> line;
      if (!await_line(collective.peers[rank].incoming + words_before(i), collective.stamp, patience, line))
        return;
      store_bytes(to + begin + first, line, left_from(received, first));
    }
  }
}

/// Run by all threads of the group; `has_given_up` becomes nonzero if something has not arrived. The
/// operation is selected for each pair of elements: threads that wait for words have the time, and a loop for
/// each operation would be ten times the code.
template <class T, std::uint32_t at_once>
__device__ void reduce_one_shot(const OneShotCollective& collective, std::uint32_t& has_given_up,
                                ThreadGroup group) {
  const Patience patience{clock_ns() + collective.limit_ns, &has_given_up};
  exchange_and_combine<T, at_once>(collective, patience, group, [&](T a, T b) {
    T both = a;
    with_operation<T>(collective.operation, [&](auto combine) { both = combine(a, b); });
    return both;
  });
}

__device__ void place_one_shot(const OneShotCollective& collective, std::uint32_t& has_given_up,
                               ThreadGroup group) {
  exchange_blocks(collective, {clock_ns() + collective.limit_ns, &has_given_up}, group);
}

/// Runs blocks, and the types that PENSTOCK_RESIDENT_TYPES names. With all types the resident kernel would
/// spill registers.
__device__ void run_one_shot(ResidentType type, const OneShotCollective& collective,
                             std::uint32_t& has_given_up, ThreadGroup group) {
  switch (type) {
#define PENSTOCK_ROW(name, Type) \
  case ResidentType::name:       \
    return reduce_one_shot<Type, 1>(collective, has_given_up, group);
    PENSTOCK_RESIDENT_TYPES(PENSTOCK_ROW)
#undef PENSTOCK_ROW
    case ResidentType::blocks:
      return place_one_shot(collective, has_given_up, group);
  }
}

}  // namespace
}  // namespace penstock::transports::kernels
