#include "transports/tuning/tuning_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "transports/cuda/driver.hpp"
#include "transports/host/byte_sizes.hpp"
#include "transports/host/retried.hpp"

namespace penstock::transports {
namespace {

using cuda::Link;

constexpr std::string_view format = "1";
constexpr std::string_view never_text = "never";
/// Figures of earlier versions: they are read and ignored.
constexpr std::string_view retired_figures[] = {"striped_from"};
constexpr std::size_t most_file_bytes = 64u << 10;

std::string_view trimmed(std::string_view text) noexcept {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// Returns what stands before `separator` and removes both; all of it if there is none.
std::string_view cut(std::string_view& text, char separator) noexcept {
  const std::size_t at = text.find(separator);
  const std::string_view before = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view{} : text.substr(at + 1);
  return before;
}

std::string value_text(const TuningParameter& parameter, std::uint64_t value) {
  if (parameter.kind == TuningParameter::Kind::time) return std::to_string(value);
  return value == never ? std::string(never_text) : bytes_text(value);
}

bool parse_value(std::string_view text, const TuningParameter& parameter, std::uint64_t& value) noexcept {
  if (text == never_text) {
    value = never;
    return parameter.kind == TuningParameter::Kind::from;
  }
  if (!parse_bytes(text, value) || value < parameter.least || value > parameter.most) return false;
  return parameter.kind != TuningParameter::Kind::chunk || std::has_single_bit(value);
}

std::string values_of(const TuningParameter& parameter) {
  if (parameter.kind == TuningParameter::Kind::time) {
    return "a time from " + std::to_string(parameter.least) + " to " + std::to_string(parameter.most) +
           " microseconds";
  }
  std::string text = "a size from " + bytes_text(parameter.least) + " to " + bytes_text(parameter.most);
  if (parameter.kind == TuningParameter::Kind::from) text += ", or never";
  if (parameter.kind == TuningParameter::Kind::chunk) text += ", a power of two";
  return text;
}

bool is_retired(std::string_view name) noexcept {
  return std::find(std::begin(retired_figures), std::end(retired_figures), name) != std::end(retired_figures);
}

/// Returns the error in the value; empty if there is none.
std::string read_value(const TuningParameter& parameter, std::string_view text, std::uint64_t& value) {
  if (parse_value(text, parameter, value)) return {};
  return std::string(parameter.name) + " = " + std::string(text) + " is not " + values_of(parameter);
}

void set_entries(const std::vector<TuningEntry>& entries, Tuning& table) {
  for (const TuningEntry& entry : entries) entry.parameter->in(table, entry.link) = entry.value;
}

/// Reads a text line by line; returns an error as text, empty if there is none.
class Parser {
 public:
  explicit Parser(TuningFile& file) noexcept : file_(file) {}

  [[nodiscard]] std::string read(std::string_view text) {
    while (!text.empty() && !is_over_) {
      if (std::string wrong = read_line(cut(text, '\n')); !wrong.empty())
        return std::to_string(lines_) + ": " + wrong;
    }
    if (!is_over_) return std::to_string(lines_) + ": the file ends here without [end]";
    if (file_.driver_version == 0 || file_.gpus.empty())
      return std::to_string(lines_) + ": the file does not name the GPUs and the driver of the measurement";
    return {};
  }

 private:
  [[nodiscard]] std::string read_line(std::string_view rest) {
    ++lines_;
    const std::string_view line = trimmed(cut(rest, '#'));
    if (line.empty()) return {};
    if (line.front() == '[') return begin_section(line);
    std::string_view value = line;
    const std::string_view key = trimmed(cut(value, '='));
    value = trimmed(value);
    if (value.empty()) return std::string(line) + " is not a valid line (name = value)";
    if (!has_format_) return read_format(key, value);
    if (key == "measured") {
      file_.measured = value;
    } else if (key == "driver") {
      return read_driver(value);
    } else if (key == "gpu") {
      const std::string_view uuid = cut(value, ' ');
      file_.gpus.push_back({std::string(uuid), std::string(trimmed(value))});
    } else {
      return read_figure(key, value, trimmed(rest));
    }
    return {};
  }

  [[nodiscard]] std::string read_format(std::string_view key, std::string_view value) {
    if (key != "format") return "the file does not begin with its format";
    if (value != format)
      return "it is of format " + std::string(value) + ", which this version does not know";
    has_format_ = true;
    return {};
  }

  [[nodiscard]] std::string begin_section(std::string_view line) {
    if (line == "[end]") {
      is_over_ = true;
      return {};
    }
    for (const Link link : {Link::nvlink, Link::pcie, Link::same_device}) {
      if (line != '[' + std::string(name_of(link)) + ']') continue;
      section_ = link;
      return {};
    }
    return std::string(line) + " is not a valid section";
  }

  [[nodiscard]] std::string read_driver(std::string_view value) {
    const auto [end, error] =
        std::from_chars(value.data(), value.data() + value.size(), file_.driver_version);
    if (error == std::errc{} && end == value.data() + value.size() && file_.driver_version > 0) return {};
    return "driver = " + std::string(value) + " is not a version";
  }

  [[nodiscard]] std::string read_figure(std::string_view key, std::string_view text,
                                        std::string_view remark) {
    for (const TuningParameter& parameter : tuning_parameters()) {
      if (key != parameter.name || (parameter.of_link == nullptr) != (section_ == Link::none)) continue;
      std::uint64_t value = 0;
      if (std::string wrong = read_value(parameter, text, value); !wrong.empty()) return wrong;
      if (file_.find(parameter, section_) != nullptr) return std::string(key) + " is given twice";
      file_.entries.push_back({&parameter, section_, value, std::string(remark)});
      return {};
    }
    return is_retired(key) ? std::string{} : std::string(key) + " is not a figure of this section";
  }

  TuningFile& file_;
  std::size_t lines_ = 0;
  Link section_ = Link::none;
  bool has_format_ = false;
  bool is_over_ = false;
};

/// Returns the error; empty if the file was read.
std::string read_file(const std::string& path, std::string& text) {
  // opening a pipe would block the job
  const int file = retried([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); });
  if (file < 0) return std::strerror(errno);
  struct stat status {};
  std::string wrong;
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode) ||
      static_cast<std::size_t>(status.st_size) > most_file_bytes) {
    wrong = "it is not a file of penstock tune";
  } else {
    text.resize(static_cast<std::size_t>(status.st_size));
    const ssize_t bytes = retried([&] { return ::read(file, text.data(), text.size()); });
    if (bytes < 0) wrong = std::strerror(errno);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(bytes, 0)));
  }
  ::close(file);
  return wrong;
}

