#include "examples/particles/partition.hpp"
#include "examples/particles/voxel_graph.hpp"

#if PARTICLES_HAVE_SCOTCH
#include <cstdio>

extern "C" {
#include <scotch.h>
}
#endif

namespace particles {

#if PARTICLES_HAVE_SCOTCH
bool has_scotch() {
  return true;
}

namespace {

using Numbers = std::vector<SCOTCH_Num>;

Numbers numbers_of(const std::vector<std::int32_t>& values) {
  return {values.begin(), values.end()};
}

class ScotchGraph {
 public:
  ScotchGraph() { SCOTCH_graphInit(&graph_); }
  ~ScotchGraph() { SCOTCH_graphExit(&graph_); }
  ScotchGraph(const ScotchGraph&) = delete;
  ScotchGraph& operator=(const ScotchGraph&) = delete;
  [[nodiscard]] SCOTCH_Graph* get() { return &graph_; }

 private:
  SCOTCH_Graph graph_;
};

class ScotchStrategy {
 public:
  ScotchStrategy() { SCOTCH_stratInit(&strategy_); }
  ~ScotchStrategy() { SCOTCH_stratExit(&strategy_); }
  ScotchStrategy(const ScotchStrategy&) = delete;
  ScotchStrategy& operator=(const ScotchStrategy&) = delete;
  [[nodiscard]] SCOTCH_Strat* get() { return &strategy_; }

 private:
  SCOTCH_Strat strategy_;
};

/// In which Scotch cuts a graph the same way each time: since version 7 it has threads, and their races show
/// in what it finds.
class OneThread {
 public:
  explicit OneThread(SCOTCH_Num seed) {
#if SCOTCH_VERSION >= 7
    SCOTCH_contextInit(&context_);
    is_ready_ = SCOTCH_contextThreadSpawn(&context_, 1, nullptr) == 0 &&
                SCOTCH_contextOptionSetNum(&context_, SCOTCH_OPTIONNUMDETERMINISTIC, 1) == 0 &&
                SCOTCH_contextRandomClone(&context_) == 0;
    SCOTCH_contextRandomSeed(&context_, seed);
    SCOTCH_contextRandomReset(&context_);
#else
    SCOTCH_randomSeed(seed);
    SCOTCH_randomReset();
#endif
  }
#if SCOTCH_VERSION >= 7
  ~OneThread() {
    SCOTCH_contextExit(&context_);
  }
#else
  ~OneThread() = default;
#endif
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

  [[nodiscard]] bool cut(ScotchGraph& graph, int pieces, ScotchStrategy& strategy, Numbers& parts) {
#if SCOTCH_VERSION >= 7
    ScotchGraph bound;
    return is_ready_ && SCOTCH_contextBindGraph(&context_, graph.get(), bound.get()) == 0 &&
           SCOTCH_graphPart(bound.get(), pieces, strategy.get(), parts.data()) == 0;
#else
    return SCOTCH_graphPart(graph.get(), pieces, strategy.get(), parts.data()) == 0;
#endif
  }

#if SCOTCH_VERSION >= 7
 private:
  SCOTCH_Context context_;
  bool is_ready_ = false;
#endif
};

/// The piece of each vertex, or nothing if Scotch refuses.
Numbers cut(const VoxelGraph& graph, int pieces, std::uint64_t seed) {
  Numbers parts(graph.weights.size());
  const Numbers starts = numbers_of(graph.starts);
  const Numbers ends = numbers_of(graph.ends);
  const Numbers weights = numbers_of(graph.weights);
  OneThread thread(static_cast<SCOTCH_Num>(seed & 0x7FFFFFFF));
  ScotchGraph handle;
  ScotchStrategy strategy;
  constexpr double imbalance = 0.01;
  const bool is_cut =
      SCOTCH_graphBuild(handle.get(), 0, static_cast<SCOTCH_Num>(parts.size()), starts.data(), nullptr,
                        weights.data(), nullptr, static_cast<SCOTCH_Num>(ends.size()), ends.data(),
                        nullptr) == 0 &&
      SCOTCH_stratGraphMapBuild(strategy.get(), SCOTCH_STRATBALANCE, pieces, imbalance) == 0 &&
      thread.cut(handle, pieces, strategy, parts);
  return is_cut ? parts : Numbers{};
}

}  // namespace

Partition cut_by_scotch(const Box& box, const std::vector<std::uint8_t>& fluid, int pieces,
                        std::uint64_t seed) {
  const VoxelGraph graph = make_voxel_graph(box, fluid, pieces);
  const Numbers parts = cut(graph, pieces, seed);
  if (parts.empty()) {
    return {{}, "--partition: Scotch did not cut the graph"};
  }
  return {owners_of(graph, parts, box, fluid), {}};
}

#else

bool has_scotch() {
  return false;
}

Partition cut_by_scotch(const Box&, const std::vector<std::uint8_t>&, int, std::uint64_t) {
  return {{}, "--partition: this program was built without libscotch; take slabs, or a file"};
}

#endif

}  // namespace particles
