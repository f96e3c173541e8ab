#include "analysis/report/json/json_parts.hpp"

namespace penstock::analysis::json {
namespace {

const char* name_of(RankEnd end) {
  switch (end) {
    case RankEnd::killed:
      return "killed";
    case RankEnd::aborted:
      return "aborted";
    case RankEnd::exited:
      return "exited";
    case RankEnd::running:
      return "running";
    case RankEnd::finished:
      return "finished";
    default:
      return "missing";
  }
}

const char* name_of(StandstillFigures::Kind kind) {
  switch (kind) {
    case StandstillFigures::Kind::mismatched_collectives:
      return "mismatched_collectives";
    case StandstillFigures::Kind::cycle:
      return "cycle";
    default:
      return "chain";
  }
}

}  // namespace

Json of(const OpenCallFigures& call) {
  return {{"call", call.call},
          {"what", text_or_null(call.what)},
          {"since_s", seconds(call.since_ns)},
          {"waits_for", call.waits_for},
          {"any_is_enough", call.waits_for_any}};
}

Json of(const StandstillFigures& standstill) {
  return {{"kind", name_of(standstill.kind)},
          {"ranks", standstill.ranks},
          {"waiting_ranks", standstill.waiting_ranks},
          {"words", standstill.words}};
}

Json of(const UnfinishedRankFigures& rank) {
  const bool has_call = !rank.last_call.empty();
  return {{"rank", rank.rank},
          {"host", text_or_null(rank.host)},
          {"process_id", rank.process_id == 0 ? Json(nullptr) : Json(rank.process_id)},
          {"state", name_of(rank.state)},
          {"abort_code", rank.state == RankEnd::aborted ? Json(rank.abort_code) : Json(nullptr)},
          {"last_alive_s", rank.last_alive_ns ? Json(seconds(*rank.last_alive_ns)) : Json(nullptr)},
          {"calls", rank.calls_known ? list_of(rank.calls) : Json(nullptr)},
          {"threads_unnoticed", rank.threads_unnoticed},
          {"moves", rank.moves},
          {"last_call", text_or_null(rank.last_call)},
          {"last_call_end_s", has_call ? Json(seconds(rank.last_call_end_ns)) : Json(nullptr)}};
}

Json of(const UnfinishedFigures& unfinished) {
  return {
      {"is_running", unfinished.is_running},
      {"looked_at_unix_s",
       unfinished.looked_at_realtime_ns ? Json(seconds(*unfinished.looked_at_realtime_ns)) : Json(nullptr)},
      {"all_records_read", unfinished.is_whole},
      {"words", unfinished.words},
      {"standstills", list_of(unfinished.standstills)},
      {"next", text_or_null(unfinished.next)},
      {"ranks", list_of(unfinished.ranks)}};
}

}  // namespace penstock::analysis::json
