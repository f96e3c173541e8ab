#include "interpose/calls/communicator_record.hpp"

#include <span>
#include <string>

#include "interpose/record/recorder.hpp"

namespace penstock::interpose {
namespace {

std::string comma_separated(std::span<const int> numbers) {
  std::string text;
  for (const int number : numbers) {
    if (!text.empty()) text += ',';
    text += std::to_string(number);
  }
  return text;
}

}  // namespace

void record_members(std::uint64_t global_id, std::uint32_t local_id, const char* name,
                    const CommunicatorInfo& members) {
  trace::Communicator seen{};
  seen.global_id = global_id;
  seen.local_id = local_id;
  if (*name != '\0') seen.name = record::intern(name);
  seen.members = record::intern(comma_separated(members.world_ranks));
  seen.size = members.size;
  seen.rank = members.rank;
  seen.is_inter = members.is_inter ? 1 : 0;
  seen.kind = trace::RecordKind::communicator;
  record::write_to_stay(seen);
}

}  // namespace penstock::interpose
