// The process behind a Partner: does what it is asked, one request at a time, until the test hangs up.
#include <dirent.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include "tests/transports/gpu_memory.hpp"
#include "tests/transports/partner_request.hpp"
#include "transports/device_memory/ipc_cache.hpp"
#include "transports/ipc/push_send.hpp"
#include "transports/machine.hpp"
#include "transports/staged/staged_send.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::transports::test {
namespace {

void set(Answer& answer, const Status& status) {
  answer.code = status.code();
  answer.detail = status.detail();
  std::snprintf(answer.where, sizeof(answer.where), "%s", status.where());
}

/// Calls `step(done)` until it is done or fails. Nothing here may hang for ever.
template <class Step>
Status drive(Step step) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  bool done = false;
  while (!done) {
    if (Status state = step(done); !state.ok()) return state;
    if (std::chrono::steady_clock::now() > deadline) return {Code::system_failed, "no end within 60 s"};
    std::this_thread::yield();
  }
  return {};
}

std::int64_t count_descriptors() {
  std::int64_t count = -4;  // . and .., the folder itself, the socket
  DIR* folder = opendir("/proc/self/fd");
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

std::int64_t read_resident_bytes() {
  long long pages = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (std::fscanf(file, "%*s %lld", &pages) != 1) pages = 0;
  std::fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

class Process {
 public:
  Process() { transports::set_tuning(tuning_); }

  template <class Request>
  void answer(const Request& request, Answer& answer) {
    switch (request.what) {
      case What::allocate:
        memory_.at(request.slot) =
            std::make_unique<GpuMemory>(request.kind, request.shape.bytes, request.device);
        break;
      case What::release:
        memory_.at(request.slot).reset();
        break;
      case What::fill:
        test::fill(*memory_.at(request.slot), request.shape.layout(), request.shape.bytes, request.seed);
        break;
      case What::check:
        answer.value = first_difference(*memory_.at(request.slot), request.shape.layout(),
                                        request.payload_bytes, request.seed);
        break;
      case What::describe: {
        const char* why_not = "";
        answer.offer = transports::make_offer(place(request.slot, request.shape), &why_not);
        std::snprintf(answer.reason, sizeof(answer.reason), "%s", why_not);
        break;
      }
      case What::stage: {
        const BufferView source = place(request.slot, request.shape);
        const char* why_not = "";
        answer.offer = transports::make_offer(source, &why_not);
        set(answer, StagedSend::start(source, request.staging, answer.offer, send_));
        break;
      }
      case What::serve:
        set(answer, drive([&](bool& done) {
              bool produced = false;
              Status state = send_->advance(produced);
              done = produced && send_->drained();
              return state;
            }));
        send_.reset();
        break;
      case What::produce:
        set(answer, drive([&](bool& done) { return send_->advance(done); }));
        answer.value = send_->drained() ? 1 : 0;
        break;
      case What::drop_send:
        if (request.flag) send_->abandon();
        send_.reset();
        break;
      case What::begin_push:
        set(answer, start_push(place(request.slot, request.shape), request.offer, push_));
        break;
      case What::finish_push:
        set(answer, drive([&](bool& done) { return push_->advance(done); }));
        push_.reset();
        break;
      case What::drop_push:
        push_.reset();
        break;
      case What::advance: {
        bool finished = false;
        set(answer, pull_->advance(finished));
        answer.value = finished ? 1 : 0;
        break;
      }
      case What::begin:
        set(answer, begin(place(request.slot, request.shape), request.offer, answer));
        break;
      case What::finish:
        set(answer, drive([&](bool& done) { return pull_->advance(done); }));
        pull_.reset();
        break;
      case What::drop_pull:
        pull_.reset();
        break;
      case What::force_transport:
        transports::force_transport(request.transport);
        break;
      case What::set_tuning:
        tuning_ = request.tuning;
        transports::set_tuning(tuning_);
        break;
      case What::shut_down:
        transports::shut_down();
        break;
      case What::open_descriptors:
        answer.value = count_descriptors();
        break;
      case What::resident_bytes:
        answer.value = read_resident_bytes();
        break;
      case What::devices:
        answer.value = device_count();
        break;
      case What::simulated:
        answer.value = survey().simulated ? 1 : 0;
        break;
      case What::cached_ranges:
        answer.value = static_cast<std::int64_t>(cuda::IpcCache::of_process().size());
        break;
    }
  }

 private:
  [[nodiscard]] BufferView place(unsigned slot, const Shape& shape) const {
    return {inspect(memory_.at(slot)->data()), shape.layout()};
  }

  Status begin(const BufferView& destination, const Offer& offer, Answer& answer) {
    TransportSet excluded;
    for (;;) {
      const Choice choice = choose(Payload(offer, destination), excluded);
      std::snprintf(answer.reason, sizeof(answer.reason), "%s", choice.reason);
      answer.transport = choice.wanted;
      if (choice.transport == nullptr) return {Code::declined, "no transport"};
      answer.transport = choice.transport->kind();
      Status started = choice.transport->start(Payload(offer, destination), pull_);
      if (started.code() != Code::declined) return started;
      excluded.add(answer.transport);
    }
  }

  Tuning tuning_ = tuning_alone_on_gpus();
  std::array<std::unique_ptr<GpuMemory>, 16> memory_;
  std::unique_ptr<StagedSend> send_;
  std::unique_ptr<Pull> push_;
  std::unique_ptr<Pull> pull_;
};

}  // namespace

Tuning tuning_alone_on_gpus() {
  Tuning table = shipped_tuning();
  table.shared_gpu_from = 0;
  return table;
}

int run_partner(int socket) {
  Process process;
  for (;;) {
    Partner::Request request{};
    const ssize_t bytes = recv(socket, &request, sizeof(request), 0);
    if (bytes == 0) return 0;
    if (bytes != sizeof(request)) return 1;
    Answer answer;
    process.answer(request, answer);
    if (send(socket, &answer, sizeof(answer), MSG_NOSIGNAL) != sizeof(answer)) return 1;
  }
}

}  // namespace penstock::transports::test
