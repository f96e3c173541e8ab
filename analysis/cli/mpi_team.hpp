// The processes that a launcher (mpiexec, srun) started together, joined by whichever MPI library it is of.
// The command is linked with none: the library is opened when there are several processes. Knows nothing of
// reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "analysis/sharing/team.hpp"

namespace penstock::cli {

/// What the launcher's environment says of this process.
struct Launched {
  std::size_t own = 0;
  std::size_t processes = 1;
  bool by_openmpi = false;  ///< else by a launcher of MPICH's family, or Slurm with its interface
};
[[nodiscard]] Launched launched() noexcept;

/// Thread: one, which made it. Errors: MPI's own error handler ends the job.
class MpiTeam final : public analysis::Team {
 public:
  /// Null if this process is alone, or no library can be opened: then `why_not` says so.
  [[nodiscard]] static std::unique_ptr<MpiTeam> join(std::string& why_not);
  ~MpiTeam() override;

  [[nodiscard]] std::size_t size() const override { return size_; }
  [[nodiscard]] std::size_t own() const override { return own_; }
  void broadcast(std::size_t sender, std::vector<std::byte>& bytes) override;
  void send_to_first(std::size_t sender, std::vector<std::byte>& bytes) override;
  /// What the first one has.
  [[nodiscard]] int common(int of_first);
  /// Ends all processes: the others would wait for this one.
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
