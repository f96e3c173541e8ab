#include "examples/dslash/ghost_links.hpp"

#include <mpi.h>

#include <algorithm>

namespace dslash {
namespace {

/// Sites of a face: runs of neighbouring ones.
struct Runs {
  std::size_t first;
  std::size_t sites;
  std::size_t step;
  std::size_t count;
};

Runs last_sites(const Slab& slab, Face face) {
  const auto plane = static_cast<std::size_t>(slab.plane_sites());
  const auto slice = static_cast<std::size_t>(slab.face_sites());
  return face == t_upper ? Runs{static_cast<std::size_t>(slab.sites()) - slice, slice, 0, 1}
                         : Runs{slice - plane, plane, slice, static_cast<std::size_t>(slab.slices)};
}

/// A parity's links of one direction. They lie behind one another by vectors of all sites, so there is a
/// piece of a face for each vector.
class LinkBlock {
 public:
  LinkBlock(const example::Stream& stream, std::byte* block, std::size_t stride, std::size_t link_bytes,
            std::size_t face_sites)
      : stream_(stream), block_(block), stride_(stride), link_bytes_(link_bytes), face_sites_(face_sites) {}

  [[nodiscard]] std::size_t face_bytes() const { return face_sites_ * link_bytes_; }
  void pack(const Runs& runs, std::byte* face) const { copy(runs, face, true); }
  void unpack(std::size_t first, std::byte* face) const { copy({first, face_sites_, 0, 1}, face, false); }

 private:
  void copy(const Runs& runs, std::byte* face, bool packs) const {
    constexpr std::size_t vector_bytes = 16;
    for (std::size_t done = 0; done < link_bytes_; done += vector_bytes) {
      const std::size_t width = std::min(vector_bytes, link_bytes_ - done);
      for (std::size_t run = 0; run < runs.count; ++run) {
        std::byte* const in_block = block_ + done * stride_ + (runs.first + run * runs.step) * width;
        std::byte* const in_face = face + done * face_sites_ + run * runs.sites * width;
        example::check(cudaMemcpyAsync(packs ? in_face : in_block, packs ? in_block : in_face,
                                       runs.sites * width, cudaMemcpyDefault, stream_.get()),
                       "copy links");
      }
    }
  }

  const example::Stream& stream_;
  std::byte* block_;
  std::size_t stride_;
  std::size_t link_bytes_;
  std::size_t face_sites_;
};

void send_block(const LinkBlock& block, const Slab& slab, Face face, const example::Stream& stream,
                const LinkExchange& exchange) {
  const std::size_t bytes = block.face_bytes();
  const example::DeviceArray<std::byte> faces(2 * bytes);
  block.pack(last_sites(slab, face), faces.get());
  stream.synchronize();
  exchange(face, faces.get(), faces.get() + bytes, bytes);
  block.unpack(static_cast<std::size_t>(slab.sites()), faces.get() + bytes);
  stream.synchronize();
}

}  // namespace

LinkExchange exchange_by_mpi(const Team& team, const example::Stream& stream, bool is_staged) {
  return [&team, &stream, is_staged](Face face, std::byte* sent, std::byte* received, std::size_t bytes) {
    const example::PinnedArray<std::byte> on_host(is_staged ? 2 * bytes : 1);
    std::byte* const from = is_staged ? on_host.get() : sent;
    std::byte* const to = is_staged ? on_host.get() + bytes : received;
    if (is_staged) {
      example::check(cudaMemcpyAsync(from, sent, bytes, cudaMemcpyDefault, stream.get()), "copy links");
      stream.synchronize();
    }
    MPI_Sendrecv(from, static_cast<int>(bytes), MPI_BYTE, team.destination(face), 0, to,
                 static_cast<int>(bytes), MPI_BYTE, team.source(face), 0, team.communicator,
                 MPI_STATUS_IGNORE);
    if (is_staged) {
      example::check(cudaMemcpyAsync(received, to, bytes, cudaMemcpyDefault, stream.get()), "copy links");
      stream.synchronize();
    }
  };
}

template <typename Precision>
void send_ghost_links(const Slab& slab, const example::Stream& stream, const GaugeView<Precision>& gauge,
                      const LinkExchange& exchange) {
  for (const Face face : {t_upper, z_upper}) {
    for (int parity = 0; parity < 2 && slab.has(face); ++parity) {
      const LinkBlock block(stream, gauge.block(parity, face == t_upper ? time_direction : z_direction),
                            static_cast<std::size_t>(gauge.stride), gauge.link_bytes(),
                            static_cast<std::size_t>(slab.sites_of(face)));
      send_block(block, slab, face, stream, exchange);
    }
  }
}

#define DSLASH_GHOST_LINKS(P)                                                              \
  template void send_ghost_links(const Slab&, const example::Stream&, const GaugeView<P>&, \
                                 const LinkExchange&);
DSLASH_GHOST_LINKS(Double)
DSLASH_GHOST_LINKS(Single)
DSLASH_GHOST_LINKS(Half)
#undef DSLASH_GHOST_LINKS

}  // namespace dslash
