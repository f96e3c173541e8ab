// A few threads that help with copies of host memory, since one core's memcpy is slower than PCIe. The caller
// cuts its work into parts and does them together with the threads that wake up in time. Knows neither CUDA
// nor what is copied.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace penstock::transports {

/// Owns its threads. They start with the first work, sleep when there is none, never outnumber the cores that
/// the caller may use (less its own), and do not exist in a forked child. Thread: any; while one caller is
/// helped, others work alone.
class CopyWorkers {
 public:
  /// Two H200, pageable memory to a GPU through a ring, 256 MiB in 16 payloads: 18 to 23 GB/s with 4 threads,
  /// 22 to 31 with 7, 21 to 29 with 10.
  static constexpr unsigned most_workers = 7;

  CopyWorkers() = default;
  ~CopyWorkers() { stop(); }
  CopyWorkers(const CopyWorkers&) = delete;
  CopyWorkers& operator=(const CopyWorkers&) = delete;
  [[nodiscard]] static CopyWorkers& of_process();

  /// Calls `part(n)` once for each n below `parts`, from several threads, and returns when all are done.
  /// `part` must not throw. Cost beside the work: some µs to wake the threads, if they sleep.
  template <class Part>
  void share(std::size_t parts, const Part& part) noexcept {
    share({parts, &part, [](const void* work, std::size_t n) { (*static_cast<const Part*>(work))(n); }});
  }

  /// Ends the threads for good: later callers work alone.
  void stop() noexcept;
  [[nodiscard]] std::size_t threads();

 private:
  struct Job {
    std::size_t parts = 0;
    const void* work = nullptr;
    void (*run)(const void* work, std::size_t part) = nullptr;
  };

  void share(const Job& job) noexcept;
  void work_alone(const Job& job) const noexcept;
  void start_threads() noexcept;
  void help() noexcept;
  [[nodiscard]] std::uint32_t wait_for_call(std::uint32_t heard) const noexcept;
  void take_parts() noexcept;

  std::mutex caller_;                     ///< held by the caller that is helped
  std::atomic<std::int64_t> process_{0};  ///< that the threads live in; 0 until they have been started
  std::vector<std::thread> threads_;

  Job job_;  ///< changes only while it is not open and no thread is inside
  std::atomic<bool> open_{false};
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint32_t> inside_{0};  ///< threads that may be reading job_
  std::atomic<std::uint32_t> calls_{0};   ///< what sleeping threads wait on
  alignas(64) std::atomic<std::size_t> next_{0};
};

}  // namespace penstock::transports
