// Device memory of a rank's fields. Knows no MPI.
#pragma once

#include <array>
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

template <typename Precision>
[[nodiscard]] constexpr std::size_t spinors_bytes_of_face_item(Face face) {
  return face == t_upper || face == t_lower ? Packing<Precision, 12>::item_bytes
                                            : Packing<ZPrecision<Precision>, 12>::item_bytes;
}

/// Half spinors of a face, then their norms; nothing where no other rank needs it.
template <typename Precision>
[[nodiscard]] std::size_t face_bytes(const Slab& slab, Face face) {
  const auto sites = static_cast<std::size_t>(slab.has(face) ? slab.sites_of(face) : 0);
  return aligned(sites * spinors_bytes_of_face_item<Precision>(face) +
                 (is_fixed_point<Precision> ? sites * sizeof(float) : 0));
}

/// Faces of all right-hand sides lie behind one another: a message for each of the four.
template <typename Precision>
[[nodiscard]] std::size_t faces_bytes(const Slab& slab, int sides) {
  std::size_t bytes = 0;
  for (int face = 0; face < most_faces; ++face) {
    bytes += static_cast<std::size_t>(sides) * face_bytes<Precision>(slab, static_cast<Face>(face));
  }
  return bytes;
}

template <typename Precision>
[[nodiscard]] FaceView face_at(const Slab& slab, Face face, std::byte* data) {
  const auto sites = static_cast<std::size_t>(slab.sites_of(face));
  return {data, reinterpret_cast<float*>(data + sites * spinors_bytes_of_face_item<Precision>(face))};
}

template <typename Precision>
[[nodiscard]] Faces faces_at(const Slab& slab, int sides, std::byte* data) {
  Faces faces;
  for (int i = 0; i < most_faces; ++i) {
    const auto face = static_cast<Face>(i);
    faces.of[i] = face_at<Precision>(slab, face, data);
    data += static_cast<std::size_t>(sides) * face_bytes<Precision>(slab, face);
  }
  return faces;
}

/// Where each face begins, and how long it is: what is sent and received.
using FacePointers = std::array<std::byte*, most_faces>;
using FaceBytes = std::array<std::size_t, most_faces>;

[[nodiscard]] inline FacePointers pointers_of(const Faces& faces) {
  FacePointers pointers;
  for (std::size_t face = 0; face < most_faces; ++face) {
    pointers[face] = faces.of[face].data;
  }
  return pointers;
}

/// Of so many right-hand sides.
template <typename Precision>
[[nodiscard]] FaceBytes message_bytes(const Slab& slab, int sides) {
  FaceBytes bytes;
  for (std::size_t face = 0; face < most_faces; ++face) {
    bytes[face] = static_cast<std::size_t>(sides) * face_bytes<Precision>(slab, static_cast<Face>(face));
  }
  return bytes;
}

/// Spinors of one parity and their norms, for one right-hand side or several, and an end zone for the
/// neighbours' faces, which sums leave out.
template <typename Precision>
class SpinorField {
 public:
  explicit SpinorField(const Slab& slab, int sides = 1)
      : slab_(slab), sides_(sides), memory_(device_bytes(slab, sides)) {}

  [[nodiscard]] static std::size_t device_bytes(const Slab& slab, int sides = 1) {
    return static_cast<std::size_t>(sides) * side_bytes(slab) + 2 * faces_bytes<Precision>(slab, sides);
  }

  [[nodiscard]] SpinorView<Precision> view(int side = 0) const {
    std::byte* const data = memory_.get() + static_cast<std::size_t>(side) * side_bytes(slab_);
    return {data, reinterpret_cast<float*>(data + spinors_bytes(slab_)), slab_.sites(), side_bytes(slab_)};
  }
  [[nodiscard]] Selection all_sides() const { return Selection::all(sides_); }
  /// Two sets of faces, used in turn: one is received while the other may still be read. One Hop at a time
  /// may use a field.
  [[nodiscard]] Faces end_zone(unsigned step) const {
    return faces_at<Precision>(
        slab_, sides_,
        memory_.get() + spinors_of_all_sides() + (step % 2) * faces_bytes<Precision>(slab_, sides_));
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

/// Links of both parities. The padding of a block is the larger face.
template <typename Precision>
class GaugeField {
 public:
  GaugeField(const Slab& slab, int rows) : slab_(slab), rows_(rows), memory_(device_bytes(slab, rows)) {}

  [[nodiscard]] static std::size_t device_bytes(const Slab& slab, int rows) {
    return static_cast<std::size_t>(2 * dimensions) * static_cast<std::size_t>(stride(slab)) *
           static_cast<std::size_t>(6 * rows) * sizeof(typename Precision::Stored);
  }

  [[nodiscard]] GaugeView<Precision> view() const { return {memory_.get(), stride(slab_), rows_}; }

 private:
  [[nodiscard]] static int stride(const Slab& slab) {
    const int z_face = slab.is_split_along_z() ? slab.z_face_sites() : 0;
    return slab.sites() + (z_face > slab.face_sites() ? z_face : slab.face_sites());
  }

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
