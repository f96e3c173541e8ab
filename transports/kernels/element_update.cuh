// The device code of updates in place. Only device code includes this file.
#pragma once

#include "transports/kernels/element_update.hpp"
#include "transports/kernels/loads.cuh"
#include "transports/kernels/reduction.cuh"

namespace penstock::transports::kernels {
namespace {

template <class T, class Change>
__device__ void for_each_element(const ElementUpdate& update, ThreadGroup group, Change change) {
  T* const target = static_cast<T*>(update.target);
  T* const result = static_cast<T*>(update.result);
  for (std::uint32_t i = group.thread; i < update.count; i += group.threads) {
    const T earlier = load<Loads::fresh>(target + i);
    change(target[i], earlier, i);
    if (result != nullptr) result[i] = earlier;
  }
}

template <class T>
__device__ void combine_elements(const ElementUpdate& update, ThreadGroup group) {
  const T* const operand = static_cast<const T*>(update.operand);
  with_operation<T>(update.operation, [&](auto combine) {
    for_each_element<T>(update, group, [&](T& target, T earlier, std::uint32_t i) {
      target = combine(earlier, load<Loads::fresh>(operand + i));
    });
  });
}

/// For all kinds but combine, which need not know the elements' type.
template <class T>
__device__ void move_elements(const ElementUpdate& update, ThreadGroup group) {
  const T* const operand = static_cast<const T*>(update.operand);
  const T* const compared = static_cast<const T*>(update.compared);
  for_each_element<T>(update, group, [&](T& target, T earlier, std::uint32_t i) {
    if (update.kind == UpdateKind::keep) return;
    if (update.kind == UpdateKind::swap && earlier != load<Loads::fresh>(compared + i)) return;
    target = load<Loads::fresh>(operand + i);
  });
}

/// Not inlined: the resident kernel would spill registers.
__device__ __attribute__((noinline)) void update_elements(const ElementUpdate& update, ThreadGroup group) {
  if (update.kind == UpdateKind::combine) {
    switch (update.type) {
#define PENSTOCK_ROW(name, Type) \
  case ResidentType::name:       \
    return combine_elements<Type>(update, group);
      PENSTOCK_RESIDENT_TYPES(PENSTOCK_ROW)
#undef PENSTOCK_ROW
      case ResidentType::blocks:
        return;
    }
    return;
  }
  switch (update.element_shift) {
    case 0:
      return move_elements<std::uint8_t>(update, group);
    case 1:
      return move_elements<std::uint16_t>(update, group);
    case 2:
      return move_elements<std::uint32_t>(update, group);
    default:
      return move_elements<std::uint64_t>(update, group);
  }
}

}  // namespace
}  // namespace penstock::transports::kernels
