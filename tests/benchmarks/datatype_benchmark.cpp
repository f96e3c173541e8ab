// Messages of derived datatypes between device buffers, beside a contiguous one of as many bytes and, where
// its rows are regular, a bare kernel that gathers them from the other GPU. Fails if one arrives damaged.
// pack_us is one MPI_Pack or MPI_Unpack on the GPU, the mean of both; copy_us a contiguous copy there, waited
// for.
//   mpiexec.mpich -n 2 penstock run datatype_benchmark_mpich
// A figure is half a round trip; of several messages, that of all of them, posted and waited for together.
#include <benchmark/benchmark.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/benchmarks/program_of_two.hpp"
#include "tests/benchmarks/sampling.hpp"
#include "tests/benchmarks/strided_kernel.hpp"
#include "tests/support/memory.hpp"

namespace {

using namespace penstock::benchmarks;
using penstock::test_support::Memory;
using penstock::test_support::MemoryKind;

MPI_Datatype committed(MPI_Datatype type) {
  MPI_Type_commit(&type);
  return type;
}

MPI_Datatype contiguous(std::size_t bytes) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &type);
  return committed(type);
}

MPI_Datatype rows_of(const WordRows& rows) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(static_cast<int>(rows.rows), static_cast<int>(rows.words), static_cast<int>(rows.stride),
                  MPI_DOUBLE, &type);
  return committed(type);
}

/// A box of doubles out of the middle of a cube of `edge` each way.
MPI_Datatype box(int edge, std::array<int, 3> sizes) {
  const std::array<int, 3> all{edge, edge, edge};
  std::array<int, 3> starts{};
  for (std::size_t i = 0; i < 3; ++i) starts[i] = (edge - sizes[i]) / 2;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(3, all.data(), sizes.data(), starts.data(), MPI_ORDER_C, MPI_DOUBLE, &type);
  return committed(type);
}

/// Structs of vectors of structs: 100,000 blocks of 4 to 16 bytes at random distances, 1 MiB in all or so.
MPI_Datatype nested() {
  std::mt19937 random(1);
  const auto structure = [&](int blocks, int least, int most, MPI_Datatype of, MPI_Aint of_extent) {
    std::vector<int> lengths;
    std::vector<MPI_Aint> places;
    std::vector<MPI_Datatype> types;
    MPI_Aint place = 0;
    for (int block = 0; block < blocks; ++block) {
      lengths.push_back(least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1)));
      places.push_back(place);
      types.push_back(of);
      place += lengths.back() * of_extent + 4 * (1 + static_cast<MPI_Aint>(random() % 4));
    }
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_struct(blocks, lengths.data(), places.data(), types.data(), &type);
    return type;
  };
  MPI_Datatype inner = structure(10, 1, 4, MPI_INT, 4);
  MPI_Datatype middle = MPI_DATATYPE_NULL;
  MPI_Type_create_hvector(10, 1, 320, inner, &middle);
  MPI_Aint lower_bound = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(middle, &lower_bound, &extent);
  MPI_Datatype outer = structure(1000, 1, 1, middle, extent);
  MPI_Type_free(&inner);
  MPI_Type_free(&middle);
  return committed(outer);
}

enum class Case : int {
  none,
  column_of_512,
  second_words_to_contiguous,
  second_words,
  face_of_columns,
  face_of_rows,
  inner_box,
  nested,
  one_of_a_halo,
  halo_of_26,
};
struct Description {
  const char* name;
  int messages = 1;
  WordRows rows{};  ///< what the kernel copies; none if it has no rows
};
Description describe(Case which, int edge) {
  const auto n = static_cast<std::size_t>(edge);
  switch (which) {
    case Case::column_of_512:
      return {"column/512_of_8_every_4096", 1, {512, 1, 512}};
    case Case::second_words_to_contiguous:
      return {"second_words/128Ki_of_8_to_contiguous", 1, {131072, 1, 2}};
    case Case::second_words:
      return {"second_words/128Ki_of_8", 1, {131072, 1, 2}};
    case Case::face_of_columns:
      return {"face/of_columns", 1, {n * n, 1, n}};
    case Case::face_of_rows:
      return {"face/of_rows", 1, {n, n, n * n}};
    case Case::inner_box:
      return {"box/fifth_of_each_edge"};
    case Case::nested:
      return {"nested/100000_blocks"};
    case Case::one_of_a_halo:
      return {"halo/1_of_512_times_8", 1, {512, 1, 8}};
    case Case::halo_of_26:
      return {"halo/26_of_512_times_8", 26};
    case Case::none:
      break;
  }
  return {""};
}

/// What both ranks do next. A default one: stop.
struct Work {
  Case which = Case::none;
  int samples = 0;
  friend bool operator==(const Work&, const Work&) = default;
};

struct Figures {
  double message_s = 0;
  double contiguous_s = 0;
  double kernel_s = 0;
  double pack_s = 0;
  double copy_s = 0;
  std::size_t bytes = 0;
};

