#include "examples/gmh/library/places.hpp"

#include <mpi.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "examples/gmh/library/assignment.hpp"
#include "examples/gmh/library/checks.hpp"

namespace gmh {
namespace {

const char* name_of_level(int level) {
  switch (level) {
    case MPI_THREAD_SINGLE:
      return "MPI_THREAD_SINGLE";
    case MPI_THREAD_FUNNELED:
      return "MPI_THREAD_FUNNELED";
    default:
      return "MPI_THREAD_SERIALIZED";
  }
}

void make_mpi_ready(int* argc, char*** argv) {
  int is_initialised = 0;
  int is_finalised = 0;
  int level = MPI_THREAD_SINGLE;
  MPI_Initialized(&is_initialised);
  MPI_Finalized(&is_finalised);
  if (is_finalised != 0) fail(GMH_ERR_MPI, "MPI has been finalised");
  if (is_initialised == 0) {
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &level);
  } else {
    MPI_Query_thread(&level);
  }
  if (level < MPI_THREAD_MULTIPLE)
    fail(GMH_ERR_THREAD_LEVEL, "MPI runs at %s, and GMH's threads need MPI_THREAD_MULTIPLE: %s",
         name_of_level(level),
         is_initialised != 0 ? "ask MPI_Init_thread for it, or leave that to gmh_init"
                             : "this MPI is built without it");
}

std::vector<GpuId> visible_gpus() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();
    return {};
  }
  std::vector<GpuId> gpus(static_cast<std::size_t>(count));
  for (int device = 0; device < count; ++device) {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, device), "ask for a GPU's UUID");
    std::memcpy(gpus[static_cast<std::size_t>(device)].data(), &properties.uuid, sizeof(GpuId));
  }
  return gpus;
}

/// Concatenates the vectors of all processes; `counts` receives their lengths.
template <typename Item>
std::vector<Item> gather_all(const std::vector<Item>& own, std::vector<int>& counts, MPI_Comm communicator) {
  int size = 1;
  MPI_Comm_size(communicator, &size);
  counts.resize(static_cast<std::size_t>(size));
  int bytes = static_cast<int>(own.size() * sizeof(Item));
  MPI_Allgather(&bytes, 1, MPI_INT, counts.data(), 1, MPI_INT, communicator);
  std::vector<int> places;
  int sum = 0;
  for (const int each : counts) {
    places.push_back(sum);
    sum += each;
  }
  std::vector<Item> all(static_cast<std::size_t>(sum) / sizeof(Item));
  MPI_Allgatherv(own.data(), bytes, MPI_BYTE, all.data(), counts.data(), places.data(), MPI_BYTE,
                 communicator);
  for (int& each : counts) each /= static_cast<int>(sizeof(Item));
  return all;
}

/// Collects the demands of this host's processes in rank order.
std::vector<Demand> demands_of_host(int gpus, MPI_Comm host, std::size_t& own) {
  int world_rank = 0;
  int host_rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_rank(host, &host_rank);
  own = static_cast<std::size_t>(host_rank);
  std::vector<int> counts;
  const std::vector<int> asked = gather_all(std::vector<int>{world_rank, gpus}, counts, host);
  const std::vector<GpuId> visible = gather_all(visible_gpus(), counts, host);
  std::vector<Demand> demands;
  auto next = visible.begin();
  for (std::size_t process = 0; process < counts.size(); ++process) {
    demands.push_back({asked[2 * process], asked[2 * process + 1], {next, next + counts[process]}});
    next += counts[process];
  }
  return demands;
}

/// Throws on all processes if `own` is set on any, with the error of the lowest rank. Collective.
void agree(const Error* own) {
  struct {
    char line[500] = "";
    int code = GMH_OK;
  } said;
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int first = own == nullptr ? size : rank;
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (first == size) return;
  if (own != nullptr) {
    std::snprintf(said.line, sizeof said.line, "%s", own->what());
    said.code = own->code();
  }
  MPI_Bcast(&said, sizeof said, MPI_BYTE, first, MPI_COMM_WORLD);
  throw Error(static_cast<gmh_error>(said.code), said.line);
}

std::vector<int> own_devices(int gpus, MPI_Comm host) {
  std::size_t own = 0;
  const std::vector<Demand> demands = demands_of_host(gpus, host, own);
  const char* share = std::getenv("GMH_SHARE");
  Assignment assignment = assign_gpus(demands, share != nullptr && std::strcmp(share, "1") == 0);
  if (!assignment.complaint.empty()) throw Error(GMH_ERR_GPUS, assignment.complaint);
  return assignment.devices[own];
}

}  // namespace

Places find_places(int* argc, char*** argv, int gpus, bool has_function) {
  make_mpi_ready(argc, argv);
  if (gpus < 1 || !has_function) {
    const Error error(GMH_ERR_ARGUMENT, gpus < 1 ? text("gmh_init: %d GPUs; at least one", gpus)
                                                 : "gmh_init: there is no thread function");
    agree(&error);
  }
  agree(nullptr);
  MPI_Comm host = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  std::vector<int> devices;
  try {
    devices = own_devices(gpus, host);
    check(cudaSetDevice(devices.front()), "choose a GPU");
    check(cudaFree(nullptr), "start a GPU");
  } catch (const Error& error) {
    MPI_Comm_free(&host);
    agree(&error);
  }
  if (host != MPI_COMM_NULL) MPI_Comm_free(&host);
  agree(nullptr);
  std::vector<int> counts;
  return {Ranks(gather_all(std::vector<int>{gpus}, counts, MPI_COMM_WORLD)), std::move(devices)};
}

}  // namespace gmh
