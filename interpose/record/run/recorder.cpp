#include "interpose/record/recorder.hpp"
#include "interpose/record/file/earlier_recordings.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "interpose/record/call_paths/call_paths.hpp"
#include "interpose/record/call_paths/modules.hpp"
#include "interpose/record/file/lane.hpp"
#include "interpose/record/file/recording.hpp"
#include "interpose/record/file/strings.hpp"
#include "interpose/record/file/window.hpp"
#include "interpose/record/gpu/cuda_presence.hpp"
#include "interpose/record/gpu/cupti_capture.hpp"
#include "interpose/record/gpu/gpu_power.hpp"
#include "interpose/record/run/allocators.hpp"
#include "interpose/record/run/closing_line.hpp"
#include "interpose/record/run/network_bytes.hpp"
#include "interpose/record/run/nvtx_capture.hpp"
#include "interpose/record/run/own_cost.hpp"
#include "interpose/record/run/placement.hpp"
#include "interpose/record/run/run_facts.hpp"

namespace penstock::record {

namespace {

std::atomic<bool> has_begun{false};
std::atomic<bool> has_ended{false};
std::atomic<bool> cuda_was_seen{false};
bool collects_gpu_activity = false;  ///< written before switch_on()
/// Never destroyed, as a program may end in any order.
WindowRequest* requested_window = nullptr;
bool is_first_to_record = true;
std::string* line_at_end = nullptr;  ///< of the rank that is the first to record
std::uint64_t event_cost_ps = 0;

/// Adds the time of a scope to the cost of starting the recording.
class StartCost {
 public:
  ~StartCost() {
    if (recording().file().is_open()) {
      RecordingFile::add(recording().file().header().start_cost_ns, now_ns() - begin_ns_);
    }
  }
  StartCost() = default;
  StartCost(const StartCost&) = delete;
  StartCost& operator=(const StartCost&) = delete;

