!The three ways to MPI,
    so that each test program is built by all of them
    : WITH_MPIF_H,
      WITH_MPI or WITH_MPI_F08.!A module says USE_MPI first and INCLUDE_MPI behind `implicit none`.
#if defined(WITH_MPI_F08)
#define USE_MPI use mpi_f08
#define INCLUDE_MPI
#define HANDLE(kind) type(kind)
#define STATUS(name) type(MPI_Status)::name
#define STATUSES(name, n) type(MPI_Status)::name(n)
#define SOURCE_OF(status) status % MPI_SOURCE
#define TAG_OF(status) status % MPI_TAG
#define SOURCE_AT(statuses, i) statuses(i) % MPI_SOURCE
#define TAG_AT(statuses, i) statuses(i) % MPI_TAG
#else
#if defined(WITH_MPI)
#define USE_MPI use mpi
#define INCLUDE_MPI
#else
#define USE_MPI
#define INCLUDE_MPI include 'mpif.h'
#endif
#define HANDLE(kind) integer
#define STATUS(name) integer ::name(MPI_STATUS_SIZE)
#define STATUSES(name, n) integer ::name(MPI_STATUS_SIZE, n)
#define SOURCE_OF(status) status(MPI_SOURCE)
#define TAG_OF(status) status(MPI_TAG)
#define SOURCE_AT(statuses, i) statuses(MPI_SOURCE, i)
#define TAG_AT(statuses, i) statuses(MPI_TAG, i)
#endif