/// Returns why the file is of another machine; empty if it was measured with what this process sees.
std::string why_of_another_machine(const TuningFile& file) {
  const cuda::Driver* driver = cuda::driver();
  int devices = 0;
  int version = 0;
  if (driver == nullptr || driver->cuDeviceGetCount(&devices) != CUDA_SUCCESS) return "no GPU is in use here";
  driver->cuDriverGetVersion(&version);
  for (int device = 0; device < devices; ++device) {
    const std::string uuid = cuda::text_of(cuda::uuid_of(device));
    const auto is_it = [&](const TuningFile::Gpu& gpu) { return gpu.uuid == uuid; };
    if (std::none_of(file.gpus.begin(), file.gpus.end(), is_it))
      return "it was measured on other GPUs (" + uuid + " is not among them)";
  }
  if (file.driver_version != version)
    return "it was measured with driver " + std::to_string(file.driver_version) + ", this is " +
           std::to_string(version);
  return {};
}

void append_entries(std::string& text, const TuningFile& file, Link link) {
  for (const TuningEntry& entry : file.entries) {
    if (entry.link != link) continue;
    text += std::string(entry.parameter->name) + " = " + value_text(*entry.parameter, entry.value);
    if (!entry.remark.empty()) text += "  # " + entry.remark;
    text += '\n';
  }
}

/// Returns whether a part of a wish is a figure: "name=value" with a possible figure's name. Otherwise it
/// names a file.
bool is_figure(std::string_view part) noexcept {
  const std::size_t equals = part.find('=');
  return equals != std::string_view::npos && equals > 0 &&
         part.substr(0, equals).find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string_view::npos;
}

