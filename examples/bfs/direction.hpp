// In which direction a search follows edges. For command lines too: knows no GPU.
#pragma once

namespace bfs {

enum class Direction {
  top_down,   ///< always from the frontier to what is not seen
  optimising  ///< while the frontier is large, from what is not seen to the frontier
};

}  // namespace bfs
