// A job that runs beside the test which looks at it, and ends with the test at the latest. Test only.
#pragma once

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
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
      // A launcher that is killed leaves its files.
      setenv("TMPDIR", std::filesystem::path(recording_).parent_path().c_str(), 1);
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
  /// Returns once no rank runs any more. The launcher may still be there: Open MPI's now and then waits for
  /// ever for a lock of its own in PMIx_server_finalize, when its ranks have died.
  void wait_for_ranks() {
    while (!exit_code_if_ended() && !ranks_have_ended(look())) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }

  /// Kills the ranks, as a time limit would, and the launcher.
  void end() {
    if (launcher_ <= 0) {
      return;
    }
    try {
      while (kill_ranks()) {
      }
    } catch (const nlohmann::json::exception&) {
      // what the report says is judged by the tests
    }
    kill(-launcher_, SIGKILL);
    waitpid(launcher_, nullptr, 0);
    launcher_ = 0;
  }

 private:
  [[nodiscard]] static bool ranks_have_ended(const nlohmann::json& seen) {
    return seen.is_object() && seen.at("unfinished").is_object() &&
           !seen.at("unfinished").at("is_running").get<bool>();
  }
  /// Returns false if none is known to run any more.
  [[nodiscard]] bool kill_ranks() const {
    const nlohmann::json seen = look();
    if (!seen.is_object() || !seen.at("unfinished").is_object()) {
      return false;
    }
    bool runs = false;
    for (const nlohmann::json& rank : seen.at("unfinished").at("ranks")) {
      if (rank.at("state") == "running") {
        runs = true;
        kill(rank.at("process_id").get<pid_t>(), SIGKILL);
      }
    }
    return runs;
  }

  std::string recording_;
  pid_t launcher_ = 0;
};

}  // namespace penstock::analysis
