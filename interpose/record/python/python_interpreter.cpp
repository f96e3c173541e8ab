#include "interpose/record/python/python_interpreter.hpp"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <climits>
#include <cstdio>
#include <cstring>

namespace penstock::record {
namespace {

constexpr const char* thread_state_function = "PyGILState_GetThisThreadState";

template <typename Function>
Function function_named(void* library, const char* name) noexcept {
  return reinterpret_cast<Function>(dlsym(library, name));
}

int find_library(dl_phdr_info* object, std::size_t, void* path) noexcept {
  const char* const slash = std::strrchr(object->dlpi_name, '/');
  const char* const name = slash != nullptr ? slash + 1 : object->dlpi_name;
  if (std::strncmp(name, "libpython3.", 11) != 0 || std::strlen(object->dlpi_name) >= PATH_MAX) return 0;
  std::strcpy(static_cast<char*>(path), object->dlpi_name);
  return 1;
}

/// Finds where the interpreter's symbols are. A program that opens the library for itself alone hides them
/// from others.
bool find_symbols(void*& library) noexcept {
  library = RTLD_DEFAULT;
  if (dlsym(library, thread_state_function) != nullptr) return true;
  char path[PATH_MAX];
  if (dl_iterate_phdr(find_library, path) == 0) return false;
  library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  return library != nullptr;
}

struct Code {
  std::uint64_t address;
  std::uint64_t begin;
  std::uint64_t end;
};

int find_code(dl_phdr_info* object, std::size_t, void* to) noexcept {
  Code& code = *static_cast<Code*>(to);
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& segment = object->dlpi_phdr[i];
    const std::uint64_t begin = object->dlpi_addr + segment.p_vaddr;
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0 || code.address < begin ||
        code.address - begin >= segment.p_memsz)
      continue;
    code.begin = begin;
    code.end = begin + segment.p_memsz;
    return 1;
  }
  return 0;
}

/// Returns 0 for what is no Python 3.
unsigned minor_version(void* library) noexcept {
  if (const auto* const version = static_cast<const unsigned long*>(dlsym(library, "Py_Version"));
      version != nullptr)  // from 3.11 on
    return *version >> 24 == 3 ? static_cast<unsigned>(*version >> 16 & 255) : 0;
  const auto version = function_named<const char* (*)()>(library, "Py_GetVersion");
  unsigned minor = 0;
  return version != nullptr && std::sscanf(version(), "3.%u", &minor) == 1 ? minor : 0;
}

}  // namespace

bool PythonInterpreter::find() noexcept {
  void* library = nullptr;
  if (!find_symbols(library)) return false;
  state_of_this_thread_ = function_named<void* (*)()>(library, thread_state_function);
  is_initialised_ = function_named<int (*)()>(library, "Py_IsInitialized");
  const auto address_of = [library](const char* name) {
    return reinterpret_cast<std::uint64_t>(dlsym(library, name));
  };
  types_ = {address_of("PyCode_Type"), address_of("PyUnicode_Type"), address_of("PyBytes_Type")};
  if (state_of_this_thread_ == nullptr || is_initialised_ == nullptr || types_.code == 0 || types_.str == 0 ||
      types_.bytes == 0)
    return false;
  const unsigned minor = minor_version(library);
  layout_ = python_layout(minor);
  if (layout_ == nullptr) {
    unknown_minor_ = minor;
    return false;
  }
  Code code{reinterpret_cast<std::uint64_t>(state_of_this_thread_), 0, 0};
  dl_iterate_phdr(find_code, &code);
  code_begin_ = code.begin;
  code_end_ = code.end;
  return true;
}

std::uint64_t PythonInterpreter::state_of_this_thread() const noexcept {
  // what was read of the interpreter before is not asked for afterwards
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return is_initialised_() != 0 ? reinterpret_cast<std::uint64_t>(state_of_this_thread_()) : 0;
}

}  // namespace penstock::record
