#include "examples/dslash/ghost_links.hpp"

#include <mpi.h>

#include <algorithm>

namespace dslash {
namespace {

/// A parity's links of a face. In its block they lie behind one another by vectors of all sites, so there is
/// a piece of the face for each vector.
class LinkFace {
 public:
  LinkFace(const example::Stream& stream, std::byte* block, std::size_t stride, std::size_t link_bytes,
           std::size_t face_sites)
      : stream_(stream), block_(block), stride_(stride), link_bytes_(link_bytes), face_sites_(face_sites) {}

  [[nodiscard]] std::size_t bytes() const { return face_sites_ * link_bytes_; }
  /// From the block's sites `first`, … to a face, or back.
  void pack(std::size_t first, std::byte* face) const { copy(first, face, true); }
  void unpack(std::size_t first, std::byte* face) const { copy(first, face, false); }

 private:
  void copy(std::size_t first, std::byte* face, bool packs) const {
    constexpr std::size_t vector_bytes = 16;
    for (std::size_t done = 0; done < link_bytes_; done += vector_bytes) {
      const std::size_t width = std::min(vector_bytes, link_bytes_ - done);
      std::byte* const in_block = block_ + done * stride_ + first * width;
      std::byte* const in_face = face + done * face_sites_;
      example::check(cudaMemcpyAsync(packs ? in_face : in_block, packs ? in_block : in_face,
                                     face_sites_ * width, cudaMemcpyDefault, stream_.get()),
                     "copy links");
    }
  }

  const example::Stream& stream_;
  std::byte* block_;
  std::size_t stride_;
  std::size_t link_bytes_;
  std::size_t face_sites_;
};

}  // namespace

template <typename Precision>
void send_ghost_links(const Team& team, const example::Stream& stream, const GaugeView<Precision>& gauge,
                      bool is_staged) {
  const auto face_sites = static_cast<std::size_t>(team.slab.face_sites());
  const auto sites = static_cast<std::size_t>(team.slab.sites());
  const std::size_t bytes = face_sites * gauge.link_bytes();
  const example::DeviceArray<std::byte> on_device(2 * bytes);
  const example::PinnedArray<std::byte> on_host(2 * bytes);
  for (int parity = 0; parity < 2; ++parity) {
    const LinkFace face(stream, gauge.block(parity, time_direction), static_cast<std::size_t>(gauge.stride),
                        gauge.link_bytes(), face_sites);
    face.pack(sites - face_sites, on_device.get());
    std::byte* const sent = is_staged ? on_host.get() : on_device.get();
    if (is_staged) {
      example::check(cudaMemcpyAsync(sent, on_device.get(), bytes, cudaMemcpyDefault, stream.get()),
                     "copy links");
    }
    stream.synchronize();
    MPI_Sendrecv(sent, static_cast<int>(bytes), MPI_BYTE, team.ahead(), 0, sent + bytes,
                 static_cast<int>(bytes), MPI_BYTE, team.behind(), 0, team.communicator, MPI_STATUS_IGNORE);
    if (is_staged) {
      example::check(
          cudaMemcpyAsync(on_device.get() + bytes, sent + bytes, bytes, cudaMemcpyDefault, stream.get()),
          "copy links");
    }
    face.unpack(sites, on_device.get() + bytes);
    stream.synchronize();
  }
}

template void send_ghost_links(const Team&, const example::Stream&, const GaugeView<Double>&, bool);
template void send_ghost_links(const Team&, const example::Stream&, const GaugeView<Single>&, bool);
template void send_ghost_links(const Team&, const example::Stream&, const GaugeView<Half>&, bool);

}  // namespace dslash
