#include "analysis/export/csv_export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "analysis/export/common/communicators.hpp"
#include "analysis/export/csv_table.hpp"
#include "analysis/report/message_figures.hpp"
#include "analysis/report/text_figures.hpp"

namespace penstock::analysis::exports {
namespace {

struct TableWords {
  std::string_view file;
  std::string_view columns;
};

constexpr TableWords ranks_table{
    "ranks.csv",
    "rank,host,process_id,program,mpi,gpu,begin_ns,end_ns,begin_unix_ns,dropped_records,dropped_gpu_records"};
constexpr TableWords calls_table{
    "mpi_calls.csv",
    "rank,thread,begin_ns,end_ns,function,communicator,peer_rank,tag,bytes,buffer,"
    "call_site,file,line,collective_number,calls,waits,communicator_number"};
constexpr TableWords messages_table{
    "messages.csv",
    "message,send_rank,receive_rank,communicator,tag,bytes,send_post_ns,send_complete_ns,receive_post_ns,"
    "receive_complete_ns,send_buffer,receive_buffer,transport,transfer_begin_ns,transfer_end_ns,pack_ns,wait_"
    "ns,"
    "call_site,key"};
constexpr TableWords operations_table{"nonblocking_collectives.csv",
                                      "rank,thread,post_ns,complete_ns,function,communicator,collective_"
                                      "number,start,root_rank,bytes,call_site,communicator_number"};
constexpr TableWords transfers_table{
    "transfers.csv",
    "rank,thread,begin_ns,end_ns,bytes,peer_rank,source,destination,transport,"
    "reason,pack_ns,wait_ns,key,wire_bytes"};
constexpr TableWords activities_table{
    "gpu_activities.csv",
    "rank,device,stream,begin_ns,end_ns,kind,name,bytes,correlation,issued_by_penstock,os_thread,issued_ns"};
constexpr TableWords ranges_table{"ranges.csv", "rank,thread,begin_ns,end_ns,name,domain,depth"};
constexpr TableWords waits_table{"cuda_synchronisations.csv",
                                 "rank,device,stream,begin_ns,end_ns,what,correlation,issued_by_penstock"};
constexpr TableWords power_table{"gpu_power.csv",
                                 "rank,gpu,index,begin_ns,end_ns,power_mw,energy_mj,sm_mhz,most_sm_mhz,"
                                 "memory_mhz,temperature_c,throttle_reasons"};
constexpr TableWords nccl_table{"nccl_calls.csv",
                                "rank,os_thread,begin_ns,end_ns,function,nccl_communicator,number,bytes,peer,"
                                "communicator_ranks,communicator_rank"};
constexpr std::array all_tables{ranks_table,     calls_table,      messages_table, operations_table,
                                transfers_table, activities_table, ranges_table,   waits_table,
                                power_table,     nccl_table};

class CsvExporter : public Exporter {
 public:
  CsvExporter(const Destination& destination, const JobClock& clock)
      : clock_(clock),
        ranks_(open(destination, ranks_table)),
        calls_(open(destination, calls_table)),
        messages_(open(destination, messages_table)),
        operations_(open(destination, operations_table)),
        transfers_(open(destination, transfers_table)),
        activities_(open(destination, activities_table)),
        ranges_(open(destination, ranges_table)),
        waits_(open(destination, waits_table)),
        power_(open(destination, power_table)),
        nccl_(open(destination, nccl_table)) {}

  void add(const ExportedRank& rank) override {
    const trace::FileHeader& header = rank.trace().header;
    ranks_.cell(header.world_rank)
        .cell(clean_text(header.host_name))
        .cell(header.process_id)
        .cell(clean_text(header.program))
        .cell(clean_text(short_version(header.mpi_version)))
        .cell(clean_text(header.device_name));
    times(ranks_, rank.clock(), rank.trace().begin_ns, rank.trace().end_ns);
    ranks_.cell(header.begin_ns + header.realtime_offset_ns)
        .cell(header.dropped_records)
        .cell(header.dropped_gpu_records)
        .end_row();
    communicators_.begin_rank(rank.trace(), [&](std::uint32_t id) { return rank.names().text(id); });
    add_calls(rank);
    add_messages(rank);
    add_operations(rank);
    add_transfers(rank);
    add_activities(rank, rank.trace().kernels);
    add_activities(rank, rank.trace().copies);
    add_ranges(rank);
    add_waits(rank);
    add_power(rank);
    add_nccl_calls(rank);
  }

  void finish() override {
    for (CsvTable* table : {&ranks_, &calls_, &messages_, &operations_, &transfers_, &activities_, &ranges_,
                            &waits_, &power_, &nccl_}) {
      table->close();
    }
  }

 private:
  static CsvTable open(const Destination& destination, const TableWords& words) {
    return {destination.work() / words.file, destination.shown() / words.file, words.columns};
  }

