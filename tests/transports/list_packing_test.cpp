// Lists of integers that become bitmaps and lists again, and what is none of both.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "tests/transports/gpu_memory.hpp"
#include "transports/packing/list_pack.hpp"
#include "transports/packing/list_unpack.hpp"

namespace penstock::transports::test {
namespace {

template <class T>
constexpr Integer integer_of() {
  if constexpr (sizeof(T) == 4) return std::is_signed_v<T> ? Integer::int32 : Integer::uint32;
  return std::is_signed_v<T> ? Integer::int64 : Integer::uint64;
}

template <class T>
using List = std::vector<T>;

/// A list on the GPU, `offset` integers into its memory.
template <class T>
class ListMemory {
 public:
  explicit ListMemory(std::size_t count, std::size_t offset = 0)
      : count_(count), offset_(offset), memory_(BufferKind::device, (count + offset) * sizeof(T)) {
    memory_.write(std::vector<std::uint8_t>(memory_.bytes(), guard_byte));
  }
  void write(const List<T>& list) const {
    std::vector<std::uint8_t> content = memory_.read();
    std::memcpy(content.data() + offset_ * sizeof(T), list.data(), list.size() * sizeof(T));
    memory_.write(content);
  }
  [[nodiscard]] List<T> read() const {
    const std::vector<std::uint8_t> content = memory_.read();
    List<T> list(count_);
    std::memcpy(list.data(), content.data() + offset_ * sizeof(T), count_ * sizeof(T));
    return list;
  }
  [[nodiscard]] BufferView place() const {
    return {inspect(static_cast<T*>(memory_.data()) + offset_), Layout::contiguous(count_ * sizeof(T)), 0};
  }

 private:
  std::size_t count_;
  std::size_t offset_;
  GpuMemory memory_;
};

template <class Work>
Status finish(Work& work) {
  Status state;
  for (bool ended = false; state.ok() && !ended;) state = work.advance(ended);
  return state;
}

std::vector<std::uint8_t> read(const BufferView& place) {
  std::vector<std::uint8_t> bytes(place.layout.bytes());
  REQUIRE_CUDA(cuMemcpyDtoH(bytes.data(), reinterpret_cast<CUdeviceptr>(place.first_byte()), bytes.size()));
  return bytes;
}
void write(const BufferView& place, const std::vector<std::uint8_t>& bytes) {
  REQUIRE_CUDA(cuMemcpyHtoD(reinterpret_cast<CUdeviceptr>(place.first_byte()), bytes.data(), bytes.size()));
  REQUIRE_CUDA(cuStreamSynchronize(CU_STREAM_LEGACY));
}

struct Packed {
  std::uint64_t words = 0;
  std::vector<std::uint8_t> bytes;
};

template <class T>
class ListPacking : public testing::Test {
 protected:
  ListPacking() { use_device(0); }

  /// Nothing, if it was not packed.
  static std::optional<Packed> pack(const List<T>& list, std::size_t offset = 0,
                                    ListOrder order = ListOrder::kept) {
    const ListMemory<T> memory(list.size(), offset);
    memory.write(list);
    std::unique_ptr<ListPack> packing;
    const Status started = ListPack::start(memory.place(), integer_of<T>(), order, packing);
    EXPECT_TRUE(started.ok()) << started.where();
    if (!started.ok()) return std::nullopt;
    const Status ended = finish(*packing);
    EXPECT_TRUE(ended.ok()) << ended.where();
    if (packing->words() == 0) return std::nullopt;
    return Packed{packing->words(), read(packing->bitmap())};
  }
  /// Into a list of `count`.
  static Status unpack(const Packed& packed, std::size_t count, List<T>& list, std::size_t offset = 0) {
    const ListMemory<T> memory(count, offset);
    std::unique_ptr<ListUnpack> unpacking;
    if (Status taken = ListUnpack::take_room(memory.place(), integer_of<T>(), unpacking); !taken.ok())
      return taken;
    const BufferView* const room = unpacking->room(packed.words);
    if (room == nullptr) return {Code::peer_lost, "a bitmap for which there can be no room"};
    write(*room, packed.bytes);
    if (Status started = unpacking->start(); !started.ok()) return started;
    Status ended = finish(*unpacking);
    list = memory.read();
    return ended;
  }

  static void expect_same_after_packing(const List<T>& list, std::size_t offset = 0) {
    const std::optional<Packed> packed = pack(list, offset);
    ASSERT_TRUE(packed.has_value());
    EXPECT_LE(packed->bytes.size(), list.size() * sizeof(T) / 2);
    List<T> seen;
    const Status unpacked = unpack(*packed, list.size(), seen, offset);
    EXPECT_TRUE(unpacked.ok()) << unpacked.where();
    EXPECT_EQ(seen, list);
  }

