#include "tests/analysis/nccl/told_nccl.hpp"

#include <dlfcn.h>

#include <cstdlib>

namespace penstock::nccl_steps {

namespace {

namespace nvtx = record::nvtx;
using test::FakeProgram;

// Layouts and numbers are those of NCCL's nvtx_payload_schemas.h and nvtx.h.

struct Init {
  std::uint64_t communicator;
  int ranks;
  int rank;
  int device;
};
struct AllReduce {
  std::uint64_t communicator;
  std::size_t bytes;
  int operation;
};
struct Message {
  std::uint64_t communicator;
  std::size_t bytes;
  int peer;
};

constexpr std::uint64_t id_of_init = nvtx::first_static_schema + 0;
constexpr std::uint64_t id_of_all_reduce = nvtx::first_static_schema + 5;
constexpr std::uint64_t id_of_send = nvtx::first_static_schema + 9;
constexpr std::uint64_t id_of_operation = nvtx::first_static_schema + 24;

constexpr nvtx::PayloadSchemaEntry entry(std::uint64_t type, const char* name, std::size_t offset) {
  return {0, type, name, nullptr, 0, offset, nullptr, nullptr};
}
constexpr nvtx::PayloadSchemaEntry init_entries[] = {
    entry(nvtx::entry_uint64, "NCCL communicator ID", offsetof(Init, communicator)),
    entry(nvtx::entry_int, "No. of ranks", offsetof(Init, ranks)),
    entry(nvtx::entry_int, "Rank", offsetof(Init, rank)),
    entry(nvtx::entry_int, "CUDA device", offsetof(Init, device)),
};
constexpr nvtx::PayloadSchemaEntry all_reduce_entries[] = {
    entry(nvtx::entry_uint64, "NCCL communicator ID", offsetof(AllReduce, communicator)),
    entry(nvtx::entry_size, "Message size [bytes]", offsetof(AllReduce, bytes)),
    entry(id_of_operation, "Reduction operation", offsetof(AllReduce, operation)),
};
constexpr nvtx::PayloadSchemaEntry message_entries[] = {
    entry(nvtx::entry_uint64, "NCCL communicator ID", offsetof(Message, communicator)),
    entry(nvtx::entry_size, "Message size [bytes]", offsetof(Message, bytes)),
    entry(nvtx::entry_int, "Peer rank", offsetof(Message, peer)),
};

template <std::size_t count>
void register_schema(void* domain, const nvtx::PayloadSchemaEntry (&entries)[count], std::size_t size,
                     std::uint64_t id) {
  nvtx::PayloadSchema schema{};
  schema.fields = nvtx::schema_has_entries | nvtx::schema_has_entry_count | nvtx::schema_has_static_size |
                  nvtx::schema_has_id;
  schema.type = 1;
  schema.entries = entries;
  schema.entry_count = count;
  schema.static_size = size;
  schema.id = id;
  FakeProgram::register_schema(domain, &schema);
}

}  // namespace

ToldNccl::ToldNccl() {
  const char* tool = std::getenv("NVTX_INJECTION64_PATH");
  void* library =
      tool == nullptr || std::getenv("NCCL_NVTX_DISABLE") != nullptr ? nullptr : dlopen(tool, RTLD_NOW);
  if (library == nullptr) return;
  const auto attach = reinterpret_cast<FakeProgram::Initialize*>(dlsym(library, "InitializeInjectionNvtx2"));
  const auto attach_extension =
      reinterpret_cast<FakeProgram::InitializeExtension*>(dlsym(library, "InitializeInjectionNvtxExtension"));
  if (attach == nullptr || attach_extension == nullptr || FakeProgram::attach(attach) == 0 ||
      FakeProgram::attach_payloads(attach_extension) == 0) {
    return;
  }
  domain_ = FakeProgram::domain("NCCL");
  register_schema(domain_, init_entries, sizeof(Init), id_of_init);
  register_schema(domain_, all_reduce_entries, sizeof(AllReduce), id_of_all_reduce);
  register_schema(domain_, message_entries, sizeof(Message), id_of_send);
  register_schema(domain_, message_entries, sizeof(Message), id_of_send + 1);
}

void ToldNccl::communicator_is_made(std::uint64_t communicator, int ranks, int rank) const {
  if (domain_ == nullptr) return;
  begin("ncclCommInitRank");
  const Init init{communicator, ranks, rank, 0};
  const nvtx::PayloadData data{id_of_init, sizeof init, &init};
  FakeProgram::pop_payload(domain_, &data, 1);
}

void ToldNccl::begin_all_reduce(std::uint64_t communicator, std::size_t bytes) const {
  const AllReduce payload{communicator, bytes, 0};
  begin("ncclAllReduce", id_of_all_reduce, &payload, sizeof payload);
}

void ToldNccl::begin_message(const char* function, std::uint64_t communicator, std::size_t bytes,
                             int peer) const {
  const Message payload{communicator, bytes, peer};
  begin(function, id_of_send, &payload, sizeof payload);
}

void ToldNccl::begin(const char* function) const {
  if (domain_ != nullptr) FakeProgram::push(domain_, FakeProgram::message(function));
}

void ToldNccl::begin(const char* function, std::uint64_t schema, const void* payload,
                     std::size_t size) const {
  if (domain_ == nullptr) return;
  const nvtx::PayloadData data{schema, size, payload};
  nvtx::EventAttributes attributes = FakeProgram::message(function);
  attributes.payload_type = nvtx::payload_extended;
  attributes.payloads = 1;
  attributes.payload = reinterpret_cast<std::uintptr_t>(&data);
  FakeProgram::push(domain_, attributes);
}

void ToldNccl::end() const {
  if (domain_ != nullptr) FakeProgram::pop(domain_);
}

}  // namespace penstock::nccl_steps
