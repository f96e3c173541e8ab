// The kernels that make bitmaps of lists and lists of bitmaps, beside a copy within the device of as many
// bytes, which reads and writes them: twice a figure of these is the memory's bandwidth.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "tests/benchmarks/transports_pair.hpp"
#include "transports/packing/list_pack.hpp"
#include "transports/packing/list_unpack.hpp"

namespace {

using namespace penstock::benchmarks;
using namespace penstock::transports;

constexpr std::size_t largest_list_bytes = std::size_t{256} << 20;

enum class Content { every_second, every_sixth, falling, shuffled };

/// In the receiver's memory, with room for a copy behind it.
class DeviceList {
 public:
  DeviceList(std::size_t bytes, Content content) : bytes_(bytes) {
    std::vector<std::uint32_t> list(bytes / 4);
    const std::uint32_t step = content == Content::every_second ? 2 : 6;
    for (std::uint32_t i = 0; i < list.size(); ++i) list[i] = 7 + i * step;
    if (content == Content::falling) std::reverse(list.begin(), list.end());
    if (content == Content::shuffled) std::shuffle(list.begin(), list.end(), std::mt19937(1));
    REQUIRE_CUDA(cuMemcpyHtoD(receiver_memory().address(), list.data(), bytes));
  }
  [[nodiscard]] BufferView place() const { return receiver_memory().place(bytes_); }
  void copy(const RawCopies& raw) const {
    raw.run(receiver_memory().address() + largest_list_bytes, receiver_memory().address(), bytes_);
  }

 private:
  std::size_t bytes_;
};

template <class Work>
void finish(Work& work) {
  for (bool ended = false; !ended;) require(work.advance(ended));
}

void packing(benchmark::State& state, Content content, ListOrder order) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  const DeviceList list(bytes, content);
  const RawCopies raw;
  measure_beside_raw(
      state, bytes,
      [&] {
        std::unique_ptr<ListPack> pack;
        require(ListPack::start(list.place(), Integer::uint32, order, pack));
        finish(*pack);
        require((pack->words() != 0) == (content != Content::falling), "what was found of the list");
      },
      [&] { list.copy(raw); });
}

void unpacking(benchmark::State& state, Content content) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  const DeviceList list(bytes, content);
  const RawCopies raw;
  std::unique_ptr<ListPack> pack;
  require(ListPack::start(list.place(), Integer::uint32, ListOrder::kept, pack));
  finish(*pack);
  std::unique_ptr<ListUnpack> unpack;
  measure_beside_raw(
      state, bytes,
      [&] {
        require(unpack->start());
        finish(*unpack);
      },
      [&] { list.copy(raw); },
      [&] {
        unpack.reset();
        require(ListUnpack::take_room(list.place(), Integer::uint32, unpack));
        const BufferView* const room = unpack->room(pack->words());
        REQUIRE_CUDA(cuMemcpyDtoD(reinterpret_cast<CUdeviceptr>(room->first_byte()),
                                  reinterpret_cast<CUdeviceptr>(pack->bitmap().first_byte()),
                                  room->layout.bytes()));
        REQUIRE_CUDA(cuCtxSynchronize());
      });
}

#define PENSTOCK_LISTS(...) \
  BENCHMARK_CAPTURE(__VA_ARGS__)->RangeMultiplier(16)->Range(1 << 20, largest_list_bytes)->UseManualTime()
PENSTOCK_LISTS(packing, every_second, Content::every_second, ListOrder::kept);
PENSTOCK_LISTS(packing, every_sixth, Content::every_sixth, ListOrder::kept);
PENSTOCK_LISTS(packing, falling, Content::falling, ListOrder::kept);
PENSTOCK_LISTS(packing, of_any_order, Content::shuffled, ListOrder::any);
PENSTOCK_LISTS(unpacking, every_second, Content::every_second);
PENSTOCK_LISTS(unpacking, every_sixth, Content::every_sixth);

}  // namespace