/// Reads one figure of a wish, for all links that have it. Returns the error; empty if there is none.
std::string read_wish(std::string_view name, std::string_view text, std::vector<TuningEntry>& figures) {
  for (const TuningParameter& parameter : tuning_parameters()) {
    if (name != parameter.name) continue;
    std::uint64_t value = 0;
    if (std::string wrong = read_value(parameter, text, value); !wrong.empty()) return wrong;
    if (parameter.of_machine != nullptr) {
      figures.push_back({&parameter, Link::none, value, ""});
    } else {
      for (const Link link : {Link::nvlink, Link::pcie, Link::same_device})
        figures.push_back({&parameter, link, value, ""});
    }
    return {};
  }
  return is_retired(name) ? std::string{} : std::string(name) + " is not a figure";
}

}  // namespace

const TuningEntry* TuningFile::find(const TuningParameter& parameter, Link link) const noexcept {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const TuningEntry& entry) {
    return entry.parameter == &parameter && entry.link == link;
  });
  return found == entries.end() ? nullptr : &*found;
}

Tuning TuningFile::table() const {
  Tuning table = shipped_tuning();
  set_entries(entries, table);
  return table;
}

const char* name_of(Link link) noexcept {
  switch (link) {
    case Link::nvlink:
      return "nvlink";
    case Link::pcie:
      return "pcie";
    case Link::same_device:
      return "same_device";
    case Link::none:
      break;
  }
  return "";
}

std::string text_of(const TuningFile& file) {
  std::string text =
      "# What penstock tune has measured on this machine. Figures that are not here are as shipped.\n"
      "# After each: the message size, and the time by the default/by the alternative, in microseconds.\n";
  text += "format = " + std::string(format) + "\nmeasured = " + file.measured +
          "\ndriver = " + std::to_string(file.driver_version) + '\n';
  for (const TuningFile::Gpu& gpu : file.gpus) text += "gpu = " + gpu.uuid + ' ' + gpu.name + '\n';
  append_entries(text, file, Link::none);
  for (const Link link : {Link::nvlink, Link::pcie, Link::same_device}) {
    const auto is_of_link = [&](const TuningEntry& entry) { return entry.link == link; };
    if (std::none_of(file.entries.begin(), file.entries.end(), is_of_link)) continue;
    text += "\n[" + std::string(name_of(link)) + "]\n";
    append_entries(text, file, link);
  }
  return text + "\n[end]\n";
}

std::string parse_tuning(std::string_view text, TuningFile& file) {
  return Parser(file).read(text);
}

std::string default_tuning_path() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  std::string folder = variable("XDG_CONFIG_HOME");
  if (folder.empty() || folder.front() != '/') {  // the XDG specification ignores relative paths
    folder = variable("HOME");
    if (folder.empty()) return {};
    folder += "/.config";
  }
  char host[256] = "";
  if (::gethostname(host, sizeof host - 1) != 0) return {};
  return folder + "/penstock/tuning-" + host;
}

FoundTuning wished_tuning(std::string_view wish) {
  FoundTuning found;
  while (!wish.empty()) {
    std::string_view value = trimmed(cut(wish, ','));
    if (!is_figure(value)) {
      found.path = value;
      continue;
    }
    const std::string_view name = cut(value, '=');
    if (std::string wrong = read_wish(name, value, found.figures); !wrong.empty()) found.problem = wrong;
  }
  set_entries(found.figures, found.table);
  return found;
}

FoundTuning find_tuning(std::string_view wish) {
  FoundTuning found = wished_tuning(wish);
  found.problem.clear();
  const bool is_default = found.path.empty();
  if (is_default) found.path = default_tuning_path();
  if (found.path == shipped_wish) found.path.clear();
  if (found.path.empty()) return found;
  std::string text;
  if (is_default && ::access(found.path.c_str(), F_OK) != 0) return found;
  if (const std::string wrong = read_file(found.path, text); !wrong.empty()) {
    found.problem = found.path + ": " + wrong;
    return found;
  }
  TuningFile file;
  std::string wrong = parse_tuning(text, file);
  if (!wrong.empty()) {
    found.problem = found.path + ':' + wrong;
  } else if (wrong = why_of_another_machine(file); !wrong.empty()) {
    found.problem = found.path + ": " + wrong;
  } else {
    found.table = file.table();
    set_entries(found.figures, found.table);
    found.file = std::move(file);
  }
  return found;
}

}  // namespace penstock::transports