  /// Writes ns since the first rank returned from MPI_Init; earlier times are negative.
  void time(CsvTable& table, const RankClock& clock, std::uint64_t host_ns) const {
    table.cell(static_cast<std::int64_t>(clock(host_ns)) - static_cast<std::int64_t>(clock_.begin_ns()));
  }
  void times(CsvTable& table, const RankClock& clock, std::uint64_t begin_ns, std::uint64_t end_ns) const {
    time(table, clock, begin_ns);
    time(table, clock, end_ns);
  }
  void time_if_known(CsvTable& table, const RankClock& clock, std::uint64_t host_ns) const {
    if (host_ns != 0) {
      time(table, clock, host_ns);
    } else {
      table.cell(std::string_view());
    }
  }
  static std::string_view buffer_name(trace::BufferKind kind) {
    return kind == trace::BufferKind::unknown ? "" : name_of(kind);
  }
  static std::string_view transport_name(trace::TransportKind kind) {
    return kind == trace::TransportKind::none ? "" : name_of(kind);
  }

  /// Writes what all ranks of a communicator call it: names are the ranks' own, and need not differ.
  void communicator_number(CsvTable& table, std::uint32_t local_id) const {
    const std::optional<std::uint32_t> number = communicators_.known_number_of(local_id);
    table.cell_if(number.has_value() && *number != JobCommunicators::self, number.value_or(0));
  }

  void add_calls(const ExportedRank& rank) {
    for (const Call& call : rank.trace().calls) {
      const trace::MpiCall& record = call.record;
      const NamedSite& site = rank.names().site(record.call_site);
      calls_.cell(rank.trace().header.world_rank).cell(call.lane);
      times(calls_, rank.clock(), record.begin_ns, record.end_ns);
      calls_.cell(rank.names().text(record.function))
          .cell(rank.names().communicator(record.communicator))
          .cell_if(record.peer != -1, record.peer)
          .cell_if(record.tag != -1, record.tag)
          .cell(record.bytes)
          .cell(buffer_name(record.buffer))
          .cell(site.text)
          .cell(site.file)
          .cell_if(site.line != 0, site.line)
          .cell_if(record.collective_ordinal != 0, record.collective_ordinal)
          .cell(record.repeats)
          .cell(static_cast<int>(record.waits));
      communicator_number(calls_, record.communicator);
      calls_.end_row();
      rank.count_record();
    }
  }

  /// Writes one row per message, from the sender's half; a receive whose sender is missing has its own row.
  void add_messages(const ExportedRank& rank) {
    for (std::size_t i = 0; i < rank.trace().halves.size(); ++i) {
      const trace::MessageHalf& half = rank.trace().halves[i].record;
      const MessageFacts facts = rank.message(i);
      const bool is_send = half.direction == trace::Direction::send;
      rank.count_record();
      if (!is_send && facts.partner) continue;
      const std::int32_t own = rank.trace().header.world_rank;
      messages_.cell_if(facts.number != 0, facts.number)
          .cell(is_send ? own : half.peer)
          .cell(is_send ? half.peer : own)
          .cell(rank.names().communicator(half.communicator))
          .cell(half.tag)
          .cell(half.bytes);
      if (!is_send) messages_.empty().empty();
      times(messages_, rank.clock(), half.post_ns, half.complete_ns);
      if (is_send) partner_times(facts.partner);
      const auto partner_buffer =
          facts.partner ? std::string_view(buffer_name(facts.partner->buffer)) : std::string_view();
      messages_.cell(is_send ? buffer_name(half.buffer) : partner_buffer)
          .cell(is_send ? partner_buffer : buffer_name(half.buffer))
          .cell(transport_name(facts.transport));
      transfer_times(facts.transfer);
      messages_.cell(rank.names().site(half.call_site).text).cell_if(half.key != 0, half.key).end_row();
    }
  }
  void partner_times(const std::optional<KnownHalf>& partner) {
    if (!partner) {
      messages_.empty().empty();
    } else {
      times(messages_, clock_.of(partner->host), partner->post_ns, partner->complete_ns);
    }
  }
  void transfer_times(const TransferFacts* transfer) {
    if (transfer == nullptr) {
      messages_.empty().empty().empty().empty();
      return;
    }
    times(messages_, clock_.of(transfer->host), transfer->begin_ns, transfer->end_ns);
    messages_.cell(transfer->pack_ns).cell(transfer->wait_ns);
  }

  void add_operations(const ExportedRank& rank) {
    for (const Operation& operation : rank.trace().operations) {
      const trace::CollectiveOperation& record = operation.record;
      operations_.cell(rank.trace().header.world_rank).cell(operation.lane);
      times(operations_, rank.clock(), record.post_ns, record.complete_ns);
      operations_.cell(rank.names().text(record.function))
          .cell(rank.names().communicator(record.communicator))
          .cell(record.collective_ordinal)
          .cell_if(record.start != 0, record.start)
          .cell_if(record.root != -1, record.root)
          .cell(record.bytes)
          .cell(rank.names().site(record.call_site).text);
      communicator_number(operations_, record.communicator);
      operations_.end_row();
      rank.count_record();
    }
  }

