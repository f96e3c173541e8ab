// penstock tune: measures the transports of this machine and stores the table for later jobs. Replaces the
// old file only when the new one is complete.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/cli/commands.hpp"
#include "analysis/cli/options/whole_number.hpp"
#include "analysis/cli/progress_bar.hpp"
#include "analysis/cli/tuning_text.hpp"
#include "transports/host/retried.hpp"
#include "transports/tune/pair.hpp"
#include "transports/tune/tune.hpp"
#include "transports/tune/worker.hpp"

namespace penstock::cli {
namespace {

namespace tune = transports::tune;

/// Blocks Ctrl-C and similar signals during its lifetime.
class SignalsWait {
 public:
  SignalsWait() {
    sigset_t ends{};
    sigemptyset(&ends);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ends, signal);
    ::sigprocmask(SIG_BLOCK, &ends, &before_);
  }
  ~SignalsWait() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
  SignalsWait(const SignalsWait&) = delete;
  SignalsWait& operator=(const SignalsWait&) = delete;

 private:
  sigset_t before_{};
};

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = retried([&] { return ::write(file, text.data(), text.size()); });
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// Returns why the file cannot be written; empty if it probably can. Called before minutes are spent on
/// measuring. Creates the folder if necessary.
std::string why_not_writable(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return folder.string() + ": " + error.message();
  return ::access(folder.c_str(), W_OK) == 0 ? "" : folder.string() + ": " + std::strerror(errno);
}

/// Replaces the file. Returns an empty string on success, else the error; the old file then remains.
std::string replace_file(const std::filesystem::path& path, std::string_view text) {
  std::string temporary = path.string() + ".XXXXXX";
  const SignalsWait wait;
  const int file = ::mkstemp(temporary.data());
  if (file < 0) return std::strerror(errno);
  constexpr mode_t for_all_to_read = 0644;  // ranks of other users, too
  const bool written = write_all(file, text) && ::fchmod(file, for_all_to_read) == 0 &&
                       retried([&] { return ::fsync(file); }) == 0;
  const bool placed = written && ::rename(temporary.c_str(), path.c_str()) == 0;
  const int error = errno;
  ::close(file);
  if (placed) return "";
  ::unlink(temporary.c_str());
  return std::strerror(error);
}

struct TuneOptions {
  std::string output;
  bool quick = false;
  int limit_s = 110;
  std::vector<int> worker;  ///< WorkerArguments, as pair.cpp passes them
};

int run_tune(const TuneOptions& options) {
  std::string path = options.output.empty() ? transports::default_tuning_path() : options.output;
  if (path.empty()) {
    fmt::print(stderr, "penstock: neither XDG_CONFIG_HOME nor HOME is set: give --output FILE\n");
    return 1;
  }
  transports::TuningFile file;
  std::string why_not = why_not_writable(path);
  if (why_not.empty()) {
    ProgressBar bar;
    const tune::Listener listener{
        [&](std::size_t done, std::size_t all, const std::string& what) { bar.show(done, all, what); },
        [&](const std::string& line) { bar.say(line); }};
    why_not = tune::tune({options.quick, std::chrono::seconds(options.limit_s)}, listener, file);
  }
  if (why_not.empty()) {
    if (const std::string error = replace_file(path, transports::text_of(file)); !error.empty())
      why_not = path + ": " + error;
  }
  if (!why_not.empty()) {
    fmt::print(stderr, "penstock: {}\n", why_not);
    return 1;
  }
  show_tuning({.table = file.table(), .file = file, .path = path}, transports::survey());
  if (path != transports::default_tuning_path()) fmt::print("Jobs use it with PENSTOCK_TUNING={}\n", path);
  return 0;
}

}  // namespace

void add_tune_command(CLI::App& application, int& exit_code) {
  auto options = std::make_shared<TuneOptions>();
  CLI::App* const command = application.add_subcommand(
      "tune", "Measure this machine's transports (less than two minutes) and keep the table for later jobs");
  command
      ->add_option("-o,--output", options->output,
                   "File of the table, instead of ~/.config/penstock/tuning-HOST, where every job looks")
      ->type_name("FILE");
  command->add_flag("--quick", options->quick, "Payloads up to 16 MiB only, and fewer of them");
  command
      ->add_option("--time-limit", options->limit_s, "Seconds; what is not measured by then stays as shipped")
      ->check(whole_number(1, 3600))
      ->capture_default_str();
  command->add_option(tune::worker_option, options->worker)->delimiter(',')->expected(4)->group("");
  command->callback([options, &exit_code] {
    if (const std::vector<int>& worker = options->worker; !worker.empty()) {
      exit_code = tune::run_worker({worker[0], worker[1], worker[2], worker[3] != 0});
    } else {
      exit_code = run_tune(*options);
    }
  });
}

}  // namespace penstock::cli
