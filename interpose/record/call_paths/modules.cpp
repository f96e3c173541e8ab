#include "interpose/record/call_paths/modules.hpp"

#include <link.h>
#include <unistd.h>

#include <climits>
#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "interpose/record/call_paths/loaded_build.hpp"
#include "interpose/record/file/recording.hpp"
#include "interpose/record/recorder.hpp"

namespace penstock::record {

namespace {

struct Mapping {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t file_offset;
  std::uint64_t load_bias;
  trace::ModuleBuild build;
  std::string path;
};

std::string path_of_program() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : std::string();
}

/// Only collects, because the loader holds its lock meanwhile; afterwards the module may be gone.
int gather(dl_phdr_info* object, std::size_t, void* out) noexcept try {
  auto& mappings = *static_cast<std::vector<Mapping>*>(out);
  const trace::ModuleBuild build =
      build_of_loaded(object->dlpi_addr, {object->dlpi_phdr, object->dlpi_phnum});
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const std::uint64_t begin = object->dlpi_addr + segment.p_vaddr;
    mappings.push_back(
        {begin, begin + segment.p_memsz, segment.p_offset, object->dlpi_addr, build, object->dlpi_name});
  }
  return 0;
} catch (...) {
  return 1;
}

using Key = std::tuple<std::uint64_t, std::uint64_t, trace::ModuleBuild, std::string>;

std::set<Key>& written_before() {
  static auto* const written = new std::set<Key>;
  return *written;
}

}  // namespace

void write_new_modules() noexcept try {
  std::vector<Mapping> mappings;
  dl_iterate_phdr(gather, &mappings);
  for (Mapping& mapping : mappings) {
    if (mapping.path.empty())
      mapping.path = path_of_program();  // the loader names all mappings except those of the program
    if (!written_before().insert({mapping.begin, mapping.end, mapping.build, mapping.path}).second) continue;
    trace::Module record{};
    record.begin = mapping.begin;
    record.end = mapping.end;
    record.file_offset = mapping.file_offset;
    record.load_bias = mapping.load_bias;
    record.path = intern(mapping.path);
    record.build = mapping.build;
    record.kind = trace::RecordKind::module;
    recording().write_rare(&record, 1);
  }
} catch (...) {
  notice("out of memory: the report may show some call sites as addresses");
}

}  // namespace penstock::record
