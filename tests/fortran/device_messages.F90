! Runs all tests of this folder on the ranks of a job; with the argument `threads` after MPI_Init_thread.
! Ends with 77 where there is no GPU.
#include "mpi_interface.inc"
program device_messages
  USE_MPI
  use device_arrays
  use point_to_point
  use completion
  use collectives
  use callbacks
  implicit none
  INCLUDE_MPI
  integer :: rank, gpus, provided, all_failures, ierr
  character(16) :: argument
  logical :: is_initialised

  call get_command_argument(1, argument)
  if (argument == 'threads') then
    call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, ierr)
  else
    call MPI_Init(ierr)
  end if
  call MPI_Initialized(is_initialised, ierr)
  call expect(is_initialised, 'MPI_Initialized')
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  gpus = gpu_count()
  if (gpus > 0) then
    if (cuda_set_device(mod(rank, gpus)) /= 0) error stop 'cudaSetDevice failed'
    call test_point_to_point(rank)
    call test_completion(rank)
    call test_collectives(rank)
    call test_callbacks(rank)
  end if
  call MPI_Allreduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call MPI_Finalize(ierr)
  if (gpus == 0) stop 77
  if (all_failures > 0) stop 1
  if (rank == 0) print '(a)', 'all messages arrived'
end program
