#include "interpose/binding/mpi_binding.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <new>
#include <string_view>

#include "interpose/binding/function_names.hpp"
#include "interpose/binding/module_imports.hpp"
#include "interpose/record/recorder.hpp"

// One slot for each function, and a trampoline that jumps through it. The trampolines are named PMPI_* and
// hidden: calls to PMPI_* from within this library reach them, and no other library sees them.
extern "C" {
/// The content of the slot of a function that the library lacks.
__attribute__((visibility("hidden"))) int penstock_no_such_function() noexcept;

#define PENSTOCK_ROW(owner, waits, name, ...)                              \
  __attribute__((visibility("hidden"))) extern void* penstock_pmpi_##name; \
  void* penstock_pmpi_##name = reinterpret_cast<void*>(&penstock_no_such_function);
#include "interpose/binding/mpi_functions.def"

#ifdef OPEN_MPI
#define PENSTOCK_OBJECT(object)                                                    \
  __attribute__((visibility("hidden"))) extern void* penstock_address_of_##object; \
  void* penstock_address_of_##object = nullptr;
#include "interpose/binding/open_mpi_objects.def"
#endif
}

#if defined(__x86_64__)
#define PENSTOCK_JUMP(slot) "endbr64\n jmp *" slot "(%rip)\n"
#elif defined(__aarch64__)
#define PENSTOCK_JUMP(slot) "bti c\n adrp x16, " slot "\n ldr x16, [x16, :lo12:" slot "]\n br x16\n"
#else
#error "a jump through a memory slot, for this processor"
#endif

// clang-format off
#define PENSTOCK_TRAMPOLINE(symbol, slot) \
  asm(".pushsection .text\n"              \
      ".balign 16\n"                      \
      ".globl " symbol "\n"               \
      ".hidden " symbol "\n"              \
      ".type " symbol ", %function\n"     \
      symbol ":\n"                        \
      PENSTOCK_JUMP(slot)                 \
      ".size " symbol ", . - " symbol "\n" \
      ".popsection\n");
// clang-format on

#define PENSTOCK_ROW(owner, waits, name, ...) PENSTOCK_TRAMPOLINE("PMPI_" #name, "penstock_pmpi_" #name)
#include "interpose/binding/mpi_functions.def"