class Rank {
 public:
  static constexpr std::size_t halo_distance = 1 << 20;

  Rank(int rank, int edge)
      : rank_(rank),
        edge_(edge),
        device_(current_device()),
        sent_(MemoryKind::device, buffer_bytes(edge), device_),
        received_(MemoryKind::device, buffer_bytes(edge), device_) {
    require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "create a stream");
    image_.resize(sent_.size());
    for (std::size_t i = 0; i < image_.size(); i += 8) {
      const std::uint64_t word = i * 0x9e3779b97f4a7c15u + 12345;
      std::copy_n(reinterpret_cast<const std::byte*>(&word), 8, image_.data() + i);
    }
    sent_.write(0, image_.data(), image_.size());
    cudaIpcMemHandle_t mine{};
    cudaIpcMemHandle_t theirs{};
    require(cudaIpcGetMemHandle(&mine, sent_.data()), "export memory");
    MPI_Sendrecv(&mine, sizeof mine, MPI_BYTE, 1 - rank, 1, &theirs, sizeof theirs, MPI_BYTE, 1 - rank, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    can_map_ = cudaIpcOpenMemHandle(&peer_, theirs, cudaIpcMemLazyEnablePeerAccess) == cudaSuccess;
  }
  ~Rank() {
    cudaStreamDestroy(stream_);
    if (can_map_) cudaIpcCloseMemHandle(peer_);
    meet(rank_);
  }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  Figures perform(const Work& work) {
    if (rank_ == leader) lead(work);
    if (work.which == Case::none) return {};
    const Description description = describe(work.which, edge_);
    Types types = types_of(work.which);
    Figures figures;
    int size = 0;
    MPI_Type_size(types.sent, &size);
    figures.bytes = static_cast<std::size_t>(size);
    MPI_Datatype plain = contiguous(figures.bytes);
    figures.message_s =
        time(work.samples, [&] { exchange(types.sent, types.received, description.messages); });
    check(types, description.name);
    figures.contiguous_s = time(work.samples, [&] { exchange(plain, plain, description.messages); });
    if (can_map_ && description.rows.rows != 0) {
      figures.kernel_s = 2 * time(work.samples, [&] {
                           if (rank_ != leader) return;
                           require(copy_rows(reinterpret_cast<double*>(received_.data()),
                                             static_cast<const double*>(peer_), description.rows, stream_),
                                   "launch a kernel");
                           require(cudaStreamSynchronize(stream_), "wait for a kernel");
                         });
    }
    pack(work, types.sent, figures);
    MPI_Type_free(&plain);
    MPI_Type_free(&types.sent);
    MPI_Type_free(&types.received);
    return figures;
  }

 private:
  struct Types {
    MPI_Datatype sent;
    MPI_Datatype received;
  };

  static int current_device() {
    int device = 0;
    require(cudaGetDevice(&device), "ask for the GPU");
    return device;
  }

  /// A halo's messages lie apart in a buffer, and the cube fills one.
  static std::size_t buffer_bytes(int edge) {
    const auto n = static_cast<std::size_t>(edge);
    return std::max(n * n * n * 8, 32 * halo_distance);
  }

  [[nodiscard]] Types types_of(Case which) const {
    const WordRows rows = describe(which, edge_).rows;
    switch (which) {
      case Case::second_words_to_contiguous:
        return {rows_of(rows), contiguous(rows.rows * rows.words * 8)};
      case Case::face_of_columns:
        return {box(edge_, {edge_, edge_, 1}), box(edge_, {edge_, edge_, 1})};
      case Case::face_of_rows:
        return {box(edge_, {edge_, 1, edge_}), box(edge_, {edge_, 1, edge_})};
      case Case::inner_box: {
        const int part = edge_ / 5;
        return {box(edge_, {part, part, part}), box(edge_, {part, part, part})};
      }
      case Case::nested:
        return {nested(), nested()};
      case Case::halo_of_26:
        return {rows_of({512, 1, 8}), rows_of({512, 1, 8})};
      default:
        return {rows_of(rows), rows_of(rows)};
    }
  }

  /// On rank 0, behind the messages; what is unpacked is there already.
  void pack(const Work& work, MPI_Datatype type, Figures& figures) {
    const int size = static_cast<int>(figures.bytes);
    figures.pack_s = time(work.samples, [&] {
      if (rank_ != leader) return;
      int position = 0;
      MPI_Pack(sent_.data(), 1, type, received_.data(), size, &position, MPI_COMM_SELF);
      position = 0;
      MPI_Unpack(received_.data(), size, &position, sent_.data(), 1, type, MPI_COMM_SELF);
    });
    figures.copy_s = 2 * time(work.samples, [&] {
                       if (rank_ != leader) return;
                       require(cudaMemcpyAsync(received_.data(), sent_.data(), figures.bytes,
                                               cudaMemcpyDeviceToDevice, stream_),
                               "copy");
                       require(cudaStreamSynchronize(stream_), "wait for a copy");
                     });
  }

