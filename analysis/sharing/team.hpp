// The processes that make one report together, as the analysis sees them. Must know neither MPI nor what is
// sent.
#pragma once

#include <cstddef>
#include <vector>

namespace penstock::analysis {

/// All members call the same functions in the same order. Thread: always the same one.
class Team {
 public:
  Team() = default;
  virtual ~Team() = default;
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  [[nodiscard]] virtual std::size_t size() const = 0;
  /// Returns this member's number, below size(). Member 0, the first, ends up with the report.
  [[nodiscard]] virtual std::size_t own() const = 0;
  /// Copies the bytes of `sender` to all members.
  virtual void broadcast(std::size_t sender, std::vector<std::byte>& bytes) = 0;
  /// Copies the bytes of `sender` to the first member; other members' bytes stay as they are.
  virtual void send_to_first(std::size_t sender, std::vector<std::byte>& bytes) = 0;
};

}  // namespace penstock::analysis