  /// `count` of them, from `first` on, each by 1 to `largest_step` larger than the one before.
  static List<T> increasing(std::size_t count, T first, unsigned largest_step) {
    std::mt19937 random(20261124);
    List<T> list(count);
    auto next = static_cast<std::make_unsigned_t<T>>(first);
    for (T& integer : list) {
      integer = static_cast<T>(next);
      next += static_cast<std::make_unsigned_t<T>>(1 + random() % largest_step);
    }
    return list;
  }
};

using Integers = testing::Types<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(ListPacking, Integers);

TYPED_TEST(ListPacking, gives_back_the_same_list_at_any_length_and_density) {
  for (const std::size_t count : {50u, 2047u, 2048u, 2049u, 30'000u}) {
    for (const unsigned largest_step : {1u, 9u, 12u}) {
      SCOPED_TRACE(testing::Message() << count << " integers by up to " << largest_step);
      this->expect_same_after_packing(this->increasing(count, 77, largest_step));
    }
  }
}

TYPED_TEST(ListPacking, gives_back_lists_at_the_ends_of_their_type) {
  using T = TypeParam;
  constexpr T lowest = std::numeric_limits<T>::min();
  this->expect_same_after_packing(this->increasing(5000, lowest, 3));
  List<T> up_to_highest = this->increasing(5000, 0, 3);
  const T shift = static_cast<T>(std::numeric_limits<T>::max() - up_to_highest.back());
  for (T& integer : up_to_highest) integer = static_cast<T>(integer + shift);
  this->expect_same_after_packing(up_to_highest);
  if (lowest < 0) this->expect_same_after_packing(this->increasing(5000, static_cast<T>(-4000), 2));
}

TYPED_TEST(ListPacking, gives_back_lists_with_gaps_of_many_tiles) {
  using T = TypeParam;
  List<T> list = this->increasing(10'000, 5, 1);
  for (std::size_t i = 3000; i < list.size(); ++i) list[i] = static_cast<T>(list[i] + 50'000);
  for (std::size_t i = 7000; i < list.size(); ++i) list[i] = static_cast<T>(list[i] + 8192);
  this->expect_same_after_packing(list);
}

TYPED_TEST(ListPacking, gives_back_lists_that_begin_anywhere) {
  this->expect_same_after_packing(this->increasing(3000, 11, 4), 1);
  this->expect_same_after_packing(this->increasing(3000, 11, 4), 3);
}

TYPED_TEST(ListPacking, refuses_what_does_not_strictly_increase) {
  using T = TypeParam;
  for (const std::size_t count : {200u, 2049u, 9000u}) {
    const List<T> list = this->increasing(count, 1000, 3);
    ASSERT_TRUE(this->pack(list).has_value());
    for (const std::size_t place : {std::size_t{0}, count / 2, count - 2}) {
      SCOPED_TRACE(testing::Message() << count << " integers, changed at " << place);
      List<T> swapped = list;
      std::swap(swapped[place], swapped[place + 1]);
      EXPECT_FALSE(this->pack(swapped).has_value());
      List<T> doubled = list;
      doubled[place + 1] = doubled[place];
      EXPECT_FALSE(this->pack(doubled).has_value());
      List<T> too_low = list;
      too_low[place + (place == 0 ? 1 : 0)] = 3;
      EXPECT_FALSE(this->pack(too_low).has_value());
      List<T> too_high = list;
      too_high[place] = std::numeric_limits<T>::max();
      EXPECT_FALSE(this->pack(too_high).has_value());
    }
    List<T> falling = list;
    std::reverse(falling.begin(), falling.end());
    EXPECT_FALSE(this->pack(falling).has_value());
    EXPECT_FALSE(this->pack(List<T>(count, 5)).has_value());
  }
}

TYPED_TEST(ListPacking, refuses_lists_whose_bitmap_is_more_than_half_as_large) {
  EXPECT_FALSE(this->pack(this->increasing(10'000, 0, 3 * 8 * sizeof(TypeParam))).has_value());
}

TYPED_TEST(ListPacking, declines_what_no_kernel_could_read) {
  using T = TypeParam;
  const ListMemory<T> memory(1000);
  std::unique_ptr<ListPack> packing;
  BufferView place = memory.place();
  place.layout = Layout::contiguous(1000 * sizeof(T) - 1);
  EXPECT_EQ(ListPack::start(place, integer_of<T>(), ListOrder::kept, packing).code(), Code::declined);
  place.layout = Layout::contiguous(900 * sizeof(T), 1);
  EXPECT_EQ(ListPack::start(place, integer_of<T>(), ListOrder::kept, packing).code(), Code::declined);
  place.layout = Layout::contiguous(1001 * sizeof(T));
  EXPECT_EQ(ListPack::start(place, integer_of<T>(), ListOrder::kept, packing).code(), Code::declined)
      << "past its end";
  place.layout = Layout::contiguous(sizeof(T));
  EXPECT_EQ(ListPack::start(place, integer_of<T>(), ListOrder::kept, packing).code(), Code::declined);
  EXPECT_EQ(ListPack::start(memory.place(), Integer::none, ListOrder::kept, packing).code(), Code::declined);
  List<T> host(1000);
  const BufferView on_host{inspect(host.data()), Layout::contiguous(1000 * sizeof(T)), 0};
  EXPECT_EQ(ListPack::start(on_host, integer_of<T>(), ListOrder::kept, packing).code(), Code::declined);
  std::unique_ptr<ListUnpack> unpacking;
  EXPECT_EQ(ListUnpack::take_room(on_host, integer_of<T>(), unpacking).code(), Code::declined);
}

TYPED_TEST(ListPacking, takes_no_bitmap_for_a_list_that_it_is_not_of) {
  using T = TypeParam;
  const List<T> list = this->increasing(9000, 9, 5);
  const Packed packed = this->pack(list).value();
  List<T> seen;
  ASSERT_TRUE(this->unpack(packed, list.size(), seen).ok());
  EXPECT_EQ(this->unpack(packed, list.size() + 1, seen).code(), Code::peer_lost);
  EXPECT_EQ(this->unpack(packed, list.size() - 1, seen).code(), Code::peer_lost);
  // a bit more or less, in the first word and in some other; a wrong place; another count
  const std::size_t words = sizeof(kernels::ListBitmap);
  const std::size_t places = words + packed.words * sizeof(std::uint32_t);
  for (const std::size_t changed :
       {words, words + 2001, places, places + 4, places + 9, packed.bytes.size() - 4,
        offsetof(kernels::ListBitmap, count), offsetof(kernels::ListBitmap, refused)}) {
    Packed damaged = packed;
    damaged.bytes[changed] ^= 1;
    EXPECT_EQ(this->unpack(damaged, list.size(), seen).code(), Code::peer_lost) << "byte " << changed;
  }
  Packed too_large = packed;
  too_large.words = most_words(list.size() * sizeof(T)) + 1;
  EXPECT_FALSE(this->unpack(too_large, list.size(), seen).ok());
}

TYPED_TEST(ListPacking, of_any_order_gives_back_the_same_integers_in_increasing_order) {
  using T = TypeParam;
  constexpr T lowest = std::numeric_limits<T>::min();
  for (const std::size_t count : {50u, 2049u, 30'000u}) {
    for (const T first : {T{77}, lowest, static_cast<T>(-static_cast<T>(count))}) {
      SCOPED_TRACE(testing::Message() << count << " integers from " << first);
      const List<T> list = this->increasing(count, first, first == lowest ? 1 : 3);
      if (list.back() < list.front()) continue;  // around the end of an unsigned type
      List<T> mixed = list;
      std::shuffle(mixed.begin(), mixed.end(), std::mt19937(1));
      const std::optional<Packed> packed = this->pack(mixed, 1, ListOrder::any);
      ASSERT_TRUE(packed.has_value());
      EXPECT_LE(packed->bytes.size(), list.size() * sizeof(T) / 2);
      List<T> seen;
      const Status unpacked = this->unpack(*packed, list.size(), seen);
      EXPECT_TRUE(unpacked.ok()) << unpacked.where();
      EXPECT_EQ(seen, list);
    }
  }
}

TYPED_TEST(ListPacking, of_any_order_refuses_what_has_an_integer_twice_or_needs_too_large_a_bitmap) {
  using T = TypeParam;
  const List<T> list = this->increasing(5000, 1000, 3);
  ASSERT_TRUE(this->pack(list, 0, ListOrder::any).has_value());
  for (const std::size_t place : {std::size_t{0}, list.size() / 2, list.size() - 2}) {
    List<T> doubled = list;
    doubled[place] = doubled[place + 1];
    EXPECT_FALSE(this->pack(doubled, 0, ListOrder::any).has_value());
    List<T> too_far = list;
    too_far[place] = std::numeric_limits<T>::max();
    EXPECT_FALSE(this->pack(too_far, 0, ListOrder::any).has_value());
  }
  EXPECT_FALSE(this->pack(List<T>(5000, 5), 0, ListOrder::any).has_value());
}

TEST(ListBitmap, of_the_most_words_fits_into_the_bytes_and_of_one_more_does_not) {
  for (std::uint64_t bytes = 0; bytes < 5000; ++bytes) {
    const std::uint64_t words = kernels::most_words_in(bytes);
    EXPECT_TRUE(words == 0 || kernels::bitmap_bytes(words) <= bytes) << bytes;
    EXPECT_GT(kernels::bitmap_bytes(words + 3), bytes);
  }
}

}  // namespace
}  // namespace penstock::transports::test
