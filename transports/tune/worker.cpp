#include "transports/tune/worker.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <deque>
#include <optional>
#include <vector>

#include "transports/cuda/driver.hpp"
#include "transports/host/guarded.hpp"
#include "transports/host/host_mapping.hpp"
#include "transports/host/processor_pause.hpp"
#include "transports/host/retried.hpp"
#include "transports/machine.hpp"
#include "transports/tune/memory.hpp"
#include "transports/tune/receiving.hpp"
#include "transports/tune/sending.hpp"

namespace penstock::transports::tune {
namespace {

using Clock = std::chrono::steady_clock;

/// Time limit for one payload, or for those that travel together.
constexpr std::chrono::seconds longest_transfer{5};
constexpr Status too_slow{Code::system_failed, "no end within 5 s"};

/// Rounds of each variant without timing: mappings are opened, memory is pinned, threads start.
constexpr unsigned warm_up_rounds = 2;

Outcome outcome_of(const Status& status) noexcept {
  Outcome outcome{};
  outcome.ok = status.ok();
  outcome.detail = status.detail();
  std::snprintf(outcome.what, sizeof outcome.what, "%s", status.where());
  return outcome;
}

/// Calls `step(done)` until it is done or fails: spins a little, then shares the core.
template <class Step>
Status drive(Step step) {
  const auto deadline = Clock::now() + longest_transfer;
  bool done = false;
  for (unsigned round = 0; !done; ++round) {
    if (Status state = step(done); !state.ok()) return state;
    if (round < 1000) {
      processor_pause();
      continue;
    }
    if (Clock::now() > deadline) return too_slow;
    ::sched_yield();
  }
  return {};
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Makes the device's context current on the only thread, to the end.
Status use_device(int device) noexcept {
  const cuda::Driver* driver = cuda::load_driver();
  if (driver == nullptr) return cuda::no_driver();
  CUcontext context = nullptr;
  if (Status done = cuda::check(driver->cuInit(0), "cuInit"); !done.ok()) return done;
  if (Status done =
          cuda::check(driver->cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
      !done.ok()) {
    return done;
  }
  return cuda::check(driver->cuCtxPushCurrent(context), "cuCtxPushCurrent");
}

class Worker {
 public:
  Worker(int socket, Exchange& exchange) noexcept : socket_(socket), exchange_(exchange) {}

  /// Reports its memory, serves the receiver, and reports how that ended. Returns false if the parent is
  /// gone.
  [[nodiscard]] bool send(const Task& task) {
    Status status = memory_.allocate(task.from, task.bytes * task.messages);
    if (!answer(outcome_of(status))) return false;
    if (!status.ok()) return true;
    status = serve(task);
    if (!status.ok()) exchange_.sender_failed.store(1);
    return answer(outcome_of(status));
  }

  [[nodiscard]] bool receive(const Task& task) {
    Outcome outcome{};
    Status status = memory_.allocate(task.to, task.bytes * task.messages);
    if (status.ok()) status = measure(task, outcome);
    exchange_.is_over.store(1);
    return answer(status.ok() ? outcome : outcome_of(status));
  }

 private:
  [[nodiscard]] bool answer(const Outcome& outcome) const noexcept {
    return retried([&] { return ::send(socket_, &outcome, sizeof outcome, MSG_NOSIGNAL); }) == sizeof outcome;
  }

  [[nodiscard]] Status serve(const Task& task) {
    std::vector<BufferView> sources;
    for (unsigned each = 0; each < task.messages; ++each)
      sources.push_back(memory_.view(each * task.bytes, task.bytes));
    std::deque<Sending> sendings;
    for (unsigned each = 0; each < task.messages; ++each)
      sendings.emplace_back(exchange_.slots[each], sources[each]);
    for (unsigned round = 0; exchange_.is_over.load(std::memory_order_acquire) == 0; ++round) {
      set_tuning(task.tables[exchange_.variant.load(std::memory_order_acquire) % most_variants]);
      for (Sending& each : sendings) {
        if (Status stepped = each.step(); !stepped.ok()) return stepped;
      }
      if (round % 1000 == 999) ::sched_yield();
    }
    return {};
  }

  [[nodiscard]] Status measure(const Task& task, Outcome& outcome) {
    std::deque<Receiving> receivings;
    for (unsigned each = 0; each < task.messages; ++each)
      receivings.emplace_back(exchange_.slots[each], memory_.view(each * task.bytes, task.bytes));
    std::array<std::vector<double>, most_variants> times_ns;
    double spent_ns = 0;
    for (unsigned round = 0; round < warm_up_rounds + task.most_rounds; ++round) {
      if (round >= warm_up_rounds + task.least_rounds && spent_ns > static_cast<double>(task.enough_ns))
        break;
      for (unsigned variant = 0; variant < task.variants; ++variant) {
        exchange_.variant.store(variant, std::memory_order_release);
        set_tuning(task.tables[variant]);
        double ns = 0;
        if (Status moved = move(receivings, ns); !moved.ok()) return moved;
        if (round < warm_up_rounds) continue;
        times_ns[variant].push_back(ns);
        spent_ns += ns;
      }
    }
    for (unsigned variant = 0; variant < task.variants; ++variant)
      outcome.median_ns[variant] = median(std::move(times_ns[variant]));
    outcome.ok = true;
    outcome.transport = receivings.back().transport();
    std::snprintf(outcome.what, sizeof outcome.what, "%s", receivings.back().reason());
    return {};
  }

  /// Moves all payloads once.
  [[nodiscard]] Status move(std::deque<Receiving>& receivings, double& ns) {
    std::vector<char> arrived(receivings.size(), 0);
    const auto begin = Clock::now();
    for (Receiving& each : receivings) each.begin();
    Status moved = drive([&](bool& done) -> Status {
      if (exchange_.sender_failed.load() != 0) return {Code::peer_lost, "the sender"};
      done = true;
      for (std::size_t each = 0; each < receivings.size(); ++each) {
        if (arrived[each] != 0) continue;
        bool finished = false;
        if (Status stepped = receivings[each].step(finished); !stepped.ok()) return stepped;
        arrived[each] = finished ? 1 : 0;
        done = done && finished;
      }
      return {};
    });
    ns = std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
    return moved.ok() ? await_sender(receivings.size()) : moved;
  }

  /// Waits until the sender has finished with the payloads taken.
  [[nodiscard]] Status await_sender(std::size_t messages) {
    return drive([&](bool& done) -> Status {
      if (exchange_.sender_failed.load() != 0) return {Code::peer_lost, "the sender"};
      done = std::all_of(exchange_.slots, exchange_.slots + messages, [](const Slot& slot) {
        return slot.state.load(std::memory_order_acquire) == State::idle;
      });
      return {};
    });
  }

  int socket_;
  Exchange& exchange_;
  Memory memory_;
};

Status work(const WorkerArguments& arguments) {
  const HostMapping mapping(sizeof(Exchange), arguments.exchange);
  if (!mapping) return {Code::system_failed, "mmap"};
  if (Status used = use_device(arguments.device); !used.ok()) {
    const Outcome outcome = outcome_of(used);
    retried([&] { return ::send(arguments.socket, &outcome, sizeof outcome, MSG_NOSIGNAL); });
    return used;
  }
  {
    Worker worker(arguments.socket, *reinterpret_cast<Exchange*>(mapping.address()));
    Task task{};
    while (retried([&] { return ::recv(arguments.socket, &task, sizeof task, 0); }) == sizeof task) {
      if (!(arguments.receives ? worker.receive(task) : worker.send(task))) break;
    }
    set_tuning(shipped_tuning());
  }
  shut_down();
  return {};
}

}  // namespace

int run_worker(const WorkerArguments& arguments) noexcept {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  return guarded([&] { return work(arguments); }).ok() ? 0 : 1;
}

}  // namespace penstock::transports::tune
