// The file that `penstock tune` writes for a machine: its path, its contents, and whether it may be used
// here. It is small enough for people to read, and for a job to read at its first use of a GPU. An error in a
// file is reported in one line, with its place, and the shipped figures hold. This header knows neither MPI
// nor how anything is measured.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transports/cuda/devices.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::transports {

/// One measured figure.
struct TuningEntry {
  const TuningParameter* parameter = nullptr;
  cuda::Link link = cuda::Link::none;  ///< `none`: of the machine
  std::uint64_t value = 0;
  std::string remark;  ///< the measurements behind it, for people
};

struct TuningFile {
  struct Gpu {
    std::string uuid;
    std::string name;
  };
  std::string measured;    ///< date and time
  int driver_version = 0;  ///< cuDriverGetVersion
  std::vector<Gpu> gpus;
  std::vector<TuningEntry> entries;

  [[nodiscard]] const TuningEntry* find(const TuningParameter& parameter, cuda::Link link) const noexcept;
  /// Returns the shipped table with the measured figures in place of its own.
  [[nodiscard]] Tuning table() const;
};

/// `nvlink`, `pcie`, `same_device`; `none` has no name.
[[nodiscard]] const char* name_of(cuda::Link link) noexcept;

[[nodiscard]] std::string text_of(const TuningFile& file);
/// Returns the error in the text, after the number of its line ("7: …"); empty if there is none.
[[nodiscard]] std::string parse_tuning(std::string_view text, TuningFile& file);

/// Returns $XDG_CONFIG_HOME (or ~/.config) /penstock/tuning-HOSTNAME; empty if there is no home.
[[nodiscard]] std::string default_tuning_path();
/// PENSTOCK_TUNING has this value, in place of a file's name, if no file is to be read.
inline constexpr std::string_view shipped_wish = "shipped";

/// A table and its source.
struct FoundTuning {
  Tuning table = shipped_tuning();
  std::optional<TuningFile> file;    ///< the file that was read; none: the table is the shipped one
  std::vector<TuningEntry> figures;  ///< single figures of the request, which replace the file's
  std::string path;                  ///< of the file that was looked for; empty: none was
  std::string problem;               ///< why that file does not hold; empty: nothing to report
};

/// Finds the table for `wish`, the value of PENSTOCK_TUNING: a file or `shipped`, and figures, all in any
/// order and separated by commas ("table,relayed_from=2M,linger_us=0"). Without a file: that at the default
/// path, if there is one. A file holds if it has all GPUs that this process sees, and this driver. CUDA must
/// be in use. Cost: reads a file.
[[nodiscard]] FoundTuning find_tuning(std::string_view wish);
/// Returns the shipped table with the figures of the wish; `problem` is the error in a figure, which is left
/// out. Reads no file and needs no CUDA.
[[nodiscard]] FoundTuning wished_tuning(std::string_view wish);

}  // namespace penstock::transports
