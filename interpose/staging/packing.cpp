#include "interpose/staging/packing.hpp"

#include <array>

#include "interpose/calls/transfer_record.hpp"
#include "interpose/datatypes/datatype_layout.hpp"
#include "interpose/progress/progress.hpp"
#include "transports/copy_selection/blocking_copy.hpp"
#include "transports/host/in_call.hpp"

namespace penstock::interpose {
namespace {

using transports::Buffer;
using transports::BufferView;

/// Returns whether copies of one context reach both.
bool are_of_one_context(const BufferView& elements, const Buffer& packed) noexcept {
  return !elements.is_scattered() && belongs_to_context(elements.buffer.kind) &&
         belongs_to_context(packed.kind) && elements.buffer.context == packed.context;
}

}  // namespace

bool library_packs_plainly() {
  static const bool does = [] {
    const std::array<int, 3> values = {11, 22, 33};
    const std::array<int, 2> lengths = {1, 1};
    const std::array<int, 2> backwards = {2, 0};
    std::array<int, 4> packed{};
    int position = 0;
    MPI_Datatype datatype = MPI_DATATYPE_NULL;
    PMPI_Type_indexed(2, lengths.data(), backwards.data(), MPI_INT, &datatype);
    PMPI_Type_commit(&datatype);
    const int code =
        PMPI_Pack(values.data(), 1, datatype, packed.data(), sizeof packed, &position, MPI_COMM_SELF);
    PMPI_Type_free(&datatype);
    return code == MPI_SUCCESS && position == 2 * sizeof(int) && packed == std::array{33, 11, 0, 0};
  }();
  return does;
}

std::optional<PackedCopy> pack_on_device(Packing packing, const Elements& elements,
                                         const PackingBuffer& packed) {
  if (is_refused(elements.count, elements.datatype) || packed.position < 0) return std::nullopt;
  BufferView view;
  try {
    view = view_of(elements.buffer, elements.count, elements.datatype);
  } catch (const UnreadableDatatype&) {
    return std::nullopt;
  }
  view.handed_over_ns = transports::time_of_call_ns();
  const std::size_t bytes = view.layout.bytes();
  char* const there = static_cast<char*>(const_cast<void*>(packed.buffer)) + packed.position;
  const Buffer inside = transports::inspect(there);
  if (bytes == 0 || packed.position > packed.size ||
      bytes > static_cast<std::size_t>(packed.size - packed.position) || !are_of_one_context(view, inside) ||
      !library_packs_plainly()) {
    return std::nullopt;
  }
  note_gpu_use();
  const bool packs = packing == Packing::pack;
  const auto from = packs ? view.buffer.kind : inside.kind;
  const auto to = packs ? inside.kind : view.buffer.kind;
  Status copied = own_copy(trace::TransportKind::local, bytes, from, to, "both buffers are of this GPU", [&] {
    return packs ? transports::pack(there, view) : transports::unpack(view, there);
  });
  return PackedCopy{copied, bytes, view.buffer.kind};
}

}  // namespace penstock::interpose
