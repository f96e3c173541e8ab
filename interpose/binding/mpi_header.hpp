// Includes <mpi.h> where mpi_functions.def declares the functions that newer MPI libraries have. Headers of
// MPI-4.1 have three of them, and differ in whether their requests are const (MPICH 4.2's are not): the
// header's declarations get names of their own, which nothing uses.
#pragma once

#define MPI_Request_get_status_all MPI_Request_get_status_all_of_header
#define MPI_Request_get_status_any MPI_Request_get_status_any_of_header
#define MPI_Request_get_status_some MPI_Request_get_status_some_of_header
#define PMPI_Request_get_status_all PMPI_Request_get_status_all_of_header
#define PMPI_Request_get_status_any PMPI_Request_get_status_any_of_header
#define PMPI_Request_get_status_some PMPI_Request_get_status_some_of_header
#include <mpi.h>
#undef MPI_Request_get_status_all
#undef MPI_Request_get_status_any
#undef MPI_Request_get_status_some
#undef PMPI_Request_get_status_all
#undef PMPI_Request_get_status_any
#undef PMPI_Request_get_status_some
