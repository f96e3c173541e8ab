#include "analysis/job_timeline/piece_columns.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/job_timeline/columns.hpp"

namespace penstock::analysis::job_timeline {
namespace {

/// A slice's name, bytes, peer and site.
struct Words {
  std::uint32_t name = 0;
  std::uint64_t bytes = 0;
  std::int32_t peer = -1;
  std::uint32_t site = 0;
};

Words words_of(const RankTrace& rank, const exports::Slice& slice, exports::RankNames& names,
               TextTable& texts) {
  const std::uint32_t i = slice.index;
  switch (slice.source) {
    case exports::Source::call: {
      const trace::MpiCall& call = rank.calls[i].record;
      const std::string& name = names.text(call.function);
      return {texts.id_of(call.repeats > 1 ? fmt::format("{} × {}", name, call.repeats) : name), call.bytes,
              call.peer, texts.id_of(names.site(call.call_site).text)};
    }
    case exports::Source::range:
      return {texts.id_of(names.text(rank.ranges[i].name))};
    case exports::Source::half: {
      const trace::MessageHalf& half = rank.halves[i].record;
      return {texts.id_of(half.direction == trace::Direction::send ? "send" : "receive"), half.bytes,
              half.peer, texts.id_of(names.site(half.call_site).text)};
    }
    case exports::Source::operation: {
      const trace::CollectiveOperation& operation = rank.operations[i].record;
      return {texts.id_of(names.text(operation.function)), operation.bytes, operation.root,
              texts.id_of(names.site(operation.call_site).text)};
    }
    case exports::Source::transfer: {
      const trace::Transfer& transfer = rank.transfers[i].record;
      return {texts.id_of(
                  fmt::format("{}: {}", analysis::name_of(transfer.transport), names.text(transfer.reason))),
              transfer.bytes, transfer.peer};
    }
    case exports::Source::kernel:
      return {texts.id_of(names.activity(rank.kernels[i])), 0};
    case exports::Source::copy:
      return {texts.id_of(names.activity(rank.copies[i])), rank.copies[i].bytes};
    case exports::Source::synchronisation:
      break;
  }
  return {texts.id_of(names.text(rank.synchronisations[i].what))};
}

/// Limits bytes to the largest integer of the page's numbers: a damaged recording may contain anything.
std::uint64_t plausible(std::uint64_t bytes) {
  constexpr std::uint64_t largest = (std::uint64_t{1} << 53) - 1;
  return std::min(bytes, largest);
}

/// Writes −2 (any source) and −1 (none) as 0 and 1.
std::uint64_t written(std::int32_t peer) {
  return peer < -2 ? 1 : static_cast<std::uint64_t>(peer + 2);
}

}  // namespace

void write_pieces(const RankTrace& rank, const exports::Track& track, std::size_t number,
                  const Detail& detail, exports::RankNames& names, TextTable& texts, TrackColumns& columns) {
  const bool has_bytes = track.kind != exports::TrackKind::synchronisation;
  const bool has_peers = has_bytes && track.kind != exports::TrackKind::stream;
  columns.fields = {"begin", "length", "state", "name"};
  if (has_bytes) {
    columns.fields.emplace_back("bytes");
  }
  if (has_peers) {
    columns.fields.insert(columns.fields.end(), {"peer", "site"});
  }
  ByteWriter out;
  std::uint64_t before_ns = 0;
  columns.pieces = 0;
  for (const exports::Slice& slice : track.slices) {
    if (!detail.holds(number, slice.begin_ns, slice.end_ns)) {
      continue;
    }
    const Words words = words_of(rank, slice, names, texts);
    ++columns.pieces;
    out.integer(slice.begin_ns - before_ns);
    before_ns = slice.begin_ns;
    out.integer(slice.end_ns - slice.begin_ns);
    out.integer(static_cast<std::uint64_t>(state_of(rank, slice)));
    out.integer(words.name);
    if (has_bytes) {
      out.integer(plausible(words.bytes));
    }
    if (has_peers) {
      out.integer(written(words.peer));
      out.integer(words.site);
    }
  }
  columns.data = base64(out.bytes());
}

void write_pieces(const std::vector<Wait>& waits, const Detail& detail, TrackColumns& columns) {
  columns.fields = {"begin", "length", "state", "peer", "exposed"};
  ByteWriter out;
  std::uint64_t before_ns = 0;
  columns.pieces = 0;
  for (const Wait& wait : waits) {
    if (!detail.holds(0, wait.begin_ns, wait.end_ns)) {
      continue;
    }
    ++columns.pieces;
    out.integer(wait.begin_ns - before_ns);
    before_ns = wait.begin_ns;
    out.integer(wait.end_ns - wait.begin_ns);
    out.integer(static_cast<std::uint64_t>(state_of(wait)));
    out.integer(written(wait.counterpart));
    out.integer(wait.exposed_ns);
  }
  columns.data = base64(out.bytes());
}

}  // namespace penstock::analysis::job_timeline
