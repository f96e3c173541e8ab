// Device memory of a rank's fields. Knows no MPI.
#pragma once

#include <cstddef>
#include <cstdint>

#include "examples/dslash/clover.hpp"
#include "examples/dslash/lattice.hpp"
#include "examples/dslash/views.hpp"
#include "examples/support/gpu.hpp"

namespace dslash {

[[nodiscard]] constexpr std::size_t aligned(std::size_t bytes) {
  constexpr std::size_t alignment = 256;
  return (bytes + alignment - 1) / alignment * alignment;
}

/// Half spinors of a face, then their norms: one message.
template <typename Precision>
[[nodiscard]] std::size_t face_bytes(const Slab& slab) {
  const auto sites = static_cast<std::size_t>(slab.face_sites());
  return sites * Packing<Precision, 12>::item_bytes + (is_fixed_point<Precision> ? sites * sizeof(float) : 0);
}

template <typename Precision>
[[nodiscard]] FaceView<Precision> face_at(const Slab& slab, std::byte* data) {
  const auto sites = static_cast<std::size_t>(slab.face_sites());
  return {data, reinterpret_cast<float*>(data + sites * Packing<Precision, 12>::item_bytes)};
}

/// Upper faces of all right-hand sides, then lower ones.
template <typename Precision>
[[nodiscard]] std::size_t two_faces_bytes(const Slab& slab, int sides) {
  return 2 * static_cast<std::size_t>(sides) * aligned(face_bytes<Precision>(slab));
}

template <typename Precision>
[[nodiscard]] Faces<Precision> two_faces_at(const Slab& slab, int sides, std::byte* data) {
  const std::size_t upper_bytes = two_faces_bytes<Precision>(slab, sides) / 2;
  return {face_at<Precision>(slab, data), face_at<Precision>(slab, data + upper_bytes)};
}

/// Spinors of one parity and their norms, for one right-hand side or several, and an end zone for the
/// neighbours' faces, which sums leave out.
template <typename Precision>
class SpinorField {
 public:
  explicit SpinorField(const Slab& slab, int sides = 1)
      : slab_(slab), sides_(sides), memory_(device_bytes(slab, sides)) {}

  [[nodiscard]] static std::size_t device_bytes(const Slab& slab, int sides = 1) {
    return static_cast<std::size_t>(sides) * side_bytes(slab) +
           (slab.is_whole() ? 0 : 2 * two_faces_bytes<Precision>(slab, sides));
  }

  [[nodiscard]] SpinorView<Precision> view(int side = 0) const {
    std::byte* const data = memory_.get() + static_cast<std::size_t>(side) * side_bytes(slab_);
    return {data, reinterpret_cast<float*>(data + spinors_bytes(slab_)), slab_.sites(), side_bytes(slab_)};
  }
  [[nodiscard]] Selection all_sides() const { return Selection::all(sides_); }
  /// Two sets of faces, used in turn: one is received while the other may still be read. One Hop at a time
  /// may use a field.
  [[nodiscard]] Faces<Precision> end_zone(unsigned step) const {
    return two_faces_at<Precision>(
        slab_, sides_,
        memory_.get() + spinors_of_all_sides() + (step % 2) * two_faces_bytes<Precision>(slab_, sides_));
  }

  void clear(const example::Stream& stream, const Selection& sides) const {
    for (int side = 0; side < sides.count; ++side) {
      example::check(cudaMemsetAsync(view(sides.field_of(side)).data, 0, side_bytes(slab_), stream.get()),
                     "clear a field");
    }
  }
  void copy_from(const example::Stream& stream, const Selection& sides, const SpinorField& other) const {
    for (int side = 0; side < sides.count; ++side) {
      copy_side(stream, sides.field_of(side), other, sides.field_of(side));
    }
  }
  /// From a right-hand side of one field to one of another.
  void copy_side(const example::Stream& stream, int to, const SpinorField& other, int from) const {
    example::check(cudaMemcpyAsync(view(to).data, other.view(from).data, side_bytes(slab_),
                                   cudaMemcpyDeviceToDevice, stream.get()),
                   "copy a field");
  }

 private:
  [[nodiscard]] static std::size_t spinors_bytes(const Slab& slab) {
    return aligned(static_cast<std::size_t>(slab.sites()) * Packing<Precision, 24>::item_bytes);
  }
  [[nodiscard]] static std::size_t side_bytes(const Slab& slab) {
    const auto sites = static_cast<std::size_t>(slab.sites());
    return spinors_bytes(slab) + (is_fixed_point<Precision> ? aligned(sites * sizeof(float)) : 0);
  }
  [[nodiscard]] std::size_t spinors_of_all_sides() const {
    return static_cast<std::size_t>(sides_) * side_bytes(slab_);
  }

  Slab slab_;
  int sides_;
  example::DeviceArray<std::byte> memory_;
};

/// Links of both parities. The padding of a block is one face.
template <typename Precision>
class GaugeField {
 public:
  GaugeField(const Slab& slab, int rows) : slab_(slab), rows_(rows), memory_(device_bytes(slab, rows)) {}

  [[nodiscard]] static std::size_t device_bytes(const Slab& slab, int rows) {
    return static_cast<std::size_t>(2 * dimensions) *
           static_cast<std::size_t>(slab.sites() + slab.face_sites()) * static_cast<std::size_t>(6 * rows) *
           sizeof(typename Precision::Stored);
  }

  [[nodiscard]] GaugeView<Precision> view() const {
    return {memory_.get(), slab_.sites() + slab_.face_sites(), rows_};
  }

 private:
  Slab slab_;
  int rows_;
  example::DeviceArray<std::byte> memory_;
};

/// The clover term of both parities, or its inverse.
template <typename Precision>
class CloverField {
 public:
  explicit CloverField(const Slab& slab) : slab_(slab), memory_(device_bytes(slab)) {}

  [[nodiscard]] static std::size_t device_bytes(const Slab& slab) { return 2 * parity_bytes(slab); }

  [[nodiscard]] CloverView<Precision> view(int parity) const {
    std::byte* const data = memory_.get() + static_cast<std::size_t>(parity) * parity_bytes(slab_);
    return {data, reinterpret_cast<float*>(data + blocks_bytes(slab_)), slab_.sites()};
  }

 private:
  [[nodiscard]] static std::size_t blocks_bytes(const Slab& slab) {
    return aligned(static_cast<std::size_t>(slab.sites()) * Packing<Precision, clover_numbers>::item_bytes);
  }
  [[nodiscard]] static std::size_t parity_bytes(const Slab& slab) {
    const auto sites = static_cast<std::size_t>(slab.sites());
    return blocks_bytes(slab) + (is_fixed_point<Precision> ? aligned(sites * sizeof(float)) : 0);
  }

  Slab slab_;
  example::DeviceArray<std::byte> memory_;
};

}  // namespace dslash
