// A team whose members are threads of a test. Test only.
#pragma once

#include <algorithm>
#include <barrier>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "analysis/pipeline/analyse.hpp"
#include "analysis/report/json/report_json.hpp"
#include "analysis/sharing/team.hpp"

namespace penstock::analysis::testing {

/// Processes that are threads.
class ThreadTeam final : public Team {
 public:
  struct Room {
    explicit Room(std::size_t members) : size(members), all_are_here(static_cast<std::ptrdiff_t>(members)) {}
    std::size_t size;
    std::barrier<> all_are_here;
    std::vector<std::byte> bytes;
    std::size_t most_bytes = 0;  ///< that any member had to take at a time
  };
  ThreadTeam(Room& room, std::size_t own) : room_(room), own_(own) {}
  [[nodiscard]] std::size_t size() const override { return room_.size; }
  [[nodiscard]] std::size_t own() const override { return own_; }
  void broadcast(std::size_t sender, std::vector<std::byte>& bytes) override {
    if (own_ == sender) {
      room_.bytes = bytes;
      room_.most_bytes = std::max(room_.most_bytes, bytes.size());
    }
    room_.all_are_here.arrive_and_wait();
    bytes = room_.bytes;
    room_.all_are_here.arrive_and_wait();
  }
  void send_to_first(std::size_t sender, std::vector<std::byte>& bytes) override {
    std::vector<std::byte> sent = bytes;
    broadcast(sender, sent);
    if (own_ == 0) {
      bytes = std::move(sent);
    }
  }

 private:
  Room& room_;
  std::size_t own_;
};

/// What each of several processes has in the end; of the first one the report.
/// `visitor`: of the first one.
inline std::vector<std::string> reports_of_team(const std::filesystem::path& path, ThreadTeam::Room& room,
                                                const AnalysisOptions& options = {},
                                                RankVisitor* visitor = nullptr) {
  const std::size_t members = room.size;
  std::vector<std::string> reports(members);
  std::vector<std::jthread> processes;
  for (std::size_t own = 0; own < members; ++own) {
    processes.emplace_back([&, own] {
      ThreadTeam team(room, own);
      try {
        const std::optional<Report> report =
            analyse_together(path, options, team, own == 0 ? visitor : nullptr);
        reports[own] = report ? to_json(*report) : "none";
      } catch (const CommonTraceError& error) {
        reports[own] = error.what();
      }
    });
  }
  processes.clear();
  return reports;
}

inline std::vector<std::string> reports_of_team(const std::filesystem::path& path, std::size_t members,
                                                const AnalysisOptions& options = {}) {
  ThreadTeam::Room room(members);
  return reports_of_team(path, room, options);
}

}  // namespace penstock::analysis::testing
