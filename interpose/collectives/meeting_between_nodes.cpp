#include "interpose/collectives/meeting_between_nodes.hpp"

#include <array>
#include <utility>

#include "interpose/progress/progress.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::interpose {
namespace {

/// Of each the largest that any rank has said.
struct Words {
  std::uint64_t wants_library = 0;
  std::uint64_t has_device_buffer = 0;
  std::uint64_t signature = 0;
  std::uint64_t inverted_signature = 0;  ///< so that the smallest is known, too
  std::uint64_t bytes = 0;
};
constexpr std::uint64_t more_than_any_signature = 1u << 16;

Words words_of(const Wish& wish) noexcept {
  return {wish.preference == Preference::library ? 1u : 0u, has_device_buffer(wish.preference) ? 1u : 0u,
          wish.signature, wish.signature == 0 ? 0u : more_than_any_signature - wish.signature, wish.bytes};
}

/// A message to each of many ranks takes 10 µs and more where it is little, which many together do not make
/// up for. Reasoned, not measured.
constexpr std::uint64_t ranks_of_a_payload = 16;

bool is_enough(std::uint64_t bytes, int ranks) noexcept {
  const std::uint64_t least = transports::tuning().network_from;
  return bytes >= least && bytes / static_cast<std::uint64_t>(ranks) >= least / ranks_of_a_payload;
}

Way way_of(const Words& all, int ranks) noexcept {
  const bool fit_together =
      all.signature == 0 || all.signature + all.inverted_signature == more_than_any_signature;
  const bool by_messages =
      all.wants_library == 0 && all.has_device_buffer != 0 && fit_together && is_enough(all.bytes, ranks);
  return by_messages ? Way::messages : Way::library;
}

}  // namespace

Way meet_between_nodes(MPI_Comm communicator, CommunicatorInfo& info, const Wish& wish) {
  // the library had refused it on this rank alone, so the others went to the library
  if (std::exchange(info.has_met, false)) return Way::library;
  MPI_Request request = MPI_REQUEST_NULL;
  if (info.is_inter) {
    // each group would learn what the other has said; but nobody has anything to say there
    if (PMPI_Ibarrier(communicator, &request) == MPI_SUCCESS) wait_polling(&request, MPI_STATUS_IGNORE);
    return Way::library;
  }
  const Words own = words_of(wish);
  Words all;
  constexpr int words = sizeof(Words) / sizeof(std::uint64_t);
  int code = PMPI_Iallreduce(&own, &all, words, MPI_UINT64_T, MPI_MAX, communicator, &request);
  if (code == MPI_SUCCESS) code = wait_polling(&request, MPI_STATUS_IGNORE);
  return code == MPI_SUCCESS ? way_of(all, info.size) : Way::library;
}

}  // namespace penstock::interpose
