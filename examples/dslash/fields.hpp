// Device memory of a rank's fields. Knows no MPI.
#pragma once

#include <cstddef>
#include <cstdint>

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

/// Two faces behind one another.
template <typename Precision>
[[nodiscard]] std::size_t two_faces_bytes(const Slab& slab) {
  return 2 * aligned(face_bytes<Precision>(slab));
}

template <typename Precision>
[[nodiscard]] Faces<Precision> two_faces_at(const Slab& slab, std::byte* data) {
  return {face_at<Precision>(slab, data),
          face_at<Precision>(slab, data + aligned(face_bytes<Precision>(slab)))};
}

/// Spinors of one parity, their norms, and an end zone for the neighbours' faces, which sums leave out.
template <typename Precision>
class SpinorField {
 public:
  explicit SpinorField(const Slab& slab) : slab_(slab), memory_(device_bytes(slab)) {}

  [[nodiscard]] static std::size_t device_bytes(const Slab& slab) {
    return spinors_bytes(slab) + norms_bytes(slab) + (slab.is_whole() ? 0 : two_faces_bytes<Precision>(slab));
  }

  [[nodiscard]] SpinorView<Precision> view() const {
    return {memory_.get(), reinterpret_cast<float*>(memory_.get() + spinors_bytes(slab_)), slab_.sites()};
  }
  [[nodiscard]] Faces<Precision> end_zone() const {
    return two_faces_at<Precision>(slab_, memory_.get() + spinors_bytes(slab_) + norms_bytes(slab_));
  }

  void clear(const example::Stream& stream) const {
    example::check(cudaMemsetAsync(memory_.get(), 0, spinors_bytes(slab_) + norms_bytes(slab_), stream.get()),
                   "clear a field");
  }
  void copy_from(const example::Stream& stream, const SpinorField& other) const {
    example::check(
        cudaMemcpyAsync(memory_.get(), other.memory_.get(), spinors_bytes(slab_) + norms_bytes(slab_),
                        cudaMemcpyDeviceToDevice, stream.get()),
        "copy a field");
  }

 private:
  [[nodiscard]] static std::size_t spinors_bytes(const Slab& slab) {
    return aligned(static_cast<std::size_t>(slab.sites()) * Packing<Precision, 24>::item_bytes);
  }
  [[nodiscard]] static std::size_t norms_bytes(const Slab& slab) {
    return is_fixed_point<Precision> ? aligned(static_cast<std::size_t>(slab.sites()) * sizeof(float)) : 0;
  }

  Slab slab_;
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

}  // namespace dslash
