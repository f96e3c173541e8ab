#include "interpose/messages/packing_forecast.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "interpose/calls/communicators.hpp"
#include "interpose/datatypes/datatype_layout.hpp"
#include "interpose/datatypes/known_type.hpp"

namespace penstock::interpose {
namespace {

using transports::ElementType;
using transports::Integer;

/// After this many refusals in a row, one send in 64 is examined.
constexpr unsigned most_refusals = 6;

struct Experience {
  std::atomic<unsigned> refusals{0};  ///< in a row
  std::atomic<unsigned> to_skip{0};   ///< sends until the next examination
};

constinit std::array<Experience, 1024> experiences;

/// Returns the entry for sends by communicator, tag, type and size (a factor of two): a short list of a range
/// may be too sparse and a long one not. Some sends share an entry, which costs a few examinations.
std::uint16_t place_of_experience(const SendCall& call, Integer integer,
                                  const CommunicatorInfo* info) noexcept {
  std::uint64_t mixed = info == nullptr ? 0 : info->local_id;
  constexpr std::uint64_t spread = 0x9e3779b97f4a7c15u;  // 2^64 / the golden ratio: its high bits mix well
  for (const auto part : {static_cast<std::uint64_t>(call.tag), static_cast<std::uint64_t>(integer),
                          static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(call.count)))})
    mixed = (mixed + part) * spread;
  return static_cast<std::uint16_t>(mixed >> 54);
}

Integer integer_of(MPI_Datatype datatype) noexcept {
  const KnownType* const known = known_type(datatype);
  if (known == nullptr || known->allowed == Allowed::logical) return Integer::none;
  Integer integer = Integer::none;
  if (known->type == ElementType::int32) integer = Integer::int32;
  if (known->type == ElementType::uint32) integer = Integer::uint32;
  if (known->type == ElementType::int64) integer = Integer::int64;
  if (known->type == ElementType::uint64) integer = Integer::uint64;
  // a compiler option may make Fortran's integers larger
  return payload_bytes(1, datatype) == transports::bytes_of(integer) ? integer : Integer::none;
}

}  // namespace

ListLook list_worth_a_look(const SendCall& call) noexcept {
  using transports::ListOrder;
  const Integer integer = integer_of(call.datatype);
  if (integer == Integer::none) return {};
  const CommunicatorInfo* const info = peek_info(call.communicator);
  const std::uint16_t place = place_of_experience(call, integer, info);
  std::atomic<unsigned>& to_skip = experiences[place].to_skip;
  unsigned left = to_skip.load(std::memory_order_relaxed);
  if (left != 0) {
    to_skip.compare_exchange_strong(left, left - 1, std::memory_order_relaxed);
    return {};
  }
  const bool is_set = info != nullptr && info->is_vertex_set.load(std::memory_order_relaxed);
  return {integer, is_set ? ListOrder::any : ListOrder::kept, place};
}

void note_look(const ListLook& look, bool packed) noexcept {
  Experience& experience = experiences[look.experience];
  const unsigned refusals =
      packed ? 0 : std::min(experience.refusals.load(std::memory_order_relaxed) + 1, most_refusals);
  experience.refusals.store(refusals, std::memory_order_relaxed);
  experience.to_skip.store((1u << refusals) - 1, std::memory_order_relaxed);
}

}  // namespace penstock::interpose