  /// There and back.
  void exchange(MPI_Datatype sent, MPI_Datatype received, int messages) {
    std::vector<MPI_Request> requests(static_cast<std::size_t>(messages));
    const auto receive = [&] {
      for (int i = 0; i < messages; ++i)
        MPI_Irecv(received_.data() + static_cast<std::size_t>(i) * halo_distance, 1, received, 1 - rank_, i,
                  MPI_COMM_WORLD, &requests[static_cast<std::size_t>(i)]);
      MPI_Waitall(messages, requests.data(), MPI_STATUSES_IGNORE);
    };
    const auto send = [&] {
      for (int i = 0; i < messages; ++i)
        MPI_Isend(sent_.data() + static_cast<std::size_t>(i) * halo_distance, 1, sent, 1 - rank_, i,
                  MPI_COMM_WORLD, &requests[static_cast<std::size_t>(i)]);
      MPI_Waitall(messages, requests.data(), MPI_STATUSES_IGNORE);
    };
    if (rank_ == leader) send();
    receive();
    if (rank_ == follower) send();
  }

  /// Half of what a round trip takes, the median; on rank 0.
  template <class Step>
  double time(int samples, Step step) {
    std::vector<double> all;
    for (int sample = -5; sample < samples; ++sample) {
      meet(rank_);
      const double taken_s = seconds_of(step);
      if (sample >= 0) all.push_back(taken_s / 2);
    }
    return median(all);
  }

  void check(const Types& types, const char* name) {
    std::vector<std::byte> arrived(received_.size());
    received_.read(0, arrived.data(), arrived.size());
    const auto packed = [](const std::vector<std::byte>& buffer, MPI_Datatype type) {
      int bytes = 0;
      MPI_Pack_size(1, type, MPI_COMM_WORLD, &bytes);
      std::vector<std::byte> result(static_cast<std::size_t>(bytes));
      int place = 0;
      MPI_Pack(buffer.data(), 1, type, result.data(), bytes, &place, MPI_COMM_WORLD);
      result.resize(static_cast<std::size_t>(place));
      return result;
    };
    if (packed(arrived, types.received) == packed(image_, types.sent)) return;
    std::fprintf(stderr, "rank %d: %s arrived damaged\n", rank_, name);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }

  int rank_;
  int edge_;
  int device_;
  Memory sent_;
  Memory received_;
  std::vector<std::byte> image_;  ///< of sent_, on both ranks
  void* peer_ = nullptr;          ///< the other rank's sent_
  bool can_map_ = false;
  cudaStream_t stream_ = nullptr;
};

void measure(benchmark::State& state, Rank& mine, Work work) {
  for (auto iteration : state) {
    const Figures figures = mine.perform(work);
    state.SetIterationTime(figures.message_s);
    state.counters["us"] = figures.message_s * 1e6;
    state.counters["contiguous_us"] = figures.contiguous_s * 1e6;
    state.counters["of_contiguous"] = figures.message_s / figures.contiguous_s;
    state.counters["pack_us"] = figures.pack_s * 1e6;
    state.counters["copy_us"] = figures.copy_s * 1e6;
    if (figures.kernel_s == 0) continue;
    state.counters["kernel_us"] = figures.kernel_s * 1e6;
    state.counters["of_kernel"] = figures.message_s / figures.kernel_s;
  }
}

int run(int rank, int argc, char** argv) {
  int samples = 300;
  int edge = 512;
  std::string facts_path;
  CLI::App app{"Messages of derived datatypes between device buffers"};
  app.add_option("--samples", samples, "of which the median is taken")->capture_default_str();
  app.add_option("--box", edge, "edge of the cube of doubles that faces are cut from")
      ->check(CLI::Range(16, 2048))
      ->capture_default_str();
  if (const auto done = parse(app, facts_path, rank, argc, argv)) return *done;
  Rank mine(rank, edge);
  return conduct<Work>(mine, rank, app, facts_path, [&] {
    benchmark::AddCustomContext("mpi", mpi_version());
    for (const Case which :
         {Case::column_of_512, Case::second_words_to_contiguous, Case::second_words, Case::face_of_columns,
          Case::face_of_rows, Case::inner_box, Case::nested, Case::one_of_a_halo, Case::halo_of_26}) {
      benchmark::RegisterBenchmark(describe(which, edge).name, measure, std::ref(mine), Work{which, samples})
          ->Iterations(1)
          ->UseManualTime()
          ->Unit(benchmark::kMicrosecond);
    }
    benchmark::RunSpecifiedBenchmarks();
  });
}

}  // namespace

int main(int argc, char** argv) {
  return program_of_two("datatype_benchmark", argc, argv, run);
}
