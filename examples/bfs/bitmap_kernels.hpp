// Sets of vertices as bitmaps and as lists of numbers, and from one to the other, as calls that queue kernels
// on a stream. Knows no graph and no MPI.
#pragma once

#include <cstdint>
#include <memory>

#include "examples/support/gpu.hpp"

namespace bfs {

/// Sets the bits of `count` listed vertices. What was set stays set.
void queue_pack(const example::Stream& stream, const std::uint32_t* list, std::int64_t count,
                std::uint32_t* bitmap);
/// into |= from.
void queue_unite(const example::Stream& stream, const std::uint32_t* from, std::uint32_t* into,
                 std::int64_t words);
/// into = ~from.
void queue_complement(const example::Stream& stream, const std::uint32_t* from, std::uint32_t* into,
                      std::int64_t words);

/// Makes lists of bitmaps.
class Unpacker {
 public:
  /// For bitmaps of up to so many words.
  explicit Unpacker(std::int64_t most_words);
  ~Unpacker();
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  /// Counts the bits before each word, and before the end: the places in the list.
  void queue_places(const example::Stream& stream, const std::uint32_t* bitmap, std::int64_t words);
  /// Device memory, written by queue_places.
  [[nodiscard]] const std::uint32_t* places() const { return places_.get(); }
  /// Lists the vertices in `words` words from `first_word` on, counted from there, after queue_places.
  void queue_list(const example::Stream& stream, const std::uint32_t* bitmap, std::int64_t first_word,
                  std::int64_t words, std::uint32_t* list) const;

 private:
  struct Temporary;
  example::DeviceArray<std::uint32_t> places_;
  std::unique_ptr<Temporary> temporary_;
};

}  // namespace bfs
