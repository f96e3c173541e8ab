#include "examples/gmh/programs/dslash_hops.hpp"

#include "examples/dslash/boxes.hpp"
#include "examples/dslash/ghost_links.hpp"
#include "examples/gmh/programs/program.hpp"

namespace dslash {

/// GMH ends all ranks with the exception's message.
void check_launch(cudaError_t error) {
  gmh_programs::require_cuda(error, "launch a kernel");
}

}  // namespace dslash

namespace gmh_programs {
namespace {

constexpr int tag_of_links = dslash::most_faces;  // those of faces are lower

}  // namespace

template <typename Precision>
DslashHops<Precision>::DslashHops(gmh_tasklist_t thread_list, const HopProblem& problem, int rank, int ranks)
    : thread_list_(thread_list),
      problem_(problem),
      slab_(dslash::slab_of_rank(problem.model.lattice, rank, ranks, 1)),
      gauge_(slab_, problem.rows),
      eta_(slab_),
      psi_(slab_) {
  require(gmh_create_tasklist(thread_list, &list_));
  require(gmh_create_command_stream(list_, &bulk_, GMH_NORMAL));
  require(gmh_create_command_stream(list_, &boundary_, GMH_URGENT));
  for (int parity = 0; parity < 2; ++parity) {
    dslash::queue_source<Precision>(setup_.get(), slab_, parity, eta_.of[parity].view(), problem.model);
    psi_.of[parity].copy_from(setup_, psi_.of[parity].all_sides(), eta_.of[parity]);
  }
  if (ranks > 1) {
    const int ahead = (rank + 1) % ranks;
    const int behind = (rank + ranks - 1) % ranks;
    add_route(dslash::t_upper, ahead, behind);
    add_route(dslash::t_lower, behind, ahead);
  }
  make_links();
  for (int application = 0; application < problem.applications_of_a_run; ++application) {
    add_hop(1);
    add_hop(0);
  }
  require(gmh_add_control_task(list_, control, this));
}

template <typename Precision>
DslashHops<Precision>::~DslashHops() {
  gmh_free_tasklist(list_);
  for (gmh_mem_t memory : memories_) gmh_mem_free(memory);
}

template <typename Precision>
void DslashHops<Precision>::add_route(dslash::Face face, int destination, int source) {
  Route route{face, destination, source, {}, {}, nullptr, nullptr};
  for (std::size_t parity = 0; parity < 2; ++parity) {
    route.packed[parity] = new_face(face, packed_[parity]);
    route.ghosts[parity] = new_face(face, ghosts_[parity]);
  }
  require(gmh_create_command_stream(list_, &route.sends, GMH_URGENT));
  require(gmh_create_command_stream(list_, &route.receives, GMH_URGENT));
  routes_.push_back(route);
}

template <typename Precision>
gmh_mem_t DslashHops<Precision>::new_face(dslash::Face face, dslash::Faces& faces) {
  gmh_mem_t memory = nullptr;
  void* gpu = nullptr;
  require(gmh_mem_create(list_, dslash::face_bytes<Precision>(slab_, face), GMH_READ | GMH_WRITE,
                         GMH_WITH_SHADOW, &memory));
  memories_.push_back(memory);
  require(gmh_mem_pointers(memory, &gpu, nullptr, nullptr));
  faces.of[face] = dslash::face_at<Precision>(slab_, face, static_cast<std::byte*>(gpu));
  return memory;
}

template <typename Precision>
void DslashHops<Precision>::make_links() {
  dslash::queue_links(setup_.get(), slab_, gauge_.view(), problem_.model);
  setup_.synchronize();
  const auto exchange = [this](dslash::Face /*face*/, std::byte* sent, std::byte* received,
                               std::size_t bytes) {
    const Route& forwards = routes_.front();
    const int count = static_cast<int>(bytes);
    gmh_event_t events[2];
    require(gmh_Irecv(thread_list_, nullptr, received, count, GMH_BYTE, forwards.source, tag_of_links,
                      &events[0]));
    require(gmh_Isend(thread_list_, nullptr, sent, count, GMH_BYTE, forwards.destination, tag_of_links,
                      &events[1]));
    require(gmh_waitall(2, events));
  };
  dslash::send_ghost_links(slab_, setup_, gauge_.view(), exchange);
}

template <typename Precision>
auto DslashHops<Precision>::kernel(int parity, const dslash::Box& box) -> Kernel& {
  using Real = typename Precision::Real;
  Kernel kernel{};
  kernel.slab = slab_;
  kernel.box = box;
  kernel.parity = parity;
  kernel.scale = static_cast<Real>(problem_.coefficients.kappa);
  kernel.spatial_weight = static_cast<Real>(1 / problem_.coefficients.anisotropy);
  kernel.boundary_sign = problem_.coefficients.is_antiperiodic ? -1 : 1;
  kernel.gauge = gauge_.view();
  kernel.in = psi_.of[1 - parity].view();
  kernel.x = eta_.of[parity].view();
  kernel.out = psi_.of[parity].view();
  kernel.ghosts = ghosts_[static_cast<std::size_t>(parity)];
  return kernels_.emplace_back(kernel);
}

template <typename Precision>
int DslashHops<Precision>::queue_hop(cudaStream_t stream, void* kernel) {
  dslash::queue_hop(stream, *static_cast<const Kernel*>(kernel));
  return 0;
}

template <typename Precision>
int DslashHops<Precision>::queue_pack(cudaStream_t stream, void* kernel) {
  dslash::queue_pack(stream, *static_cast<const PackKernel*>(kernel));
  return 0;
}

/// Streams keep their order: packing reads what the exterior before it has written, and the interior is
/// behind the one before it.
template <typename Precision>
void DslashHops<Precision>::add_hop(int parity) {
  if (routes_.empty()) {
    require(gmh_add_gpu_kernel(list_, bulk_, queue_hop, &kernel(parity, dslash::whole(slab_)), 0, nullptr,
                               nullptr));
    return;
  }
  const auto set = static_cast<std::size_t>(parity);
  Hop now;
  // The exterior two hops ago has read the ghosts, and the sends have read what was packed.
  std::vector<gmh_event_t> for_exterior{before_.interior};
  for (const Route& route : routes_) {
    gmh_event_t received = nullptr;
    require(gmh_add_recv_buffer(list_, route.receives, route.ghosts[set], 0, route.source, route.face, 1,
                                &two_before_.exterior, &received));
    require(gmh_name(received, route.face == dslash::t_upper ? "receive from behind" : "receive from ahead"));
    for_exterior.push_back(received);
  }
  gmh_event_t packed = nullptr;
  packs_.push_back({psi_.of[1 - parity].view(), packed_[set], dslash::Sides{}, slab_, 1, dslash::Signal{}});
  require(gmh_add_gpu_kernel(list_, boundary_, queue_pack, &packs_.back(),
                             static_cast<int>(two_before_.sends.size()), two_before_.sends.data(), &packed));
  require(gmh_name(packed, "pack"));
  for (const Route& route : routes_) {
    gmh_event_t sent = nullptr;
    require(gmh_add_send_buffer(list_, route.sends, route.packed[set], 0, route.destination, route.face, 1,
                                &packed, &sent));
    require(gmh_name(sent, route.face == dslash::t_upper ? "send ahead" : "send behind"));
    now.sends.push_back(sent);
  }
  // Either kernel reads slices that the other one wrote in the previous hop, and overwrites what it read
  // then.
  require(gmh_add_gpu_kernel(list_, bulk_, queue_hop, &kernel(parity, dslash::interior(slab_)), 1,
                             &before_.exterior, &now.interior));
  require(gmh_name(now.interior, "interior"));
  const dslash::Box outer{dslash::outer_of(slab_.slices), dslash::all_of(slab_.planes)};
  require(gmh_add_gpu_kernel(list_, boundary_, queue_hop, &kernel(parity, outer),
                             static_cast<int>(for_exterior.size()), for_exterior.data(), &now.exterior));
  require(gmh_name(now.exterior, "exterior"));
  two_before_ = std::move(before_);
  before_ = std::move(now);
}

template <typename Precision>
int DslashHops<Precision>::control(void* hops) {
  DslashHops& self = *static_cast<DslashHops*>(hops);
  self.applications_left_ -= self.problem_.applications_of_a_run;
  return self.applications_left_ > 0 ? GMH_RERUN : GMH_EXIT;
}

template <typename Precision>
void DslashHops<Precision>::apply(int applications) {
  applications_left_ = applications;
  require(gmh_start(list_));
}

template <typename Precision>
dslash::HostField DslashHops<Precision>::result() const {
  return dslash::download(setup_, slab_, psi_);
}

template class DslashHops<dslash::Double>;
template class DslashHops<dslash::Single>;
template class DslashHops<dslash::Half>;

}  // namespace gmh_programs
