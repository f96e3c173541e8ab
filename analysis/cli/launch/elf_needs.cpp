#include "analysis/cli/launch/elf_needs.hpp"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string_view>

namespace penstock::cli {
namespace {

/// Owns a file descriptor and libelf's view of it.
class ElfFile {
 public:
  explicit ElfFile(const std::filesystem::path& file)
      : descriptor_(::open(file.c_str(), O_RDONLY | O_CLOEXEC)) {
    elf_version(EV_CURRENT);
    elf_ = descriptor_ < 0 ? nullptr : elf_begin(descriptor_, ELF_C_READ_MMAP, nullptr);
  }
  ~ElfFile() {
    elf_end(elf_);
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
  }
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;
  [[nodiscard]] Elf* get() const { return elf_ != nullptr && elf_kind(elf_) == ELF_K_ELF ? elf_ : nullptr; }

 private:
  int descriptor_;
  Elf* elf_;
};

std::vector<std::string> split(std::string_view list, char separator) {
  std::vector<std::string> items;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(separator), list.size());
    if (end != 0) {
      items.emplace_back(list.substr(0, end));
    }
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return items;
}

void add_run_paths(std::string_view list, const std::filesystem::path& file, std::vector<std::string>& to) {
  std::error_code ignored;
  const std::string origin = std::filesystem::canonical(file, ignored).parent_path().string();
  for (std::string path : split(list, ':')) {
    for (const std::string_view token : {"${ORIGIN}", "$ORIGIN"}) {
      if (const std::size_t at = path.find(token); at != std::string::npos) {
        path.replace(at, token.size(), origin);
      }
    }
    to.push_back(std::move(path));
  }
}

void add_configured_folders(const std::filesystem::path& file, std::vector<std::string>& to, int depth) {
  constexpr int deepest = 4;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    line.erase(std::min(line.find('#'), line.size()));
    line.erase(line.find_last_not_of(" \t") + 1);
    if (!line.starts_with("include ")) {
      if (line.starts_with('/')) {
        to.push_back(line);
      }
      continue;
    }
    // the only pattern of Debian and Red Hat: include /etc/ld.so.conf.d/*.conf
    const std::filesystem::path pattern = line.substr(line.find('/'));
    std::set<std::filesystem::path> included;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(pattern.parent_path(), error), end; !error && entry != end;
         entry.increment(error)) {
      if (entry->path().extension() == pattern.extension()) {
        included.insert(entry->path());
      }
    }
    for (const std::filesystem::path& each : included) {
      if (depth < deepest) {
        add_configured_folders(each, to, depth + 1);
      }
    }
  }
}

const std::vector<std::string>& system_folders() {
  static const std::vector<std::string> folders = [] {
    std::vector<std::string> list;
    add_configured_folders("/etc/ld.so.conf", list, 0);
    list.insert(list.end(), {"/lib64", "/usr/lib64", "/lib", "/usr/lib"});
    return list;
  }();
  return folders;
}

}  // namespace

std::optional<ElfNeeds> read_needs(const std::filesystem::path& file) {
  const ElfFile opened(file);
  Elf* const elf = opened.get();
  if (elf == nullptr) {
    return std::nullopt;
  }
  ElfNeeds needs;
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr;
       section = elf_nextscn(elf, section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_DYNAMIC ||
        header.sh_entsize == 0) {
      continue;
    }
    Elf_Data* const data = elf_getdata(section, nullptr);
    for (std::size_t i = 0; data != nullptr && i < header.sh_size / header.sh_entsize; ++i) {
      GElf_Dyn entry;
      if (gelf_getdyn(data, static_cast<int>(i), &entry) == nullptr) {
        break;
      }
      const bool is_text = entry.d_tag == DT_NEEDED || entry.d_tag == DT_RUNPATH || entry.d_tag == DT_RPATH;
      const char* const text = is_text ? elf_strptr(elf, header.sh_link, entry.d_un.d_val) : nullptr;
      if (text == nullptr) {
        continue;
      }
      if (entry.d_tag == DT_NEEDED) {
        needs.libraries.emplace_back(text);
      } else {
        add_run_paths(text, file, needs.run_paths);
      }
    }
  }
  return needs;
}

std::filesystem::path find_library(const std::string& library, const std::vector<std::string>& run_paths) {
  std::error_code ignored;
  if (library.find('/') != std::string::npos) {
    return std::filesystem::exists(library, ignored) ? std::filesystem::path(library)
                                                     : std::filesystem::path();
  }
  std::vector<std::string> folders = run_paths;
  if (const char* named = std::getenv("LD_LIBRARY_PATH"); named != nullptr) {
    for (std::string& each : split(named, ':')) {
      folders.push_back(std::move(each));
    }
  }
  folders.insert(folders.end(), system_folders().begin(), system_folders().end());
  for (const std::string& folder : folders) {
    std::filesystem::path candidate = std::filesystem::path(folder) / library;
    if (std::filesystem::exists(candidate, ignored)) {
      return candidate;
    }
  }
  return {};
}

}  // namespace penstock::cli
