#include "analysis/cli/tuning_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "analysis/report/text_figures.hpp"

namespace penstock::cli {
namespace {

using analysis::bytes_text;
using transports::never;
using transports::TuningEntry;
using transports::TuningParameter;
using transports::cuda::Link;

std::string origin_of(const transports::FoundTuning& tuning) {
  if (tuning.file) return fmt::format("{}, measured {}", tuning.path, tuning.file->measured);
  if (!tuning.problem.empty()) return fmt::format("as shipped, since {}", tuning.problem);
  if (tuning.path.empty()) return "as shipped";
  return fmt::format("as shipped (penstock tune measures this machine and writes {})", tuning.path);
}

/// One figure: what it decides, and where its value comes from.
class Figure {
 public:
  Figure(const transports::FoundTuning& tuning, std::string_view name, Link link)
      : is_of_measured_table_(tuning.file.has_value()) {
    for (const TuningParameter& each : transports::tuning_parameters()) {
      if (name == each.name) parameter_ = &each;
    }
    transports::Tuning table = tuning.table;
    value_ = parameter_->in(table, link);
    const Link of = parameter_->of_link == nullptr ? Link::none : link;
    if (tuning.file) entry_ = tuning.file->find(*parameter_, of);
    is_asked_for_ = std::any_of(tuning.figures.begin(), tuning.figures.end(), [&](const TuningEntry& each) {
      return each.parameter == parameter_ && each.link == of;
    });
  }

  /// Returns "staged, from 64 KiB on relayed".
  [[nodiscard]] std::string from(std::string_view below, std::string_view above) const {
    if (value_ == never) return std::string(below);
    if (value_ == 0) return std::string(above);
    return fmt::format("{}, from {} on {}", below, bytes_text(value_), above);
  }
  [[nodiscard]] std::string up_to(std::string_view below, std::string_view above) const {
    if (value_ == 0) return std::string(above);
    return fmt::format("{} up to {}, then {}", below, bytes_text(value_), above);
  }
  [[nodiscard]] std::string microseconds(std::string_view text) const {
    return value_ == 0 ? std::string("never") : fmt::format(fmt::runtime(text), value_);
  }
  [[nodiscard]] std::string chunk() const { return fmt::format("in chunks of up to {}", bytes_text(value_)); }

  /// Returns where the value comes from, in a measured table.
  [[nodiscard]] std::string_view why() const {
    if (is_asked_for_) return "  (set by PENSTOCK_TUNING)";
    if (!is_of_measured_table_) return "";
    return entry_ != nullptr ? "  (measured)" : "  (as shipped)";
  }

 private:
  const TuningParameter* parameter_ = nullptr;
  const TuningEntry* entry_ = nullptr;
  bool is_of_measured_table_;
  bool is_asked_for_ = false;
  std::uint64_t value_ = 0;
};

void figure_line(std::string_view what, const std::string& ways, const Figure& figure) {
  show_line("", fmt::format("{:<30}{}{}", what, ways, figure.why()));
}

void show_link(const transports::FoundTuning& tuning, Link link) {
  const auto figure = [&](std::string_view name) { return Figure(tuning, name, link); };
  const Figure staged = figure("staged_from");
  figure_line("device memory", staged.from("peer", "staged"), staged);
  const Figure relayed = figure("relayed_from");
  figure_line("pools, cuMemMap, managed", relayed.from("staged", "relayed"), relayed);
  if (link != Link::same_device) {
    const Figure chunk = figure("relayed_chunk");
    figure_line("… relayed", chunk.chunk(), chunk);
  }
}

bool has_link(const transports::MachineInfo& machine, Link link) {
  const int devices = static_cast<int>(machine.devices.size());
  for (int a = 0; a < devices; ++a) {
    for (int b = 0; b < devices; ++b) {
      if (transports::cuda::link_between(a, b) == link) return true;
    }
  }
  return false;
}

}  // namespace

void show_line(std::string_view title, std::string_view text) {
  fmt::print("{:<19}{}\n", title, text);
}

void show_tuning(const transports::FoundTuning& tuning, const transports::MachineInfo& machine) {
  show_line("transports by", origin_of(tuning));
  struct Title {
    Link link;
    const char* text;
  };
  for (const Title title : {Title{Link::nvlink, "between GPUs with NVLink:"},
                            Title{Link::pcie, "between GPUs with peer access over PCIe:"},
                            Title{Link::same_device, "on one GPU:"}}) {
    if (!has_link(machine, title.link)) continue;
    show_line("", title.text);
    show_link(tuning, title.link);
  }
  if (has_link(machine, Link::none)) show_line("", "between GPUs without peer access: staged");
  show_line("", "any:");
  const auto figure = [&](std::string_view name) { return Figure(tuning, name, Link::none); };
  const Figure pushed = figure("pushed_from");
  figure_line("pinned memory to a GPU", pushed.from("staged", "pushed"), pushed);
  const Figure bounced = figure("bounced_from");
  figure_line("a GPU to pageable memory", bounced.from("by the driver", "through a pinned ring"), bounced);
  const Figure batched = figure("batched_to");
  figure_line("small copies at the same time", batched.up_to("one kernel", "a copy each"), batched);
  const Figure of_host = figure("host_batched_to");
  figure_line("… from or to pinned memory", of_host.up_to("one kernel", "a copy each"), of_host);
  const Figure staged = figure("staged_chunk");
  figure_line("staged in host memory", staged.chunk(), staged);
  const Figure network = figure("network_from");
  figure_line("between nodes", network.from("in one piece", "in chunks"), network);
  const Figure uploaded = figure("uploaded_from");
  figure_line("host memory to a GPU", uploaded.from("by the MPI library", "fetched by the GPU"), uploaded);
  const Figure packed = figure("packed_from");
  figure_line("staged lists of integers", packed.from("as they are", "as bitmaps"), packed);
  const Figure network_packed = figure("network_packed_from");
  figure_line("… between nodes", network_packed.from("as they are", "as bitmaps"), network_packed);
  const Figure posted = figure("posted_from");
  figure_line("posted receives", posted.from("read by the receiver", "written by the sender"), posted);
  const Figure fused = figure("fused_to");
  figure_line("reductions", fused.up_to("one kernel a rank", "by messages"), fused);
  const Figure shared = figure("shared_gpu_from");
  figure_line("messages on a shared GPU", shared.from("through host memory", "within it"), shared);
  const Figure exchanged = figure("shared_exchanged_from");
  figure_line("collectives on a shared GPU", exchanged.from("by the MPI library", "by messages"), exchanged);
  const Figure reduced = figure("shared_reduced_from");
  figure_line("reductions on a shared GPU", reduced.from("by the MPI library", "by kernels"), reduced);
  const Figure buffered = figure("buffered_to");
  figure_line("standard sends", buffered.up_to("never wait", "for the receiver"), buffered);
  const Figure timeout = figure("receiver_timeout_us");
  figure_line("… that wait", timeout.microseconds("{} µs at most"), timeout);
  const Figure linger = figure("linger_us");
  figure_line("a resident kernel waits", linger.microseconds("{} µs for the next small copy"), linger);
}

std::string tuning_wish() {
  const char* const wish = std::getenv("PENSTOCK_TUNING");
  return wish == nullptr ? "" : wish;
}

}  // namespace penstock::cli
