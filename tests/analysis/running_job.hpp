// A job that runs beside the test which looks at it, and ends with the test at the latest. Test only.
#pragma once

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "tests/analysis/job_test_main.hpp"

namespace penstock::analysis {

/// Files that it writes lie beside the recording.
class RunningJob {
 public:
  explicit RunningJob(std::string recording) : recording_(std::move(recording)) {}
  RunningJob(const RunningJob&) = delete;
  RunningJob& operator=(const RunningJob&) = delete;
  ~RunningJob() { end(); }

  /// The ranks record into the folder that the constructor was told.
  void start(const std::string& command) {
    launcher_ = fork();
    if (launcher_ == 0) {
      setpgid(0, 0);
      execl("/bin/sh", "sh", "-c", ("exec " + command).c_str(), nullptr);
      _exit(127);
    }
    setpgid(launcher_, launcher_);
  }

  /// Null: there is no recording yet.
  [[nodiscard]] nlohmann::json look() const {
    const std::string seen = recording_ + ".seen";
    if (exit_code_of(fmt::format("{} report --now --json {} >{} 2>{}.errors", penstock_command, recording_,
                                 seen, seen)) != 0) {
      return {};
    }
    std::ifstream in(seen);
    return nlohmann::json::parse(in);
  }

  /// Returns the launcher's exit code once it has ended, -1 if a signal ended it; none: it runs.
  [[nodiscard]] std::optional<int> exit_code_if_ended() {
    int status = 0;
    if (launcher_ <= 0 || waitpid(launcher_, &status, WNOHANG) != launcher_) {
      return {};
    }
    launcher_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  void wait_for_end() {
    waitpid(launcher_, nullptr, 0);
    launcher_ = 0;
  }

  /// Kills the ranks, as a time limit would, and waits for the launcher.
  void end() {
    if (launcher_ <= 0) {
      return;
    }
    bool was_killed = false;
    try {
      was_killed = kill_ranks();
    } catch (const nlohmann::json::exception&) {
      // what the report says is judged by the tests
    }
    if (!was_killed) {
      kill(-launcher_, SIGTERM);  // a launcher ends its ranks
    }
    wait_for_end();
  }

 private:
  /// Returns false if none is known to run.
  [[nodiscard]] bool kill_ranks() const {
    bool was_killed = false;
    const nlohmann::json seen = look();
    if (seen.is_object() && seen.at("unfinished").is_object()) {
      for (const nlohmann::json& rank : seen.at("unfinished").at("ranks")) {
        if (rank.at("state") == "running") {
          was_killed = kill(rank.at("process_id").get<pid_t>(), SIGKILL) == 0 || was_killed;
        }
      }
    }
    return was_killed;
  }

  std::string recording_;
  pid_t launcher_ = 0;
};

}  // namespace penstock::analysis