namespace penstock::interpose {
namespace {

struct FamilyNames {
  const char* name;
  const char* preload;
};

constexpr FamilyNames names_of(MpiFamily family) noexcept {
  switch (family) {
    case MpiFamily::open_mpi:
      return {"Open MPI", "libpenstock_openmpi.so"};
    case MpiFamily::standard_abi:
      return {"the standard ABI of MPI", "libpenstock_abi.so"};
    case MpiFamily::mpich:
      break;
  }
  return {"MPICH", "libpenstock_mpich.so"};
}

std::atomic<bool> is_bound{false};
/// Set once bound; for dlsym. RTLD_NEXT, which follows this library, for an MPI that the whole program sees.
std::atomic<void*> bound_library{nullptr};

bool holds_mpi(void* library) noexcept {
  return dlsym(library, "PMPI_Init") != nullptr;
}

/// A library has the standard ABI by its name, which the ABI lays down. Those of MPICH and of Open MPI behind
/// that name have no symbol that tells.
MpiFamily family_of(void* library) noexcept {
  Dl_info info{};
  const std::string_view path =
      dladdr(dlsym(library, "PMPI_Init"), &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
  if (path.substr(path.rfind('/') + 1).starts_with("libmpi_abi")) return MpiFamily::standard_abi;
  return dlsym(library, "ompi_mpi_comm_world") != nullptr ? MpiFamily::open_mpi : MpiFamily::mpich;
}

struct Search {
  Binding outcome = Binding::no_mpi;
  void* library = nullptr;  ///< for dlsym; RTLD_DEFAULT is null too
  MpiFamily family = mpi_family;
};

/// Returns true if `library` is the MPI library of this family. Notes one of the other family.
bool consider(void* library, Search& search) noexcept {
  if (!holds_mpi(library)) return false;
  const MpiFamily family = family_of(library);
  search = {family == mpi_family ? Binding::bound : Binding::other_family, library, family};
  return family == mpi_family;
}

/// Finds the MPI library. One that is found only by its own name stays open.
Search find_library() {
  Search search;
  if (consider(RTLD_DEFAULT, search)) return search;
  for (const Module& module : loaded_modules()) {
    void* const library = dlopen(module.path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    if (consider(library, search)) return search;
    dlclose(library);
  }
  return search;
}

void** const slots[] = {
#define PENSTOCK_ROW(owner, waits, name, ...) &penstock_pmpi_##name,
#include "interpose/binding/mpi_functions.def"
};

const void* module_at(const void* address) noexcept {
  Dl_info info{};
  return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

/// Where the modules begin in which the functions of the table lie: this library, the MPI library, and tools
/// behind this one, of which more would be the program's.
struct ModulesOfMpi {
  std::array<const void*, 8> all{module_at(reinterpret_cast<const void*>(&penstock_no_such_function))};

  ModulesOfMpi() noexcept {
    auto next = all.begin() + 1;
    for (void* const* const slot : slots) {
      const void* const module = module_at(__atomic_load_n(slot, __ATOMIC_RELAXED));
      if (next != all.end() && !holds(module)) *next++ = module;
    }
  }
  [[nodiscard]] bool holds(const void* module) const noexcept {
    return std::ranges::find(all, module) != all.end();
  }
};

/// Returns whether a module has a name of those into which Open MPI is divided, besides the one with the
/// functions.
bool is_component(const char* path) noexcept {
  const std::string_view whole = path == nullptr ? "" : path;
  const std::string_view name = whole.substr(whole.rfind('/') + 1);
  constexpr std::string_view components[] = {"mca_", "libmca_", "libompi", "libopen-", "libopen_mpi"};
  return std::ranges::any_of(components, [&](std::string_view each) { return name.starts_with(each); });
}

bool are_of_one_object(const void* one, const void* other) noexcept {
  Dl_info first{};
  Dl_info second{};
  return dladdr(one, &first) != 0 && dladdr(other, &second) != 0 && first.dli_fbase == second.dli_fbase;
}

/// Returns the library's own PMPI function; where it has none (PMPI_File_close in MPICH 5.0.2's library of
/// the standard ABI), that without the P. If another tool that wraps MPI follows this one, returns the
/// tool's, so that it still sees what reaches MPI.
void* find_function(void* library, const char* pmpi_name) noexcept {
  void* const function = dlsym(library, pmpi_name);
  if (library != RTLD_DEFAULT && function != nullptr) return function;
  const char* const mpi_name = pmpi_name + 1;
  // RTLD_DEFAULT would find this library's
  void* const next = dlsym(library == RTLD_DEFAULT ? RTLD_NEXT : library, mpi_name);
  if (next == nullptr) return function;
  if (function != nullptr) return are_of_one_object(next, function) ? function : next;
  return are_of_one_object(next, dlsym(library, "PMPI_Init")) ? next : nullptr;
}

/// Threads that call this at the same time write the same values.
void fill_slot(void** slot, void* address) noexcept {
  if (address != nullptr) __atomic_store_n(slot, address, __ATOMIC_RELAXED);
}

void fill_table(void* library) noexcept {
#define PENSTOCK_ROW(owner, waits, name, ...) \
  fill_slot(&penstock_pmpi_##name, find_function(library, "PMPI_" #name));
#include "interpose/binding/mpi_functions.def"
#ifdef OPEN_MPI
#define PENSTOCK_OBJECT(object) fill_slot(&penstock_address_of_##object, dlsym(library, #object));
#include "interpose/binding/open_mpi_objects.def"
#endif
}

}  // namespace

Binding bind_mpi() noexcept {
  if (is_bound.load(std::memory_order_acquire)) return Binding::bound;
  try {
    const Search search = find_library();
    if (search.outcome == Binding::bound) {
      fill_table(search.library);
      bound_library.store(search.library == RTLD_DEFAULT ? RTLD_NEXT : search.library,
                          std::memory_order_relaxed);
      is_bound.store(true, std::memory_order_release);
    } else if (search.outcome == Binding::other_family) {
      std::array<char, 160> line{};
      std::snprintf(line.data(), line.size(),
                    "this is the library for %s, but the program uses %s: preload %s",
                    names_of(mpi_family).name, names_of(search.family).name, names_of(search.family).preload);
      record::notice(line.data());
    }
    return search.outcome;
  } catch (...) {  // no memory for the list of libraries
    return Binding::no_mpi;
  }
}

#ifdef PENSTOCK_BINDS_MPI
bool has_function(Function function) noexcept {
  return __atomic_load_n(slots[static_cast<std::size_t>(function)], __ATOMIC_RELAXED) !=
         reinterpret_cast<void*>(&penstock_no_such_function);
}
#endif

bool is_inside_mpi(const void* address) noexcept {
  static const ModulesOfMpi modules;
  Dl_info info{};
  return dladdr(address, &info) != 0 && (modules.holds(info.dli_fbase) || is_component(info.dli_fname));
}

bool may_have_mpi() {
  return std::ranges::any_of(loaded_modules(),
                             [](const Module& module) { return module.file_name().starts_with("libmpi"); });
}

bool bind_mpi_quietly() noexcept try {
  if (is_bound.load(std::memory_order_acquire)) return true;
  if (!may_have_mpi() || find_library().outcome != Binding::bound) return false;
  return bind_mpi() == Binding::bound;
} catch (const std::bad_alloc&) {
  return false;
}

void* find_mpi_symbol(const char* name) noexcept {
  return bind_mpi() == Binding::bound ? dlsym(bound_library.load(std::memory_order_relaxed), name) : nullptr;
}

}  // namespace penstock::interpose

int penstock_no_such_function() noexcept {
  penstock::record::notice("an MPI function was called that the loaded MPI library does not have");
  return MPI_ERR_OTHER;
}
