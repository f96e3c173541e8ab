#include "interpose/windows/packed_combination.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "interpose/binding/mpi_details.hpp"
#include "interpose/calls/quiet_errors.hpp"
#include "interpose/datatypes/datatype_layout.hpp"
#include "interpose/staging/host_memory.hpp"
#include "transports/copies/copy.hpp"

namespace penstock::interpose {

PackedCombination::PackedCombination(MPI_Op operation, MPI_Datatype element, std::size_t bytes)
    : operation_(operation),
      element_(element),
      count_(static_cast<MPI_Count>(bytes / payload_bytes(1, element))) {
  if (static_cast<std::uint64_t>(extent_of(element)) != payload_bytes(1, element))
    spaced_ = layout_of(element, count_);
}

Status PackedCombination::run(char* from, char* into) const {
  if (spaced_.bytes() == 0) return reduce(from, into);
  const auto room = static_cast<std::size_t>(count_) * static_cast<std::size_t>(extent_of(element_));
  const HostMemory memory = HostMemory::take(2 * room);
  if (memory.data() == nullptr) return {Code::out_of_memory, "an accumulate's copy in host memory"};
  char* const spaced_from = reinterpret_cast<char*>(memory.data());
  char* const spaced_into = spaced_from + room;
  for (const auto& [packed, spaced] : {std::pair{from, spaced_from}, std::pair{into, spaced_into}}) {
    transports::LayoutCursor cursor(spaced_);
    if (Status copied = copy_in_host({{.pointer = spaced}, spaced_}, cursor, packed, spaced_.bytes());
        !copied.ok())
      return copied;
  }
  if (Status reduced = reduce(spaced_from, spaced_into); !reduced.ok()) return reduced;
  transports::LayoutCursor cursor(spaced_);
  return copy_out_host(into, {{.pointer = spaced_into}, spaced_}, cursor, spaced_.bytes());
}

Status PackedCombination::reduce(char* from, char* into) const {
  constexpr MPI_Count most = 1 << 30;
  const auto extent = static_cast<std::size_t>(extent_of(element_));
  for (MPI_Count done = 0; done < count_;) {
    const MPI_Count now = std::min(most, count_ - done);
    const std::size_t offset = static_cast<std::size_t>(done) * extent;
    const QuietErrors quiet;
    if (PMPI_Reduce_local(from + offset, into + offset, static_cast<int>(now), element_, operation_) !=
        MPI_SUCCESS)
      return {Code::bad_argument, "MPI_Reduce_local"};
    done += now;
  }
  return {};
}

}  // namespace penstock::interpose
