// The processes that make one report together, as the analysis sees them. Knows neither MPI nor what is sent.
#pragma once

#include <cstddef>
#include <vector>

namespace penstock::analysis {

/// All members call the same functions in the same order. Thread: one, the same one.
class Team {
 public:
  Team() = default;
  virtual ~Team() = default;
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  [[nodiscard]] virtual std::size_t size() const = 0;
  /// Below size(); the first one, 0, has the report in the end.
  [[nodiscard]] virtual std::size_t own() const = 0;
  /// What `sender` has, everywhere.
  virtual void broadcast(std::size_t sender, std::vector<std::byte>& bytes) = 0;
  /// What `sender` has, at the first one; elsewhere nothing changes.
  virtual void send_to_first(std::size_t sender, std::vector<std::byte>& bytes) = 0;
};

}  // namespace penstock::analysis
