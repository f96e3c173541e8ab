#include "interpose/protocol/joint_uploads.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "interpose/calls/transfer_record.hpp"
#include "interpose/node/policy.hpp"
#include "interpose/progress/request_table.hpp"
#include "transports/copy_selection/blocking_copy.hpp"

namespace penstock::interpose {
namespace {

using transports::Upload;

JointUpload* newest = nullptr;

/// Payloads that are uploaded together, and their receives.
struct Group {
  std::array<Upload, transports::most_joint_uploads> uploads;
  std::array<JointUpload*, transports::most_joint_uploads> receives;
  std::size_t count = 0;

  void add(JointUpload& receive, const Upload& upload) noexcept {
    uploads[count] = upload;
    receives[count++] = &receive;
  }
  [[nodiscard]] bool is_full() const noexcept { return count == uploads.size(); }
  [[nodiscard]] std::span<const Upload> all() const noexcept { return {uploads.data(), count}; }
};

Status upload_alone(const Upload& upload) {
  return transports::upload(*upload.view, upload.host);
}

}  // namespace

JointUpload::~JointUpload() {
  if (!is_enlisted()) return;
  if (newest == this) newest = previous_ == this ? nullptr : previous_;
  previous_->next_ = next_;
  next_->previous_ = previous_;
}

void JointUpload::enlist(const transports::BufferView& view) noexcept {
  if (request_table().is_threaded() || !transports::suits_a_joint_upload(view)) return;
  previous_ = newest == nullptr ? this : newest;
  next_ = newest == nullptr ? this : newest->next_;
  previous_->next_ = this;
  next_->previous_ = this;
  newest = this;
}

void JointUpload::upload_with_others() {
  Group group;
  const std::optional<Upload> own = payload();
  if (!own) return;
  group.add(*this, *own);
  bool may_ask = true;
  int looked_at = 0;
  for (JointUpload* other = next_; other != this && !group.is_full(); other = other->next_) {
    if (++looked_at > policy::most_looked_at) break;
    // messages mostly arrive in the order of their receives: behind a pending one few have arrived
    if (!other->has_come(may_ask)) {
      may_ask = false;
    } else if (const std::optional<Upload> upload = other->payload()) {
      if (upload->view->buffer.context == own->view->buffer.context) group.add(*other, *upload);
    }
  }

  const std::uint64_t begin_ns = record::is_on() ? record::now_ns() : 0;
  const bool together =
      group.count >= policy::least_joint_uploads && transports::upload_together(group.all());
  for (std::size_t i = 0; i < group.count; ++i) {
    const Upload& upload = group.uploads[i];
    const Status status = together ? Status{} : upload_alone(upload);
    if (status.ok()) {
      record_own_copy(trace::TransportKind::staged, begin_ns, upload.view->layout.bytes(),
                      transports::BufferKind::pageable, upload.view->buffer.kind,
                      "the payload came through the MPI library");
    }
    group.receives[i]->uploaded(status);
  }
  say_what_was_refused();
}

}  // namespace penstock::interpose
