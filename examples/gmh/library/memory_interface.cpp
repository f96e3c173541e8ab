// The C functions of memory.
#include "examples/gmh/library/interface.hpp"

using namespace gmh;

namespace {

void copy_memory(gmh_mem_t mem, gmh_stream_t stream, int direction) {
  Thread& thread = Thread::current();
  const Memory& memory = *thread.memories.get(mem);
  check_copy(memory, direction);
  copy_shadow(memory, thread.streams.get(stream)->get(), direction);
}

}  // namespace

int gmh_mem_create(gmh_tasklist_t list, size_t bytes, int permission, int option, gmh_mem_t* mem) {
  return guarded([&] {
    Thread& thread = list_of(list)->thread();
    if (permission < GMH_READ || permission > (GMH_READ | GMH_WRITE))
      fail(GMH_ERR_ARGUMENT, "permission %d: GMH_READ, GMH_WRITE or both", permission);
    if (option != GMH_WITH_SHADOW && option != GMH_NO_SHADOW)
      fail(GMH_ERR_ARGUMENT, "there is no option %d", option);
    // the shadow is the staging buffer of messages
    const bool with_shadow = option == GMH_WITH_SHADOW || thread.job().stages();
    result(mem) = thread.memories.add(std::make_shared<Memory>(bytes, permission, with_shadow));
  });
}

int gmh_mem_part(gmh_mem_t mem, size_t offset, size_t bytes, gmh_mem_t* part) {
  return guarded([&] {
    Thread& thread = Thread::current();
    const Memory& whole = *thread.memories.get(mem);
    if (offset > whole.bytes() || bytes > whole.bytes() - offset)
      fail(GMH_ERR_ARGUMENT, "a part of %zu bytes at %zu, of a memory of %zu", bytes, offset, whole.bytes());
    result(part) = thread.memories.add(std::make_shared<Memory>(whole, offset, bytes));
  });
}

int gmh_mem_free(gmh_mem_t mem) {
  return guarded([&] {
    Thread& thread = Thread::current();
    const auto& memory = thread.memories.get(mem);
    if (memory.use_count() > 1)
      fail(GMH_ERR_ARGUMENT, "commands of a list use this memory: free the list first");
    if (memory->is_whole() && memory->is_shared()) fail(GMH_ERR_ARGUMENT, "parts of this memory are in use");
    thread.memories.remove(mem);
  });
}

int gmh_mem_pointers(gmh_mem_t mem, void** gpu, void** host, size_t* bytes) {
  return guarded([&] {
    const Memory& memory = *Thread::current().memories.get(mem);
    if (gpu != nullptr) *gpu = memory.gpu();
    if (host != nullptr) *host = memory.host();
    if (bytes != nullptr) *bytes = memory.bytes();
  });
}

int gmh_mem_to_host(gmh_mem_t mem, gmh_stream_t stream) {
  return guarded([&] { copy_memory(mem, stream, GMH_TO_HOST); });
}
int gmh_mem_to_gpu(gmh_mem_t mem, gmh_stream_t stream) {
  return guarded([&] { copy_memory(mem, stream, GMH_TO_GPU); });
}
