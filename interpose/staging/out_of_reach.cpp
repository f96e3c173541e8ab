#include "interpose/staging/out_of_reach.hpp"

#include <algorithm>

#include "interpose/datatypes/datatype_layout.hpp"
#include "interpose/staging/staged_call.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::interpose {

bool is_out_of_reach(const void* buffer) {
  return lies_on_device(buffer) && transports::inspect(buffer).kind != transports::BufferKind::managed;
}

bool is_out_of_reach(const void* buffer, MPI_Count count, MPI_Datatype datatype) {
  if (!may_be_absolute(buffer)) return is_out_of_reach(buffer);
  if (!touches_device(buffer, count, datatype)) return false;
  const transports::BufferView view = view_of(buffer, count, datatype);
  const auto is_refused = [](const transports::Buffer& one) {
    return one.kind == transports::BufferKind::unknown || transports::belongs_to_context(one.kind);
  };
  if (!view.is_scattered()) return is_refused(view.buffer);
  return std::ranges::any_of(*view.parts,
                             [&](const transports::ViewPart& part) { return is_refused(part.view.buffer); });
}

}  // namespace penstock::interpose
