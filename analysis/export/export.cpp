#include "analysis/export/export.hpp"

#include <fmt/format.h>

#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "analysis/export/common/exporter.hpp"
#include "analysis/export/common/output.hpp"
#include "analysis/export/csv_export.hpp"
#include "analysis/export/otf2/otf2_export.hpp"
#include "analysis/export/perfetto_export.hpp"
#include "analysis/export/perfetto_packets.hpp"
#include "analysis/naming/code_names.hpp"
#include "analysis/naming/frame_names.hpp"
#include "analysis/recording/job.hpp"
#include "analysis/report/text_figures.hpp"

namespace penstock::analysis::exports {
namespace {

/// Returns an empty string if this build writes that format, else why not.
std::string why_not(Format format) {
  switch (format) {
    case Format::perfetto:
      return why_no_perfetto();
    case Format::otf2:
      return why_no_otf2();
    case Format::csv:
      break;
  }
  return "";
}

bool is_ours(Format format, const std::filesystem::path& path) {
  switch (format) {
    case Format::perfetto:
      return perfetto::is_trace(path);
    case Format::otf2:
      return is_otf2_export(path);
    case Format::csv:
      break;
  }
  return is_csv_export(path);
}

/// The destination of an export, and its writer.
struct Work {
  Destination destination;
  std::unique_ptr<OutputFile> file{};  ///< of formats that are one file
  std::unique_ptr<Exporter> exporter{};

  explicit Work(const Request& request)
      : destination(
            request.to,
            request.format == Format::perfetto ? Destination::Form::file : Destination::Form::directory,
            request.replace,
            [&request](const std::filesystem::path& path) { return is_ours(request.format, path); }) {}

  void open(Format format, const JobClock& clock) {
    switch (format) {
      case Format::perfetto:
        file = std::make_unique<OutputFile>(destination.work(), destination.shown());
        exporter = make_perfetto_exporter(*file, clock);
        break;
      case Format::otf2:
        exporter = make_otf2_exporter(destination, clock);
        break;
      case Format::csv:
        exporter = make_csv_exporter(destination, clock);
        break;
    }
  }
  void finish() {
    exporter->finish();
    if (file != nullptr) file->close();
    exporter.reset();
  }
  [[nodiscard]] std::uint64_t bytes() const {
    std::error_code error;
    if (file != nullptr) return file->bytes();
    std::uint64_t sum = 0;
    for (std::filesystem::recursive_directory_iterator entry(destination.work(), error), end;
         !error && entry != end; entry.increment(error)) {
      if (entry->is_regular_file(error)) sum += entry->file_size(error);
    }
    return sum;
  }
};

}  // namespace

std::string viewer_note(const std::filesystem::path& file, std::uint64_t bytes) {
  constexpr std::uint64_t viewer_limit_bytes = 4'000'000'000;  // the page's memory is addressed by 32 bits
  if (bytes <= viewer_limit_bytes) return "";
  return fmt::format(
      "{} has {}: Perfetto's page fails above some 4 GB; its trace_processor, run beside the page, takes "
      "more",
      file.string(), bytes_text(bytes));
}

Outcome export_recording(const Request& request, const Progress& progress) {
  if (std::string why = why_not(request.format); !why.empty()) {
    throw TraceError({request.to, std::nullopt, std::move(why)});
  }
  Job job = find_job(request.recording);
  Work work(request);
  Meter meter(job, 2, progress);
  Outcome outcome;
  MessageIndex messages;
  JobClock clock;
  RankTrace rank;
  const auto load = [&](std::size_t position) {
    load_rank(job.files[position], rank, LoadOf::all, {.from_ns = job.own_known[position].from_ns});
  };
  for (std::size_t position = 0; position < job.files.size(); ++position) {
    const std::filesystem::path& file = job.files[position];
    meter.advance(0, "reading");
    load(position);
    messages.add(rank);
    clock.add(messages.host_of(rank), rank.header);
    outcome.records += rank.record_count;
    outcome.flaws.insert(outcome.flaws.end(), std::make_move_iterator(rank.flaws.begin()),
                         std::make_move_iterator(rank.flaws.end()));
    meter.advance(Meter::records_in(file), "reading");
  }
  messages.join();
  if (clock.host_count() > 1) {
    outcome.notes.push_back(
        fmt::format("{} hosts are put on one axis by their system clocks, which may differ by "
                    "some milliseconds",
                    clock.host_count()));
  }

  work.open(request.format, clock);
  KeptNames kept(request.recording);
  FrameNames frame_names(request.skip, &kept);
  for (std::size_t position = 0; position < job.files.size(); ++position) {
    load(position);
    RankNames names(rank, frame_names);
    const std::size_t done_then = meter.done() + Meter::records_in(job.files[position]);
    work.exporter->add({rank, position, messages, clock.of(messages.host_of(rank)), names,
                        [&meter](std::size_t records) { meter.advance(records, "writing"); }});
    meter.advance_to(done_then, "writing");
  }
  work.finish();
  kept.save();
  for (Flaw& flaw : flaws_of_other_builds(frame_names.modules())) {
    outcome.flaws.push_back(std::move(flaw));
  }
  outcome.bytes = work.bytes();
  work.destination.commit();
  outcome.flaws.insert(outcome.flaws.begin(), std::make_move_iterator(job.flaws.begin()),
                       std::make_move_iterator(job.flaws.end()));
  if (std::string why = why_no_lines(); !why.empty()) outcome.notes.push_back(std::move(why));
  if (request.format == Format::perfetto) {
    if (std::string note = viewer_note(request.to, outcome.bytes); !note.empty())
      outcome.notes.push_back(note);
  }
  return outcome;
}

}  // namespace penstock::analysis::exports
