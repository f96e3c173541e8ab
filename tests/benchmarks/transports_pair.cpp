#include "tests/benchmarks/transports_pair.hpp"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "transports/staged/staged_send.hpp"
#include "transports/transport.hpp"

namespace penstock::benchmarks {

using namespace penstock::transports;

void require(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  std::fprintf(stderr, "%s: CUDA error %d\n", call, static_cast<int>(result));
  std::exit(1);
}

void require(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s: code %d, %d\n", status.where(), static_cast<int>(status.code()), status.detail());
  std::exit(1);
}

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "%s: not possible\n", what);
  std::exit(1);
}

DeviceMemory::DeviceMemory(int device, std::size_t bytes) {
  REQUIRE_CUDA(cuDevicePrimaryCtxRetain(&context_, device));
  make_current();
  REQUIRE_CUDA(cuMemAlloc(&address_, bytes));
}

DeviceMemory::~DeviceMemory() {
  cuMemFree(address_);
}

void DeviceMemory::make_current() const {
  REQUIRE_CUDA(cuCtxSetCurrent(context_));
}

BufferView DeviceMemory::place(std::size_t bytes) const {
  return {inspect(reinterpret_cast<const void*>(address_)), Layout::contiguous(bytes)};
}

const DeviceMemory& receiver_memory() {
  static const DeviceMemory memory = [] {
    REQUIRE_CUDA(cuInit(0));
    int devices = 0;
    REQUIRE_CUDA(cuDeviceGetCount(&devices));
    return DeviceMemory(devices - 1, largest_bytes);
  }();
  return memory;
}

HostMemory::HostMemory(std::size_t bytes, bool pinned) : memory_(bytes, '\1'), pinned_(pinned) {
  receiver_memory().make_current();
  if (pinned_) REQUIRE_CUDA(cuMemHostRegister(memory_.data(), bytes, CU_MEMHOSTREGISTER_PORTABLE));
}

HostMemory::~HostMemory() {
  if (pinned_) cuMemHostUnregister(memory_.data());
}

namespace {

/// Of a sender in this process.
const DeviceMemory& own_sender_memory() {
  static const DeviceMemory memory = [] {
    REQUIRE_CUDA(cuInit(0));
    return DeviceMemory(0, largest_bytes);
  }();
  return memory;
}

/// What the receiver asks of the other process; the answer is an Offer.
struct Request {
  SenderIs sender;
  std::size_t bytes;
};

/// The other process. Owns it and the socket.
class Sender {
 public:
  Sender() {
    int sockets[2];
    require(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0, "socketpair");
    socket_ = sockets[0];
    process_ = fork();
    if (process_ == 0) {
      const std::string socket = std::to_string(dup(sockets[1]));
      execl("/proc/self/exe", "sender", "--sender", socket.c_str(), nullptr);
      _exit(127);
    }
    close(sockets[1]);
  }
  ~Sender() {
    close(socket_);
    waitpid(process_, nullptr, 0);
  }
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  [[nodiscard]] Offer ask(const Request& request) const {
    Offer offer{};
    require(send(socket_, &request, sizeof(request), 0) == sizeof(request), "asking the sender");
    require(recv(socket_, &offer, sizeof(offer), 0) == sizeof(offer), "the sender's answer");
    return offer;
  }

 private:
  int socket_ = -1;
  pid_t process_ = -1;
};

}  // namespace

Offer offer_from(SenderIs sender, std::size_t bytes) {
  if (sender == SenderIs::this_process) {
    const char* why_not = "";
    return make_offer(own_sender_memory().place(bytes), &why_not);
  }
  static const Sender other;
  return other.ask({sender, bytes});
}

int run_sender(int socket) {
  REQUIRE_CUDA(cuInit(0));
  const DeviceMemory memory(0, largest_bytes);
  Request request{};
  while (recv(socket, &request, sizeof(request), 0) == sizeof(request)) {
    const BufferView source = memory.place(request.bytes);
    const char* why_not = "";
    Offer offer = make_offer(source, &why_not);
    std::unique_ptr<StagedSend> send;
    if (has_ring(request.sender)) {
      const bool on_host = request.sender == SenderIs::other_process_with_host_ring;
      require(StagedSend::start(source, on_host ? Staging::host_ring : Staging::device_ring, offer, send));
    }
    require(::send(socket, &offer, sizeof(offer), 0) == sizeof(offer), "answering the receiver");
    for (bool produced = false; send != nullptr && !(produced && send->drained());)
      require(send->advance(produced));
  }
  return 0;
}

MappedSender::MappedSender() {
  receiver_memory().make_current();
  const Offer offer = offer_from(SenderIs::other_process, largest_bytes);
  require(offer.ipc_exported != 0, "export of the sender's memory");
  CUipcMemHandle handle;
  std::memcpy(&handle, offer.ipc_handle, sizeof(handle));
  REQUIRE_CUDA(cuIpcOpenMemHandle(&address_, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
}

MappedSender::~MappedSender() {
  cuIpcCloseMemHandle(address_);
}

RawCopies::RawCopies() {
  receiver_memory().make_current();
  REQUIRE_CUDA(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
}

RawCopies::~RawCopies() {
  cuStreamDestroy(stream_);
}

void RawCopies::run(CUdeviceptr target, CUdeviceptr source, std::size_t bytes, std::size_t count) const {
  for (std::size_t i = 0; i < count; ++i) {
    REQUIRE_CUDA(cuMemcpyAsync(target + i * bytes, source + i * bytes, bytes, stream_));
  }
  while (cuStreamQuery(stream_) == CUDA_ERROR_NOT_READY) {
  }
}

}  // namespace penstock::benchmarks
