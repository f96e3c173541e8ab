// The processes that a launcher (mpiexec, srun) started together, connected by that launcher's MPI library.
// The command is linked with none: the library is opened if there are several processes. Must not know
// reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "analysis/sharing/team.hpp"

namespace penstock::cli {

/// This process according to the launcher's environment.
struct Launched {
  std::size_t own = 0;
  std::size_t processes = 1;
  bool by_openmpi = false;  ///< false: by a launcher of MPICH's family, or Slurm with its interface
};
[[nodiscard]] Launched launched() noexcept;

/// Thread: only the one that created it. Errors: MPI's own error handler ends the job.
class MpiTeam final : public analysis::Team {
 public:
  /// Returns null if this process is alone, or if no library can be opened; then `why_not` has the reason.
  [[nodiscard]] static std::unique_ptr<MpiTeam> join(std::string& why_not);
  ~MpiTeam() override;

  [[nodiscard]] std::size_t size() const override { return size_; }
  [[nodiscard]] std::size_t own() const override { return own_; }
  void broadcast(std::size_t sender, std::vector<std::byte>& bytes) override;
  void send_to_first(std::size_t sender, std::vector<std::byte>& bytes) override;
  /// Returns the first process's value on all.
  [[nodiscard]] int common(int of_first);
  /// Ends all processes, because the others would wait for this one.
  [[noreturn]] void abort(int exit_code);

  class Library;  ///< one for each ABI

 private:
  MpiTeam(std::unique_ptr<Library> library, std::size_t own, std::size_t size);
  template <typename Move>
  void in_pieces(bool sends, std::vector<std::byte>& bytes, const Move& move);

  std::unique_ptr<Library> library_;
  std::size_t own_;
  std::size_t size_;
};

}  // namespace penstock::cli
