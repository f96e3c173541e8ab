#include "interpose/binding/fortran_bindings.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bitset>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "interpose/binding/module_imports.hpp"
#include "interpose/binding/mpi_binding.hpp"

namespace penstock::interpose {
namespace {

/// How the names of their libraries begin. Those over the standard ABI are named as MPICH's.
constexpr std::array bindings = {
#ifdef OPEN_MPI
    std::string_view("libmpi_mpifh"), std::string_view("libmpi_usempi")
#else
    std::string_view("libmpifort"), std::string_view("libmpichfort"), std::string_view("libfmpich")
#endif
};

/// Those that a program may open later.
constexpr std::array names_of_bindings = {
#ifdef OPEN_MPI
    "libmpi_mpifh.so.40", "libmpi_usempif08.so.40"
#else
    "libmpifort.so.12", "libmpichfort.so.12"
#endif
};

/// Bindings that call all these by name call all others so, too. Those that do not have ways of their own
/// into the MPI library.
constexpr std::array called_by_name = {
    std::string_view("Init"),  std::string_view("Finalize"), std::string_view("Send"),
    std::string_view("Isend"), std::string_view("Recv"),     std::string_view("Irecv"),
    std::string_view("Probe"), std::string_view("Wait"),     std::string_view("Waitall"),
    std::string_view("Test"),  std::string_view("Bcast"),    std::string_view("Comm_free")};
using CalledByName = std::bitset<called_by_name.size()>;

void note_call(CalledByName& called, std::string_view function) noexcept {
  const auto* const found = std::ranges::find(called_by_name, function);
  if (found != called_by_name.end()) called.set(static_cast<std::size_t>(found - called_by_name.begin()));
}

bool is_of_bindings(const Module& module) noexcept {
  return std::ranges::any_of(bindings,
                             [&](std::string_view each) { return module.file_name().starts_with(each); });
}

/// Returns this library for dlsym, which then searches no MPI library.
void* this_library() noexcept {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&redirect_fortran_calls), &info) == 0) return nullptr;
  return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

struct Redirection {
  const Import* import;
  void* wrapper;
};

/// Returns false if a call could not be redirected.
bool redirect(const Module& module, const std::vector<Redirection>& redirections) noexcept {
  if (redirections.empty()) return true;
  const WritableSlots slots(module);
  if (!slots.are_writable()) return false;
  for (const Redirection& each : redirections) {
    __atomic_store_n(each.import->slot, each.wrapper, __ATOMIC_RELEASE);
  }
  return true;
}

/// Functions without a wrapper, which convert handles, stay the MPI library's.
bool redirect_calls_of(const Module& module, void* wrappers, CalledByName& called) {
  const std::vector<Import> imports = imports_of(module);
  std::vector<Redirection> redirections;
  for (const Import& import : imports) {
    const std::string_view name = import.name;
    if (name.starts_with("MPI_")) note_call(called, name.substr(4));
    if (!name.starts_with("PMPI_")) continue;
    note_call(called, name.substr(5));
    void* const wrapper = dlsym(wrappers, import.name + 1);
    if (wrapper == nullptr || __atomic_load_n(import.slot, __ATOMIC_ACQUIRE) == wrapper) continue;
    redirections.push_back({&import, wrapper});
  }
  return redirect(module, redirections);
}

/// Keeps the module, which would come back without what was changed in it.
bool keep_loaded(const Module& module) noexcept {
  return dlopen(module.path.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) != nullptr;
}

std::vector<Module> loaded_bindings() {
  std::vector<Module> modules = loaded_modules();
  std::erase_if(modules, [](const Module& module) { return !is_of_bindings(module); });
  return modules;
}

FortranCalls redirect_calls_of(const std::vector<Module>& modules) {
  if (modules.empty()) return FortranCalls::none;
  void* const wrappers = this_library();
  if (wrappers == nullptr) return FortranCalls::unseen;
  CalledByName called;
  bool are_redirected = true;
  for (const Module& module : modules) {
    are_redirected = keep_loaded(module) && redirect_calls_of(module, wrappers, called) && are_redirected;
  }
  dlclose(wrappers);
  return are_redirected && called.all() ? FortranCalls::seen : FortranCalls::unseen;
}

std::atomic<bool> had_mpi_at_load{false};

__attribute__((constructor)) void redirect_at_load() noexcept try {
  had_mpi_at_load = may_have_mpi();
  redirect_calls_of(loaded_bindings());
} catch (const std::bad_alloc&) {
  // MPI_Init tries once more
}

/// Opens the bindings beside the MPI library, which whoever opens them later then shares. The standard ABI
/// names none, and those that lie there would bring another MPI.
void open_bindings() {
  if (mpi_family == MpiFamily::standard_abi) return;
  Dl_info mpi{};
  if (dladdr(find_mpi_symbol("PMPI_Init"), &mpi) == 0) return;
  const std::string path = mpi.dli_fname;
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  for (const char* const name : names_of_bindings) dlopen((folder + name).c_str(), RTLD_LAZY | RTLD_LOCAL);
}

}  // namespace

FortranCalls redirect_fortran_calls() noexcept try {
  const FortranCalls calls = redirect_calls_of(loaded_bindings());
  if (calls != FortranCalls::none || had_mpi_at_load) return calls;
  // a program that opened MPI may open the bindings, too; if they cannot be served, it may still do without
  open_bindings();
  const bool are_served = redirect_calls_of(loaded_bindings()) == FortranCalls::seen;
  return are_served ? FortranCalls::seen : FortranCalls::none;
} catch (const std::bad_alloc&) {
  return FortranCalls::unseen;
}

}  // namespace penstock::interpose
