// Breadth-first search as textbooks have it, serially and on the host.
#pragma once

#include <cstdint>
#include <vector>

#include "examples/bfs/kronecker.hpp"
#include "examples/bfs/search_kernels.hpp"

namespace bfs {

struct Tree {
  std::int64_t root = 0;
  std::vector<std::int64_t> parents;
  std::vector<Level> levels;
};

class Reference {
 public:
  explicit Reference(const Kronecker& kronecker)
      : neighbours_(static_cast<std::size_t>(kronecker.vertices())) {
    for (std::int64_t index = 0; index < kronecker.edges(); ++index) {
      edges_.push_back(kronecker.edge(index));
      neighbours_[static_cast<std::size_t>(edges_.back().first)].push_back(edges_.back().second);
      neighbours_[static_cast<std::size_t>(edges_.back().second)].push_back(edges_.back().first);
    }
  }

  [[nodiscard]] const std::vector<Edge>& edges() const { return edges_; }
  [[nodiscard]] const std::vector<std::int64_t>& neighbours(std::int64_t vertex) const {
    return neighbours_[static_cast<std::size_t>(vertex)];
  }

  /// Of a vertex's neighbours nearer to the root, the one with the lowest number is its parent.
  [[nodiscard]] Tree search(std::int64_t root) const {
    Tree tree{root, std::vector<std::int64_t>(neighbours_.size(), not_in_tree),
              std::vector<Level>(neighbours_.size(), no_level)};
    tree.parents[static_cast<std::size_t>(root)] = root;
    tree.levels[static_cast<std::size_t>(root)] = 0;
    std::vector<std::int64_t> queue{root};
    for (std::size_t next = 0; next < queue.size(); ++next) {
      const std::int64_t from = queue[next];
      const auto level = static_cast<Level>(tree.levels[static_cast<std::size_t>(from)] + 1);
      for (const std::int64_t to : neighbours(from)) {
        std::int64_t& parent = tree.parents[static_cast<std::size_t>(to)];
        Level& known = tree.levels[static_cast<std::size_t>(to)];
        if (known == no_level) {
          queue.push_back(to);
          known = level;
          parent = from;
        } else if (known == level && from < parent) {
          parent = from;
        }
      }
    }
    return tree;
  }

  /// Undirected input edges of a tree's component.
  [[nodiscard]] std::int64_t edges_in(const Tree& tree) const {
    std::int64_t count = 0;
    for (const Edge& edge : edges_) {
      count += tree.levels[static_cast<std::size_t>(edge.first)] != no_level ? 1 : 0;
    }
    return count;
  }

 private:
  std::vector<Edge> edges_;
  std::vector<std::vector<std::int64_t>> neighbours_;
};

}  // namespace bfs
