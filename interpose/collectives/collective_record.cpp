#include "interpose/collectives/collective_record.hpp"

#include <utility>

#include "interpose/record/recorder.hpp"

namespace penstock::interpose {
namespace {

/// Does what the one inside does, and writes when it was complete.
class RecordedCollective final : public Pending {
 public:
  RecordedCollective(const trace::CollectiveOperation& operation, std::unique_ptr<Pending> inside) noexcept
      : operation_(operation), inside_(std::move(inside)) {}

  bool advance(bool arrived, const MPI_Status& status) override {
    return inside_ == nullptr ? arrived : inside_->advance(arrived, status);
  }
  void mend(MPI_Status& status) const override {
    if (inside_ != nullptr) inside_->mend(status);
  }
  int complete(MPI_Status& status, int code) override {
    if (record::is_on()) {
      operation_.complete_ns = record::now_ns();
      record::write(operation_);
    }
    return inside_ == nullptr ? code : inside_->complete(status, code);
  }
  [[nodiscard]] Progress progress() const override {
    return inside_ == nullptr ? Progress::none : inside_->progress();
  }
  void leaving() override {
    if (inside_ != nullptr) inside_->leaving();
  }
  void arrived(const MPI_Status& status) override {
    if (inside_ != nullptr) inside_->arrived(status);
  }
  void detached() override {
    if (inside_ != nullptr) inside_->detached();
  }
  [[nodiscard]] bool may_be_large() const override { return inside_ != nullptr && inside_->may_be_large(); }
  [[nodiscard]] bool should_begin(const MPI_Status& arrived) const override {
    return inside_ != nullptr && inside_->should_begin(arrived);
  }

 private:
  trace::CollectiveOperation operation_;
  const std::unique_ptr<Pending> inside_;
};

}  // namespace

std::unique_ptr<Pending> recorded(const CallScope& scope, std::unique_ptr<Pending> pending) {
  if (!scope.recording()) return pending;
  return std::make_unique<RecordedCollective>(scope.collective_operation(), std::move(pending));
}

}  // namespace penstock::interpose