 private:
  std::uint64_t begin_ns_ = now_ns();
};

template <std::size_t size>
void copy_text(char (&to)[size], std::string_view text) noexcept {
  text.copy(to, size - 1);
}

/// Copies the command line, arguments separated by blanks.
void copy_command_line(char* to, std::size_t size) noexcept {
  std::FILE* file = std::fopen("/proc/self/cmdline", "re");
  if (file == nullptr) return;
  std::size_t used = std::fread(to, 1, size - 1, file);
  std::fclose(file);
  while (used > 0 && to[used - 1] == '\0') --used;
  std::replace(to, to + used, '\0', ' ');
}

std::uint64_t realtime_offset_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const auto realtime_ns =
      static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
  return realtime_ns - now_ns();
}

void fill_header(trace::FileHeader& header, const Identity& identity) noexcept {
  header.version = trace::format_version;
  header.header_bytes = trace::file_header_bytes;
  header.record_bytes = trace::record_bytes;
  header.block_bytes = trace::block_bytes;
  header.world_rank = identity.world_rank;
  header.world_size = identity.world_size;
  header.process_id = getpid();
  header.job_id_low = identity.job_id_low;
  header.job_id_high = identity.job_id_high;
  header.begin_ns = now_ns();
  header.realtime_offset_ns = realtime_offset_ns();
  header.mpi_family = identity.mpi_family;
  header.clock_error_ns = trace::clock_error_unknown;
  header.missing_from_ns = trace::nothing_missing;
  header.open_call_slots = trace::most_open_calls;
  copy_text(header.mpi_version, identity.mpi_version);
  gethostname(header.host_name, sizeof header.host_name - 1);
  copy_command_line(header.program, sizeof header.program);
  std::atomic_ref<std::uint64_t>(header.magic).store(trace::file_magic, std::memory_order_release);
}

bool open_file(const Identity& identity) {
  const std::filesystem::path directory(identity.directory);
  const std::filesystem::path path =
      directory / ("rank-" + std::to_string(identity.world_rank) + ".penstock");
  std::error_code made;
  std::filesystem::create_directories(directory, made);
  if (made) {
    notice("recording is off: cannot write " + path.string() + ": " + made.message());
    return false;
  }
  const Looks looks = identity.is_first_to_record ? Looks::always : Looks::if_in_the_way;
  if (const std::filesystem::path earlier = set_earlier_recordings_aside(directory, path, looks);
      !earlier.empty())
    notice("the recording that was in " + directory.string() + " is in " + earlier.string() + " now");
  const int error = recording().file().create(path.c_str(), identity.limit_bytes);
  if (error == 0) return true;
  notice("recording is off: cannot write " + path.string() + ": " +
         (error == EFBIG ? "PENSTOCK_TRACE_LIMIT or the file size limit is less than one block"
                         : std::strerror(error)));
  return false;
}

/// Files and paths are read on one rank alone: a thousand ranks that search for a work tree would burden the
/// file system.
void write_run_facts() noexcept try {
  write_fact("commit", commit_of_program());
  write_fact("batch_job", batch_job());
  if (!gpu_is_simulated) write_fact("driver", driver_version());
} catch (...) {
  notice("commit, job and driver are not in the recording: out of memory");
}

/// What the network had carried at the begin. Never destroyed, as a program may end in any order.
std::vector<InterfaceBytes>* network_at_begin = nullptr;

void note_network_bytes() noexcept try {
  network_at_begin = new std::vector<InterfaceBytes>(read_network_bytes());
} catch (...) {
  network_at_begin = nullptr;  // the report then says nothing of it
}

/// Each rank writes them, since none knows which is the first of its host.
void write_network_bytes() noexcept try {
  if (network_at_begin == nullptr) return;
  for (const InterfaceBytes& each : bytes_since(*network_at_begin, read_network_bytes()))
    write_fact("network", fact_of(each));
} catch (...) {
  notice("the network's bytes are not in the recording: out of memory");
}

/// Names, each thread and the GPU take a block each; where the newest records are kept, the table of what was
/// lost, and a block more for whoever has filled one.
void say_if_limit_is_small(const Identity& identity) {
  const std::uint64_t least = recording().retired().is_open() ? 6 : 3;
  if (recording().file().most_blocks() >= least || !identity.is_first_to_record) return;
  notice("PENSTOCK_TRACE_LIMIT is too small: names, each thread and the GPU need a block of 256 KiB each" +
         std::string(least > 3 ? ", and three more are needed to overwrite records" : "") + ", so at least " +
         std::to_string((trace::file_header_bytes + least * trace::block_bytes + 1023) / 1024) +
         "K for a rank with one thread; without a block, nothing of them is recorded");
}

/// Returns false if there is neither memory nor space for it, and nothing can be recorded.
bool open_losses(const Identity& identity) noexcept {
  const bool has_window = identity.window.by != WindowRequest::By::nothing;
  recording().add_features((identity.keeps_last ? trace::feature::keeps_last : 0u) |
                           (has_window ? trace::feature::window : 0u) |
                           (identity.recorded_by_all() ? 0u : trace::feature::some_ranks));
  if (!identity.keeps_last && !has_window) return true;
  if (recording().retired().open(identity.keeps_last, has_window)) return true;
  notice("recording is off: no memory, or no space, to overwrite records");
  return false;
}

/// Once names can be written.
void request_window(const WindowRequest& request) noexcept {
  if (request.by == WindowRequest::By::nothing) return;
  const std::uint32_t range = request.by == WindowRequest::By::range ? intern(request.range) : 0;
  range_entries().reserve(range);
  window().request(request, range);
}

/// Cores are those that the launcher has given: the program may choose others later.
void write_cores() noexcept try {
  if (const std::string cores = allowed_cores(); !cores.empty()) write_fact("cores", cores);
} catch (...) {
  notice("the rank's cores are not in the recording: out of memory");
}

/// At the end, as only then it is known which the program has used.
void write_gpus() noexcept try {
  const std::vector<std::string> gpus = gpus_in_use();
  for (const std::string& each : gpus) write_fact("gpu", each);
  if (!gpus.empty()) write_fact("visible_gpus", std::to_string(visible_cuda_devices()));
  write_fact("allocators", loaded_allocators());
} catch (...) {
  notice("the rank's GPUs are not in the recording: out of memory");
}

/// On one rank alone, as all have the same to say.
void say_if_window_never_began() noexcept try {
  if (!window().is_awaited() || !is_first_to_record) return;
  const WindowRequest& request = *requested_window;
  notice("the window to be recorded never began, so nothing is recorded: " +
         (request.by == WindowRequest::By::profiler
              ? std::string("cuProfilerStart was not called")
              : "NVTX range \"" + request.range + "\" was not entered" +
                    (request.first == 1 ? std::string() : " " + std::to_string(request.first) + " times")));
} catch (...) {
}

/// A forked child must write nothing, as the recording is the parent's. CUPTI even hangs there.
void switch_off_in_child() noexcept {
  recording().switch_off();
}

/// Called at exit(). A process that reaches it without MPI_Finalize was not killed by a signal.
void note_exit() noexcept {
  if (has_ended.load()) return;
  RecordingFile& file = recording().file();
  if (!file.is_open() || !file.belongs_to_this_process()) return;
  file.note_life();
  file.header().ended_by = trace::Ending::exit;
}

void note_gpu_use() noexcept {
  recording().add_features(trace::feature::gpu_used | (gpu_is_simulated ? trace::feature::simulated : 0u));
  if (!collects_gpu_activity) return;
  start_cupti_capture();
  start_gpu_power();
}

/// Returns true once.
bool may_end() noexcept {
  if (!has_begun.load() || has_ended.exchange(true)) return false;
  const RecordingFile& file = recording().file();
  return file.is_open() && file.belongs_to_this_process();
}

void close_header(std::uint64_t end_ns, trace::Ending ending) noexcept {
  trace::FileHeader& header = recording().file().header();
  recording().file().note_life();
  header.ended_by = ending;
  header.own_cost_ns = lanes().written_by_application() * event_cost_ps / 1000 + cupti_cost_ns();
  header.end_ns = end_ns;
}

}  // namespace

