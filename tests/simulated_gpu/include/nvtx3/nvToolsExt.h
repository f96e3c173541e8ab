// NVTX ranges as programs here use them, for builds without NVIDIA's headers. Like those it is header-only
// and talks to the tool that NVTX_INJECTION64_PATH names: at the first call that library is opened, and its
// InitializeInjectionNvtx2 puts its functions into our table. Without a tool a call does nothing.
#ifndef SIMULATED_GPU_NVTX_H
#define SIMULATED_GPU_NVTX_H

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

typedef uint64_t nvtxRangeId_t;
#define NVTX_NO_PUSH_POP_TRACKING ((int)-2)

// Hidden: as with NVIDIA's header, each library and program that includes it has its own table.
#pragma GCC visibility push(hidden)
namespace simulated_gpu::nvtx {

using Function = void (*)();

/// Callback ids of NVTX's core module.
enum Core : unsigned {
  mark_a = 2,
  range_start_a = 5,
  range_end = 7,
  range_push_a = 9,
  range_pop = 11,
  core_size = 16
};
constexpr int core_module = 1;
constexpr uint32_t callbacks_table = 1;

/// What the tool has installed, and where it may install it; ids without a function here have no place.
inline Function installed[core_size] = {};
inline Function* places[core_size] = {nullptr,
                                      nullptr,
                                      &installed[mark_a],
                                      nullptr,
                                      nullptr,
                                      &installed[range_start_a],
                                      nullptr,
                                      &installed[range_end],
                                      nullptr,
                                      &installed[range_push_a],
                                      nullptr,
                                      &installed[range_pop]};

inline int module_table(int module, Function*** table, unsigned* size) {
  if (module != core_module) return 0;
  *table = places;
  *size = core_size;
  return 1;
}

struct Callbacks {
  size_t struct_size;
  int (*module_table)(int module, Function*** table, unsigned* size);
};
inline const Callbacks callbacks{sizeof(Callbacks), &module_table};

inline const void* export_table(uint32_t id) {
  return id == callbacks_table ? &callbacks : nullptr;
}

inline bool open_tool() {
  const char* path = std::getenv("NVTX_INJECTION64_PATH");
  void* tool = path == nullptr || *path == '\0' ? nullptr : dlopen(path, RTLD_LAZY);
  if (tool == nullptr) return false;
  using Initialize = int (*)(const void* (*)(uint32_t));
  const auto initialize = reinterpret_cast<Initialize>(dlsym(tool, "InitializeInjectionNvtx2"));
  return initialize != nullptr && initialize(&export_table) != 0;
}

/// The tool's function with that id, or null.
template <typename Signature>
Signature* tool_function(Core id) {
  static const bool opened = open_tool();
  return opened ? reinterpret_cast<Signature*>(installed[id]) : nullptr;
}

}  // namespace simulated_gpu::nvtx

inline void nvtxMarkA(const char* message) {
  using namespace simulated_gpu::nvtx;
  if (auto* mark = tool_function<void(const char*)>(mark_a)) mark(message);
}
inline int nvtxRangePushA(const char* message) {
  using namespace simulated_gpu::nvtx;
  auto* push = tool_function<int(const char*)>(range_push_a);
  return push == nullptr ? NVTX_NO_PUSH_POP_TRACKING : push(message);
}
inline int nvtxRangePop() {
  using namespace simulated_gpu::nvtx;
  auto* pop = tool_function<int()>(range_pop);
  return pop == nullptr ? NVTX_NO_PUSH_POP_TRACKING : pop();
}
inline nvtxRangeId_t nvtxRangeStartA(const char* message) {
  using namespace simulated_gpu::nvtx;
  auto* start = tool_function<nvtxRangeId_t(const char*)>(range_start_a);
  return start == nullptr ? 0 : start(message);
}
inline void nvtxRangeEnd(nvtxRangeId_t id) {
  using namespace simulated_gpu::nvtx;
  if (auto* end = tool_function<void(nvtxRangeId_t)>(range_end)) end(id);
}
#pragma GCC visibility pop

#endif
