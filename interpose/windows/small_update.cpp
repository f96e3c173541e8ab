#include "interpose/windows/small_update.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "interpose/collectives/schedules/reduction_kind.hpp"
#include "interpose/windows/memory/queued_work.hpp"
#include "transports/host/in_call.hpp"

namespace penstock::interpose {
namespace {

namespace kernels = transports::kernels;
using transports::belongs_to_context;
using transports::BufferView;
using transports::lives_on_device;
using transports::UpdateOrder;

constexpr std::uint64_t largest_element = sizeof(UpdateOrder::Operand::value);

std::optional<kernels::ResidentType> resident_type(transports::ElementType type) noexcept {
  switch (type) {
#define PENSTOCK_ROW(name, Type)      \
  case transports::ElementType::name: \
    return kernels::ResidentType::name;
    PENSTOCK_RESIDENT_TYPES(PENSTOCK_ROW)
#undef PENSTOCK_ROW
    default:
      return std::nullopt;
  }
}

/// Returns whether the order can name the buffer, and names it.
bool take_operand(const BufferView* view, std::uint32_t bytes, UpdateOrder::Operand& operand) noexcept {
  if (view == nullptr) return true;
  if (view->is_scattered() || !view->layout.is_contiguous()) return false;
  if (belongs_to_context(view->buffer.kind)) {
    operand.address = view->first_byte();
    return true;
  }
  if (lives_on_device(view->buffer.kind) || bytes > largest_element) return false;
  std::memcpy(&operand.value, view->first_byte(), bytes);
  return true;
}

bool take_result(const BufferView* view, UpdateOrder& order) noexcept {
  if (view == nullptr) return true;
  if (view->is_scattered() || !view->layout.is_contiguous()) return false;
  const bool is_on_device = belongs_to_context(view->buffer.kind);
  (is_on_device ? order.result : order.host_result) = view->first_byte();
  return is_on_device || !lives_on_device(view->buffer.kind);
}

/// Finds kind, operation and elements. False: the kernel does not know them.
bool take_operation(MPI_Op operation, MPI_Datatype element, bool is_swap, UpdateOrder& order) noexcept {
  const auto addresses = reinterpret_cast<std::uintptr_t>(order.target) |
                         reinterpret_cast<std::uintptr_t>(order.operand.address) |
                         reinterpret_cast<std::uintptr_t>(order.compared.address) |
                         reinterpret_cast<std::uintptr_t>(order.result);
  const bool is_moved = operation == MPI_REPLACE || operation == MPI_NO_OP;
  if (is_swap) {
    order.kind = kernels::UpdateKind::swap;
    order.element_bytes = order.bytes;
  } else if (is_moved) {
    order.kind = operation == MPI_REPLACE ? kernels::UpdateKind::replace : kernels::UpdateKind::keep;
    order.element_bytes = 1u << std::countr_zero(addresses | order.bytes | largest_element);
  } else {
    const auto known = reduction_kind(element, operation);
    const auto type = known ? resident_type(known->type) : std::nullopt;
    if (!type) return false;
    order.kind = kernels::UpdateKind::combine;
    order.type = *type;
    order.operation = known->operation;
    order.element_bytes = static_cast<std::uint32_t>(transports::bytes_of(known->type));
  }
  return std::has_single_bit(order.element_bytes) && order.element_bytes <= largest_element &&
         addresses % order.element_bytes == 0;
}

}  // namespace

std::optional<SmallUpdate> SmallUpdate::find(const MemberMemory& memory, const transports::Layout& where,
                                             const UpdateBuffers& buffers, MPI_Op operation,
                                             MPI_Datatype element) {
  if (where.bytes() == 0 || where.bytes() > kernels::largest_update) return std::nullopt;
  SmallUpdate found;
  UpdateOrder& order = found.order_;
  order.bytes = static_cast<std::uint32_t>(where.bytes());
  if (!take_operand(buffers.origin, order.bytes, order.operand) ||
      !take_operand(buffers.compared, order.bytes, order.compared) || !take_result(buffers.result, order)) {
    return std::nullopt;
  }
  const BufferView* on_device = nullptr;
  const auto is_of_another_context = [&](const BufferView* view) {
    if (view == nullptr || !belongs_to_context(view->buffer.kind)) return false;
    if (on_device == nullptr) on_device = view;
    return view->buffer.context != on_device->buffer.context;
  };
  if (is_of_another_context(buffers.origin) || is_of_another_context(buffers.compared) ||
      is_of_another_context(buffers.result)) {
    return std::nullopt;
  }
  const MemberMemory::ForKernels reached =
      memory.for_kernels(on_device != nullptr ? *on_device : BufferView{}, where);
  if (reached.address == nullptr || reached.context == nullptr) return std::nullopt;
  order.target = reached.address;
  found.context_ = reached.context;
  found.keeper_ = reached.keeper;
  found.waited_for_ = on_device != nullptr ? on_device->buffer : *memory.reached();
  if (!take_operation(operation, element, buffers.compared != nullptr, order)) return std::nullopt;
  return found;
}

void SmallUpdate::wait_for_application() const {
  wait_for_queued(waited_for_, transports::time_of_call_ns());
}

}  // namespace penstock::interpose