bool begin(const Identity& identity) noexcept try {
  if (has_begun.exchange(true)) return is_on();
  const StartCost cost;
  if (!open_file(identity)) return false;
  fill_header(recording().file().header(), identity);
  if (!open_losses(identity)) return false;
  say_if_limit_is_small(identity);
  start_call_paths(identity.call_path_frames, identity.is_first_to_record);
  collects_gpu_activity = identity.with_gpu_activity;
  pthread_atfork(nullptr, nullptr, switch_off_in_child);
  static_cast<void>(std::atexit(note_exit));
  recording().blocks().start();
  recording().switch_on();
  event_cost_ps = measure_event_cost_ps();
  requested_window = new WindowRequest(identity.window);
  is_first_to_record = identity.is_first_to_record;
  if (is_first_to_record) line_at_end = new std::string(closing_line(identity));
  request_window(*requested_window);
  write_kept_notices();
  write_new_modules();
  if (identity.is_first_to_record) write_run_facts();
  write_cores();
  note_network_bytes();
  if (collects_gpu_activity) {
    start_nvtx_capture();
    // Starts before CUDA's first use, if possible: CUPTI does not see kernels that ran before.
    if (cuda_is_loaded()) start_cupti_capture();
  }
  if (cuda_is_initialised()) cuda_was_seen.store(true);
  if (cuda_was_seen.load()) note_gpu_use();
  return is_on();
} catch (...) {
  recording().switch_off();
  notice("recording is off: out of memory");
  return false;
}

void end() noexcept {
  if (!may_end()) return;
  const std::uint64_t end_ns = now_ns();
  stop_cupti_capture();
  stop_gpu_power();
  close_open_ranges(end_ns);
  say_if_window_never_began();
  write_new_modules();
  write_network_bytes();
  write_gpus();
  recording().switch_off();
  recording().blocks().stop();
  trace::FileHeader& header = recording().file().header();
  copy_device_name(header.device_name, sizeof header.device_name);
  header.finish_cost_ns = now_ns() - end_ns;
  close_header(end_ns, trace::Ending::finalize);
  if (line_at_end != nullptr && !window().is_awaited()) say(*line_at_end);
}

void end_abruptly(int abort_code) noexcept {
  if (!may_end()) return;
  recording().file().header().abort_code = abort_code;
  close_header(now_ns(), trace::Ending::abort);
}

void gpu_seen() noexcept {
  if (cuda_was_seen.load(std::memory_order_relaxed) || cuda_was_seen.exchange(true)) return;
  if (!is_on()) return;
  const StartCost cost;
  note_gpu_use();
}

std::uint32_t intern(std::string_view text) noexcept {
  return is_on() ? strings().id_of(text) : trace::no_string;
}

void write_to_stay(const trace::Communicator& communicator) noexcept {
  if (is_on()) static_cast<void>(recording().write_rare(&communicator, 1));
}

void write_bytes(const void* record) noexcept {
  if (!detail::takes_records.load(std::memory_order_relaxed)) return;
  Lane* lane = lane_of_this_thread();
  if (lane == nullptr || lane->append(record) == nullptr) [[unlikely]] {
    recording().drop(record);
  }
}

}  // namespace penstock::record

/// Called by cuInit() if CUDA_INJECTION64_PATH names this library. The GPU collector therefore starts before
/// the first kernel, even if CUDA is initialised after MPI_Init. Nonzero: success.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  penstock::record::gpu_seen();
  return 1;
}
