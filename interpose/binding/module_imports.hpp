// The functions that one loaded module (a shared library) takes from others, and the words of memory through
// which it calls them. Knows the ELF format, no MPI.
#pragma once

#include <link.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::interpose {

struct Module {
  std::string path;
  ElfW(Addr) base = 0;
  std::span<const ElfW(Phdr)> headers;

  [[nodiscard]] std::string_view file_name() const noexcept {
    return std::string_view(path).substr(path.rfind('/') + 1);
  }
};

/// Returns all loaded modules with a path, also those that only another one can see. Errors: throws
/// std::bad_alloc.
[[nodiscard]] std::vector<Module> loaded_modules();

struct Import {
  const char* name;
  void** slot;  ///< the module calls what stands here; the loader may still have to fill it at the first call
};

/// Returns the imports of a module that stays loaded. Errors: throws std::bad_alloc.
[[nodiscard]] std::vector<Import> imports_of(const Module& module);

/// Lets the slots of a module be written while one lives, where the loader has made them read-only (RELRO).
class WritableSlots {
 public:
  explicit WritableSlots(const Module& module) noexcept;
  ~WritableSlots();
  WritableSlots(const WritableSlots&) = delete;
  WritableSlots& operator=(const WritableSlots&) = delete;

  [[nodiscard]] bool are_writable() const noexcept { return are_writable_; }

 private:
  void* begin_ = nullptr;
  std::size_t bytes_ = 0;
  bool are_writable_ = true;
};

}  // namespace penstock::interpose
