// A payload whose bytes lie in several allocations of any kinds, told by absolute addresses, and the plain
// computation of what should be there. Knows neither Penstock nor calls.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <compare>
#include <cstddef>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/programs/test_messages.hpp"

namespace penstock::programs {

/// Where a block lies: a kind of memory, and on which GPU.
struct BlockKind {
  MemoryKind memory;
  bool is_on_other_gpu = false;
  friend auto operator<=>(const BlockKind&, const BlockKind&) = default;
};

/// All that an allocation can be here.
inline std::vector<BlockKind> block_kinds() {
  std::vector<BlockKind> kinds;
  for (const MemoryKind memory : test_support::memory_kinds) kinds.push_back({memory});
  if (test_support::gpu_count() > 1) kinds.push_back({MemoryKind::device, true});
  return kinds;
}

struct Shape {
  std::vector<BlockKind> kinds;
  std::vector<int> bytes;
  int elements = 1;  ///< each block is as often there, one behind the other

  [[nodiscard]] std::size_t size() const {
    std::size_t size = 0;
    for (const int each : bytes) size += static_cast<std::size_t>(each);
    return size * static_cast<std::size_t>(elements);
  }
  [[nodiscard]] std::string name() const {
    std::string name;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      name += std::string(i == 0 ? "" : ", ") + std::to_string(bytes[i]) + " bytes of " +
              test_support::name_of(kinds[i].memory) + (kinds[i].is_on_other_gpu ? " of another GPU" : "");
    }
    return name;
  }
};

/// Each block in an allocation of its own, which later payloads of the process use again: `side` tells apart
/// those that are there at once. Blocks of equal size may so lie at equal distances.
class Scattered {
 public:
  Scattered(int side, const Shape& shape) : shape_(shape) {
    std::vector<int> lengths;
    std::vector<MPI_Aint> addresses;
    std::size_t most = 0;
    for (const int each : shape.bytes) most = std::max(most, static_cast<std::size_t>(each));
    stride_ = most;
    for (std::size_t i = 0; i < shape.kinds.size(); ++i) {
      blocks_.push_back(&memory(side, static_cast<int>(i), shape.kinds[i]));
      lengths.push_back(shape.bytes[i]);
      MPI_Get_address(blocks_[i]->data(), &addresses.emplace_back());
    }
    MPI_Datatype one = MPI_DATATYPE_NULL;
    MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), addresses.data(), MPI_BYTE,
                             &one);
    MPI_Type_create_resized(one, 0, static_cast<MPI_Aint>(stride_), &type_);
    MPI_Type_commit(&type_);
    MPI_Type_free(&one);
    fill({});
  }
  ~Scattered() { MPI_Type_free(&type_); }
  Scattered(const Scattered&) = delete;
  Scattered& operator=(const Scattered&) = delete;

  [[nodiscard]] MPI_Datatype type() const { return type_; }
  [[nodiscard]] int count() const { return shape_.elements; }
  [[nodiscard]] std::size_t bytes() const { return shape_.size(); }
  /// The first bytes of it; all others of the allocations get a value of their own.
  void fill(const Bytes& content) {
    std::vector<Bytes> images(blocks_.size(), Bytes(image_bytes(), untouched));
    place(content, images);
    for (std::size_t i = 0; i < blocks_.size(); ++i) blocks_[i]->write(0, images[i].data(), images[i].size());
  }
  /// The same, but queued on the legacy stream of each block's GPU, behind something that takes its time.
  void fill_in_stream_order(const Bytes& content) {
    static auto& pinned = *new std::vector<Memory>;
    std::vector<Bytes> images(blocks_.size(), Bytes(image_bytes(), untouched));
    place(content, images);
    while (pinned.size() < images.size())
      pinned.emplace_back(MemoryKind::pinned, largest_block + guard_bytes, own_device());
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      pinned[i].write(0, images[i].data(), images[i].size());
      cudaSetDevice(blocks_[i]->device());
      cudaLaunchHostFunc(
          nullptr, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(3)); }, nullptr);
      blocks_[i]->write_in_stream_order(0, pinned[i].data(), images[i].size());
    }
  }
  /// Whether fill() of that would have left everything as it is.
  [[nodiscard]] testing::AssertionResult holds(const Bytes& content) const {
    std::vector<Bytes> images(blocks_.size(), Bytes(image_bytes(), untouched));
    place(content, images);
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      Bytes there(image_bytes());
      blocks_[i]->read(0, there.data(), there.size());
      for (std::size_t at = 0; at < there.size(); ++at) {
        if (there[at] == images[i][at]) continue;
        return testing::AssertionFailure()
               << "byte " << at << " of block " << i << " is " << std::to_integer<int>(there[at])
               << " instead of " << std::to_integer<int>(images[i][at]);
      }
    }
    return testing::AssertionSuccess();
  }

  static constexpr std::size_t largest_block = 400u << 10;
  static constexpr std::byte untouched{0x5a};

 private:
  static constexpr std::size_t guard_bytes = 64;

  static Memory& memory(int side, int block, BlockKind kind) {
    static auto& all = *new std::map<std::pair<std::pair<int, int>, BlockKind>, Memory>;
    const std::pair key{std::pair{side, block}, kind};
    if (const auto found = all.find(key); found != all.end()) return found->second;
    const int gpus = test_support::gpu_count();
    const int device = kind.is_on_other_gpu ? (own_device() + 1) % gpus : own_device();
    return all.emplace(key, Memory(kind.memory, largest_block + guard_bytes, device)).first->second;
  }

  [[nodiscard]] std::size_t image_bytes() const {
    return std::min(stride_ * static_cast<std::size_t>(shape_.elements), largest_block) + guard_bytes;
  }
  void place(const Bytes& content, std::vector<Bytes>& images) const {
    std::size_t done = 0;
    for (int element = 0; element < shape_.elements; ++element) {
      for (std::size_t i = 0; i < images.size(); ++i) {
        for (int byte = 0; byte < shape_.bytes[i] && done < content.size(); ++byte) {
          images[i][static_cast<std::size_t>(element) * stride_ + static_cast<std::size_t>(byte)] =
              content[done++];
        }
      }
    }
  }

  const Shape shape_;
  std::size_t stride_ = 0;  ///< from one element to the next
  std::vector<Memory*> blocks_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

}  // namespace penstock::programs
