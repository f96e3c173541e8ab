#include "interpose/record/gpu/cupti_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "transports/host/symbol.hpp"

namespace penstock::record {

namespace {

constexpr const char* library_names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};

/// Folders below a toolkit's, or beside its libcudart. Toolkits for several processors have one for each; a
/// library of another processor does not load, and the search continues.
constexpr const char* folders_in_toolkit[] = {
    "extras/CUPTI/lib64",       "lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib",
    "targets/aarch64-linux/lib"};
constexpr const char* folders_beside_cudart[] = {".", "../extras/CUPTI/lib64", "../../cuda_cupti/lib"};

int note_folder_of_cudart(dl_phdr_info* object, std::size_t, void* out) noexcept {
  const std::string_view path = object->dlpi_name;
  const std::size_t at = path.rfind("/libcudart.so");
  if (at == std::string_view::npos) return 0;
  try {
    *static_cast<std::string*>(out) = path.substr(0, at);
  } catch (...) {
    // This is no error yet, as other places remain.
  }
  return 1;
}

std::vector<std::string> folders_beside_the_programs_cudart() {
  std::string cudart;
  dl_iterate_phdr(note_folder_of_cudart, &cudart);
  std::vector<std::string> folders;
  if (!cudart.empty()) {
    for (const char* folder : folders_beside_cudart) folders.push_back(cudart + "/" + folder);
  }
  return folders;
}

std::vector<std::string> folders_of_toolkits() {
  std::vector<std::string> folders;
  const char* const roots[] = {std::getenv("CUDA_HOME"), std::getenv("CUDA_PATH"), "/usr/local/cuda"};
  for (const char* root : roots) {
    if (root == nullptr || *root == '\0') continue;
    for (const char* folder : folders_in_toolkit) folders.push_back(std::string(root) + "/" + folder);
  }
  return folders;
}

void* load(const char* name) noexcept {
  return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

void* load_from(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    for (const char* name : library_names) {
      if (void* library = load((folder + "/" + name).c_str())) return library;
    }
  }
  return nullptr;
}

/// Tries the program's own toolkit (or simulated GPU) before the result of the system's search.
void* find_library() {
  if (void* library = load_from(folders_beside_the_programs_cudart())) return library;
  for (const char* name : library_names) {
    if (void* library = load(name)) return library;
  }
  return load_from(folders_of_toolkits());
}

}  // namespace

std::string open_cupti(CuptiLibrary& table) {
  const char* chosen = std::getenv("PENSTOCK_CUPTI");
  const bool is_chosen = chosen != nullptr && *chosen != '\0';
  void* library = is_chosen ? load(chosen) : find_library();
  if (library == nullptr) {
    return is_chosen ? std::string("PENSTOCK_CUPTI: ") + dlerror()
                     : "libcupti was not found (PENSTOCK_CUPTI may name the file)";
  }
  const bool complete =
      transports::find_symbol(library, "cuptiGetVersion", table.get_version) &&
      transports::find_symbol(library, "cuptiGetResultString", table.get_result_string) &&
      transports::find_symbol(library, "cuptiActivityRegisterTimestampCallback",
                              table.register_timestamp_callback) &&
      transports::find_symbol(library, "cuptiActivityRegisterCallbacks", table.register_callbacks) &&
      transports::find_symbol(library, "cuptiActivityEnable", table.enable) &&
      transports::find_symbol(library, "cuptiActivityDisable", table.disable) &&
      transports::find_symbol(library, "cuptiActivityFlushAll", table.flush_all) &&
      transports::find_symbol(library, "cuptiActivityGetNextRecord", table.get_next_record) &&
      transports::find_symbol(library, "cuptiActivityGetNumDroppedRecords", table.get_dropped_records) &&
      transports::find_symbol(library, "cuptiActivityPushExternalCorrelationId", table.push_external_id) &&
      transports::find_symbol(library, "cuptiActivityPopExternalCorrelationId", table.pop_external_id);
  std::uint32_t version = 0;
  if (!complete || table.get_version(&version) != CUPTI_SUCCESS)
    return "libcupti lacks functions that Penstock calls";
  if (!reads_records_of(version)) {
    return "libcupti has version " + std::to_string(version) + ", which this Penstock does not support";
  }
  transports::find_symbol(library, "cuptiSubscribe", table.subscribe);
  transports::find_symbol(library, "cuptiEnableCallback", table.enable_callback);
  transports::find_symbol(library, "cuptiSetThreadIdType", table.set_thread_id_type);
  transports::find_symbol(library, "cuptiActivityEnableDriverApi", table.enable_driver_api);
  constexpr std::uint32_t first_of_cuda_13 = 130000;
  if (version >= first_of_cuda_13)
    transports::find_symbol(library, "cuptiActivityEnableRuntimeApi", table.enable_runtime_api);
  return {};
}

}  // namespace penstock::record
