#include "interpose/collectives/deferred/collective_record.hpp"

#include <utility>

#include "interpose/record/recorder.hpp"

namespace penstock::interpose {
namespace {

/// Forwards to `inside`, and records the time of completion.
class RecordedCollective final : public Pending {
 public:
  explicit RecordedCollective(const trace::CollectiveOperation& operation,
                              std::unique_ptr<Pending> inside = nullptr) noexcept
      : operation_(operation), inside_(std::move(inside)) {}
  void wrap(std::unique_ptr<Pending> inside) noexcept { inside_ = std::move(inside); }

  bool advance(bool arrived, const MPI_Status& status) override {
    return inside_ == nullptr ? arrived : inside_->advance(arrived, status);
  }
  void fix_status(MPI_Status& status) const override {
    if (inside_ != nullptr) inside_->fix_status(status);
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
  std::unique_ptr<Pending> inside_;
};

/// Forwards to `inside`, and numbers the starts, as all ranks do.
class RecordedStarts final : public Recipe {
 public:
  RecordedStarts(const trace::CollectiveOperation& initialised, std::unique_ptr<Recipe> inside) noexcept
      : initialised_(initialised), inside_(std::move(inside)) {}

  int start(const CallScope& scope, Operation& operation) override {
    ++starts_;
    if (!scope.recording()) return inside_->start(scope, operation);
    auto record = std::make_unique<RecordedCollective>(scope.collective_start(initialised_, starts_));
    const int code = inside_->start(scope, operation);
    if (code != MPI_SUCCESS) return code;
    record->wrap(std::move(operation.pending));
    operation.pending = std::move(record);
    return code;
  }
  [[nodiscard]] Posted posts() const noexcept override { return inside_->posts(); }

 private:
  const trace::CollectiveOperation initialised_;
  const std::unique_ptr<Recipe> inside_;
  std::uint32_t starts_ = 0;
};

}  // namespace

std::unique_ptr<Pending> recorded(const CallScope& scope, std::unique_ptr<Pending> pending) {
  if (!scope.recording()) return pending;
  return std::make_unique<RecordedCollective>(scope.collective_operation(), std::move(pending));
}

std::unique_ptr<Recipe> recorded(const CallScope& scope, std::unique_ptr<Recipe> recipe) {
  if (!scope.recording()) return recipe;
  return std::make_unique<RecordedStarts>(scope.collective_operation(), std::move(recipe));
}

}  // namespace penstock::interpose
