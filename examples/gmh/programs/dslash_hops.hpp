// Wilson's hopping term as an event flow, by the kernels of examples/dslash. The lattice is split in time
// over GMH ranks. An application is psi = eta + kappa D psi, on the odd sites and then on the even ones:
// every face of every application shows in the result.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <vector>

#include "examples/dslash/fields.hpp"
#include "examples/dslash/host_fields.hpp"
#include "examples/dslash/kernels.hpp"
#include "examples/dslash/settings.hpp"
#include "examples/gmh/gmh.h"

namespace gmh_programs {

struct HopProblem {
  dslash::Model model;  ///< with the whole lattice
  dslash::Coefficients coefficients;
  int rows = 2;                    ///< of links that are stored
  int applications_of_a_run = 20;  ///< of the list
};

/// A rank's part of a lattice that the first `ranks` ranks share. Thread: its own.
template <typename Precision>
class DslashHops {
 public:
  /// Sends the neighbour the links that it needs, once.
  DslashHops(gmh_tasklist_t thread_list, const HopProblem& problem, int rank, int ranks);
  ~DslashHops();
  DslashHops(const DslashHops&) = delete;
  DslashHops& operator=(const DslashHops&) = delete;

  /// A multiple of applications_of_a_run. The first application starts from psi = eta.
  void apply(int applications);

  [[nodiscard]] const dslash::Slab& slab() const { return slab_; }
  /// psi on this rank's sites.
  [[nodiscard]] dslash::HostField result() const;

 private:
  /// A face that is sent to one neighbour, and the one that comes from the other neighbour instead.
  struct Route {
    dslash::Face face;
    int destination;
    int source;
    std::array<gmh_mem_t, 2> packed;  ///< of hops to either parity
    std::array<gmh_mem_t, 2> ghosts;
    gmh_stream_t sends;
    gmh_stream_t receives;
  };
  /// Events of a hop.
  struct Hop {
    gmh_event_t interior = nullptr;
    gmh_event_t exterior = nullptr;
    std::vector<gmh_event_t> sends;
  };
  using Kernel = dslash::HopArguments<Precision>;
  using PackKernel = dslash::PackArguments<Precision>;

  void add_route(dslash::Face face, int destination, int source);
  [[nodiscard]] gmh_mem_t new_face(dslash::Face face, dslash::Faces& faces);
  void make_links();
  void add_hop(int parity);
  [[nodiscard]] Kernel& kernel(int parity, const dslash::Box& box);
  static int queue_hop(cudaStream_t stream, void* kernel);
  static int queue_pack(cudaStream_t stream, void* kernel);
  static int control(void* hops);

  gmh_tasklist_t thread_list_;
  gmh_tasklist_t list_ = nullptr;
  HopProblem problem_;
  dslash::Slab slab_;
  example::Stream setup_{example::Priority::normal};
  dslash::GaugeField<Precision> gauge_;
  dslash::BothParities<Precision> eta_;
  dslash::BothParities<Precision> psi_;
  gmh_stream_t bulk_ = nullptr;
  gmh_stream_t boundary_ = nullptr;
  std::vector<gmh_mem_t> memories_;
  std::array<dslash::Faces, 2> packed_{};
  std::array<dslash::Faces, 2> ghosts_{};
  std::vector<Route> routes_;
  std::deque<Kernel> kernels_;  ///< their addresses are fixed while the list runs
  std::deque<PackKernel> packs_;
  Hop before_;      ///< the previous hop
  Hop two_before_;  ///< the previous one to the same parity
  int applications_left_ = 0;
};

}  // namespace gmh_programs
