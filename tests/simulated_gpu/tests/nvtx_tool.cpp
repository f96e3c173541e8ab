// An NVTX tool for nvtx_test: writes what it is told into the string that the test lends it.
#include <cstdint>
#include <string>

namespace {

std::string* log = nullptr;

int push(const char* message) {
  *log += std::string("push ") + message + "\n";
  return 0;
}
int pop() {
  *log += "pop\n";
  return 0;
}
std::uint64_t start(const char* message) {
  *log += std::string("start ") + message + "\n";
  return 5;
}
void end(std::uint64_t id) {
  *log += "end " + std::to_string(id) + "\n";
}
void mark(const char* message) {
  *log += std::string("mark ") + message + "\n";
}

using Function = void (*)();
struct Callbacks {
  std::size_t struct_size;
  int (*module_table)(int module, Function*** table, unsigned* size);
};

}  // namespace

extern "C" __attribute__((visibility("default"))) void log_into(std::string* text) {
  log = text;
}

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    const void* (*export_table)(std::uint32_t)) {
  const auto* callbacks = static_cast<const Callbacks*>(export_table(1));
  Function** table = nullptr;
  unsigned size = 0;
  constexpr int core_module = 1;
  if (callbacks == nullptr || callbacks->module_table(core_module, &table, &size) == 0) return 0;
  constexpr unsigned mark_a = 2, range_start_a = 5, range_end = 7, range_push_a = 9, range_pop = 11;
  *table[mark_a] = reinterpret_cast<Function>(&mark);
  *table[range_start_a] = reinterpret_cast<Function>(&start);
  *table[range_end] = reinterpret_cast<Function>(&end);
  *table[range_push_a] = reinterpret_cast<Function>(&push);
  *table[range_pop] = reinterpret_cast<Function>(&pop);
  return 1;
}
