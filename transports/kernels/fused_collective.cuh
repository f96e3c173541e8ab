// The device code of collectives that exchange, and combine or place what comes, in one kernel. Included by
// kernels.cu only.
#pragma once

#include <type_traits>

#include "transports/kernels/fused_collective.hpp"
#include "transports/kernels/polling.cuh"
#include "transports/kernels/reduction.cuh"

namespace penstock::transports::kernels {
namespace {

/// A line of a vector as its elements and as what travels.
template <class T>
union FusedLine {
  Vector<T> vector;
  std::uint32_t words[fused_line_words];
};

/// Fresh, as the kernel that stands by outlives what it has read.
template <class T>
__device__ FusedLine<T> load_line(const T* from, std::uint64_t elements) {
  FusedLine<T> line = {};
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
__device__ void store_line(T* to, const FusedLine<T>& line, std::uint64_t elements) {
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
__device__ void send_line(std::uint64_t* to, const FusedLine<T>& line, std::uint64_t stamp) {
  for (std::uint32_t i = 0; i < fused_line_words; i += 2)
    write_stamped(to + i, stamp | line.words[i], stamp | line.words[i + 1]);
}

/// When a launch's threads give up: one after the time that it has, and then all.
struct Patience {
  std::uint64_t deadline_ns;
  std::uint32_t* has_given_up;

  __device__ bool is_over() const {
    if (read_changing(*has_given_up) != 0) return true;
    if (clock_ns() <= deadline_ns) return false;
    atomicOr(has_given_up, 1u);
    return true;
  }
};

/// Polls until the line has come; false: it is time to give up.
template <class T>
__device__ bool await_line(const std::uint64_t* from, std::uint32_t stamp, const Patience& patience,
                           FusedLine<T>& line) {
#ifdef __CUDACC__
  constexpr std::uint32_t polls_between_looks = 64;
#else
  constexpr std::uint32_t polls_between_looks = 1;  // a look lets others run
#endif
  for (std::uint32_t polls = 1;; ++polls) {
    bool is_there = true;
    for (std::uint32_t i = 0; i < fused_line_words; i += 2) {
      const StampedPair pair = read_stamped(from + i);
      is_there = is_there && pair.first >> 32 == stamp && pair.second >> 32 == stamp;
      line.words[i] = static_cast<std::uint32_t>(pair.first);
      line.words[i + 1] = static_cast<std::uint32_t>(pair.second);
    }
    if (is_there) return true;
    if (polls % polls_between_looks == 0 && patience.is_over()) return false;
  }
}

/// On the simulated GPU threads run one after the other, and all must have sent before one waits.
__device__ void let_others_send() {
#ifndef __CUDACC__
  __syncwarp();
#endif
}

template <class T, class Combine>
__device__ void exchange_and_combine(const FusedCollective& collective, const Patience& patience,
                                     ThreadGroup group, Combine combine) {
  const std::uint64_t lines = (collective.count + Vector<T>::length - 1) / Vector<T>::length;
  const std::uint64_t stamp = std::uint64_t{collective.stamp} << 32;
  const auto* const own = static_cast<const std::uint8_t*>(collective.own);
  for (std::uint64_t i = group.thread; collective.sends && i < lines; i += group.threads) {
    const std::uint64_t first = i * Vector<T>::length;
    for (std::uint32_t rank = 0; rank < collective.ranks;) {
      const auto* const vector = reinterpret_cast<const T*>(own + rank * collective.own_stride);
      const auto line = load_line(vector + first, collective.count - first);
      do {
        send_line(collective.outgoing[rank] + i * fused_line_words, line, stamp);
        ++rank;
      } while (collective.own_stride == 0 && rank < collective.ranks);
    }
  }
  let_others_send();
  for (std::uint64_t i = group.thread; i < lines; i += group.threads) {
    FusedLine<T> result;
    for (std::uint32_t rank = 0; rank < collective.ranks; ++rank) {
      FusedLine<T> next;
      if (!await_line(collective.incoming[rank] + i * fused_line_words, collective.stamp, patience, next))
        return;
      if (rank >= collective.combined) continue;
      for (std::uint32_t j = 0; j < Vector<T>::length; ++j) {
        result.vector.elements[j] =
            rank == 0 ? next.vector.elements[j] : combine(result.vector.elements[j], next.vector.elements[j]);
      }
    }
    if (collective.combined == 0) continue;
    const std::uint64_t first = i * Vector<T>::length;
    store_line(static_cast<T*>(collective.to) + first, result, collective.count - first);
  }
}

/// Lines of blocks, which are bytes at any address: in one load where that is aligned, else byte by byte, all
/// on their way at once. Words are put together by shifts, as an array of bytes would have to lie in memory.
__device__ FusedLine<std::uint32_t> load_bytes(const std::uint8_t* from, std::uint64_t bytes) {
  FusedLine<std::uint32_t> line = {};
  if (bytes >= fused_line_bytes && reinterpret_cast<std::uintptr_t>(from) % fused_line_bytes == 0)
    return load_line(reinterpret_cast<const std::uint32_t*>(from), fused_line_words);
  for (std::uint32_t i = 0; i < fused_line_bytes; ++i) {
    if (i < bytes) line.words[i / 4] |= std::uint32_t{load<Loads::fresh>(from + i)} << i % 4 * 8;
  }
  return line;
}
__device__ void store_bytes(std::uint8_t* to, const FusedLine<std::uint32_t>& line, std::uint64_t bytes) {
  if (bytes >= fused_line_bytes && reinterpret_cast<std::uintptr_t>(to) % fused_line_bytes == 0)
    return store_line(reinterpret_cast<std::uint32_t*>(to), line, fused_line_words);
  for (std::uint32_t i = 0; i < fused_line_bytes; ++i) {
    if (i < bytes) to[i] = static_cast<std::uint8_t>(line.words[i / 4] >> i % 4 * 8);
  }
}

__device__ void exchange_blocks(const FusedCollective& collective, const Patience& patience,
                                ThreadGroup group) {
  const std::uint64_t lines = (collective.count + fused_line_bytes - 1) / fused_line_bytes;
  const std::uint64_t stamp = std::uint64_t{collective.stamp} << 32;
  const auto* const own = static_cast<const std::uint8_t*>(collective.own);
  auto* const to = static_cast<std::uint8_t*>(collective.to);
  for (std::uint64_t i = group.thread; collective.sends && i < lines; i += group.threads) {
    const std::uint64_t first = i * fused_line_bytes;
    FusedLine<std::uint32_t> line;
    for (std::uint32_t rank = 0; rank < collective.ranks; ++rank) {
      if (rank == 0 || collective.own_stride != 0)
        line = load_bytes(own + rank * collective.own_stride + first, collective.count - first);
      send_line(collective.outgoing[rank] + i * fused_line_words, line, stamp);
    }
  }
  let_others_send();
  for (std::uint64_t i = group.thread; i < lines; i += group.threads) {
    const std::uint64_t first = i * fused_line_bytes;
    for (std::uint32_t rank = 0; rank < collective.ranks; ++rank) {
      FusedLine<std::uint32_t> line;
      if (!await_line(collective.incoming[rank] + i * fused_line_words, collective.stamp, patience, line))
        return;
      store_bytes(to + rank * collective.count + first, line, collective.count - first);
    }
  }
}

/// By all threads of the group; `has_given_up` becomes 1 if something has not come. Which operation it is, is
/// asked for each pair of elements: who waits for words to come has the time, and a loop for each operation
/// would be ten times the code.
template <class T>
__device__ void reduce_fused(const FusedCollective& collective, std::uint32_t& has_given_up,
                             ThreadGroup group) {
  const Patience patience{clock_ns() + collective.limit_ns, &has_given_up};
  exchange_and_combine<T>(collective, patience, group, [&](T a, T b) {
    T both = a;
    with_operation<T>(collective.operation, [&](auto combine) { both = combine(a, b); });
    return both;
  });
}

__device__ void place_fused(const FusedCollective& collective, std::uint32_t& has_given_up,
                            ThreadGroup group) {
  exchange_blocks(collective, {clock_ns() + collective.limit_ns, &has_given_up}, group);
}

/// Of blocks, and of the types that PENSTOCK_STANDBY_TYPES names. With all of them that kernel would spill
/// registers.
__device__ void run_fused(StandbyType type, const FusedCollective& collective, std::uint32_t& has_given_up,
                          ThreadGroup group) {
  switch (type) {
#define PENSTOCK_ROW(name, Type) \
  case StandbyType::name:        \
    return reduce_fused<Type>(collective, has_given_up, group);
    PENSTOCK_STANDBY_TYPES(PENSTOCK_ROW)
#undef PENSTOCK_ROW
    case StandbyType::blocks:
      return place_fused(collective, has_given_up, group);
  }
}

}  // namespace
}  // namespace penstock::transports::kernels