  void add_transfers(const ExportedRank& rank) {
    for (const Transfer& transfer : rank.trace().transfers) {
      const trace::Transfer& record = transfer.record;
      transfers_.cell(rank.trace().header.world_rank).cell(transfer.lane);
      times(transfers_, rank.clock(), record.begin_ns, record.end_ns);
      transfers_.cell(record.bytes)
          .cell_if(record.peer >= 0, record.peer)
          .cell(buffer_name(record.source))
          .cell(buffer_name(record.destination))
          .cell(transport_name(record.transport))
          .cell(rank.names().text(record.reason))
          .cell(record.pack_ns)
          .cell(record.wait_ns)
          .cell_if(record.key != 0, record.key)
          .cell(wire_bytes_of(record))
          .end_row();
      rank.count_record();
    }
  }

  void add_activities(const ExportedRank& rank, const std::vector<trace::DeviceActivity>& activities) {
    for (const trace::DeviceActivity& activity : activities) {
      const char* const kind = activity.kind == trace::RecordKind::kernel        ? "kernel"
                               : activity.kind == trace::RecordKind::device_copy ? "copy"
                                                                                 : "memset";
      activities_.cell(rank.trace().header.world_rank)
          .cell(static_cast<int>(activity.device))
          .cell(activity.stream);
      times(activities_, rank.clock(), activity.begin_ns, activity.end_ns);
      activities_.cell(std::string_view(kind))
          .cell(rank.names().activity(activity))
          .cell(activity.bytes)
          .cell(activity.correlation)
          .cell(static_cast<int>(activity.own))
          .cell_if(activity.thread_id != 0, activity.thread_id);
      time_if_known(activities_, rank.clock(), activity.issued_ns);
      activities_.end_row();
      rank.count_record();
    }
  }

  void add_ranges(const ExportedRank& rank) {
    constexpr std::uint8_t start_end_range = 255;
    for (std::size_t i = 0; i < rank.trace().ranges.size(); ++i) {
      const trace::Range& range = rank.trace().ranges[i];
      ranges_.cell(rank.trace().header.world_rank).cell(rank.trace().range_lanes[i]);
      times(ranges_, rank.clock(), range.begin_ns, range.end_ns);
      ranges_.cell(rank.names().text(range.name))
          .cell(rank.names().text(range.domain))
          .cell_if(range.depth != start_end_range, static_cast<int>(range.depth))
          .end_row();
      rank.count_record();
    }
  }

  void add_waits(const ExportedRank& rank) {
    for (const trace::CudaSynchronisation& record : rank.trace().synchronisations) {
      waits_.cell(rank.trace().header.world_rank).cell(static_cast<int>(record.device)).cell(record.stream);
      times(waits_, rank.clock(), record.begin_ns, record.end_ns);
      waits_.cell(rank.names().text(record.what))
          .cell(record.correlation)
          .cell(static_cast<int>(record.own))
          .end_row();
      rank.count_record();
    }
  }

  void add_power(const ExportedRank& rank) {
    for (const trace::GpuSample& sample : rank.trace().gpu_samples) {
      power_.cell(rank.trace().header.world_rank).cell(rank.names().text(sample.gpu)).cell(sample.index);
      times(power_, rank.clock(), sample.begin_ns, sample.end_ns);
      power_.cell_if(sample.power_mw != 0, sample.power_mw)
          .cell_if(sample.energy_mj != 0, sample.energy_mj)
          .cell_if(sample.sm_mhz != 0, sample.sm_mhz)
          .cell_if(sample.most_sm_mhz != 0, sample.most_sm_mhz)
          .cell_if(sample.memory_mhz != 0, sample.memory_mhz)
          .cell_if(sample.temperature_c != 0, static_cast<int>(sample.temperature_c))
          .cell(sample.throttle_reasons)
          .end_row();
      rank.count_record();
    }
  }

  void add_nccl_calls(const ExportedRank& rank) {
    for (const trace::NcclCall& call : rank.trace().nccl_calls) {
      nccl_.cell(rank.trace().header.world_rank).cell(call.thread_id);
      times(nccl_, rank.clock(), call.begin_ns, call.end_ns);
      nccl_.cell(rank.names().text(call.function))
          .cell(call.communicator == 0 ? std::string() : fmt::format("{:016x}", call.communicator))
          .cell_if(call.ordinal != 0, call.ordinal)
          .cell_if(call.knows_bytes != 0, call.bytes)
          .cell_if(call.peer >= 0, call.peer)
          .cell_if(call.ranks > 0, call.ranks)
          .cell_if(call.rank >= 0, call.rank)
          .end_row();
      rank.count_record();
    }
  }

  const JobClock& clock_;
  JobCommunicators communicators_;
  CsvTable ranks_, calls_, messages_, operations_, transfers_, activities_, ranges_, waits_, power_, nccl_;
};

}  // namespace

std::unique_ptr<Exporter> make_csv_exporter(const Destination& destination, const JobClock& clock) {
  return std::make_unique<CsvExporter>(destination, clock);
}

bool is_csv_export(const std::filesystem::path& directory) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (std::none_of(all_tables.begin(), all_tables.end(),
                     [&name](const TableWords& table) { return table.file == name; })) {
      return false;
    }
  }
  return !error;
}

}  // namespace penstock::analysis::exports
