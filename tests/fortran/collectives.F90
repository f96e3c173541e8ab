! Collectives on device memory, blocking and not, with what Fortran has for "in place" and "unweighted".
#include "mpi_interface.inc"
module collectives
  USE_MPI
  use device_arrays
  implicit none
  INCLUDE_MPI
  private
  public :: test_collectives
  integer, parameter :: sizes(2) = [100, 200000]
  integer :: rank, ranks, ierr

contains

  subroutine test_collectives(own_rank)
    integer, intent(in) :: own_rank
    integer :: i
    rank = own_rank
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    do i = 1, size(sizes)
      call broadcast(sizes(i))
      call reduce_in_place(sizes(i))
      call gather_in_place(sizes(i))
      call exchange_all(sizes(i))
      call reduce_without_waiting(sizes(i))
      call exchange_all_without_waiting(sizes(i))
      call exchange_with_neighbours(sizes(i))
    end do
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
  end subroutine

  subroutine broadcast(n)
    integer, intent(in) :: n
    integer, pointer, contiguous :: buffer(:)
    HANDLE(MPI_Request) :: request
    buffer => on_device(numbers(n, rank))
    call MPI_Bcast(buffer, n, MPI_INTEGER, 1, MPI_COMM_WORLD, ierr)
    call expect_values(buffer, numbers(n, 1), 'MPI_Bcast')
    call MPI_Ibarrier(MPI_COMM_WORLD, request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call free_device(buffer)
  end subroutine

  subroutine reduce_in_place(n)
    integer, intent(in) :: n
    integer, pointer, contiguous :: buffer(:), result(:)
    integer :: call_number
    buffer => on_device(numbers(n, rank))
    result => on_device(numbers(n, 5))
    do call_number = 1, 5
      call write_to(buffer, numbers(n, rank))
      call MPI_Allreduce(MPI_IN_PLACE, buffer, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
      call expect_values(buffer, sum_of_all(n), 'MPI_Allreduce in place')
    end do
    call write_to(buffer, numbers(n, rank))
    if (rank == 0) then
      call MPI_Reduce(MPI_IN_PLACE, buffer, n, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
      call expect_values(buffer, sum_of_all(n), 'MPI_Reduce in place')
    else
      call MPI_Reduce(buffer, result, n, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
      call expect_values(result, numbers(n, 5), 'the result of MPI_Reduce where there is none')
    end if
    call free_device(buffer)
    call free_device(result)
  end subroutine

  function sum_of_all(n) result(values)
    integer, intent(in) :: n
    integer, allocatable :: values(:)
    integer :: i
    values = numbers(n, 0)
    do i = 1, ranks - 1
      values = values + numbers(n, i)
    end do
  end function

  subroutine gather_in_place(n)
    integer, intent(in) :: n
    integer, pointer, contiguous :: buffer(:), own(:)
    integer, allocatable :: expected(:), counts(:), places(:)
    integer :: i
    expected = [(numbers(n, i), i=0, ranks - 1)]
    counts = [(n, i=1, ranks)]
    places = [(n*(i - 1), i=1, ranks)]
    own => on_device(numbers(n, rank))
    buffer => on_device(0*expected)
    call write_to(buffer, [(merge(numbers(n, i), numbers(n, 7), i == rank), i=0, ranks - 1)])
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, buffer, n, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call expect_values(buffer, expected, 'MPI_Allgather in place')
    call write_to(buffer, [(merge(numbers(n, i), numbers(n, 7), i == rank), i=0, ranks - 1)])
    if (rank == 0) then
      call MPI_Gatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, buffer, counts, places, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
      call expect_values(buffer, expected, 'MPI_Gatherv in place')
      call MPI_Scatter(buffer, n, MPI_INTEGER, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD, ierr)
    else
      call MPI_Gatherv(own, n, MPI_INTEGER, buffer, counts, places, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
      call write_to(own, numbers(n, 7))
      call MPI_Scatter(buffer, n, MPI_INTEGER, own, n, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    end if
    call expect_values(own, numbers(n, rank), 'MPI_Scatter')
    call free_device(buffer)
    call free_device(own)
  end subroutine

  subroutine exchange_all(n)
    integer, intent(in) :: n
    integer, pointer, contiguous :: sent(:), received(:)
    integer, allocatable :: counts(:), places(:), expected(:)
    HANDLE(MPI_Datatype), allocatable :: types(:)
    integer :: i
    expected = [(numbers(n, 10*i + rank), i=0, ranks - 1)]
    sent => on_device([(numbers(n, 10*rank + i), i=0, ranks - 1)])
    received => on_device(0*expected)
    call MPI_Alltoall(sent, n, MPI_INTEGER, received, n, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call expect_values(received, expected, 'MPI_Alltoall')
    counts = [(n, i=1, ranks)]
    places = [(4*n*(i - 1), i=1, ranks)]
    allocate (types(ranks))
    types = MPI_INTEGER
    call write_to(received, 0*expected)
    call MPI_Alltoallw(sent, counts, places, types, received, counts, places, types, MPI_COMM_WORLD, ierr)
    call expect_values(received, expected, 'MPI_Alltoallw')
    call write_to(received, values_of(sent))
    call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, received, n, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call expect_values(received, expected, 'MPI_Alltoall in place')
    call free_device(sent)
    call free_device(received)
  end subroutine

  subroutine reduce_without_waiting(n)
    integer, intent(in) :: n
    integer, pointer, contiguous :: buffer(:), received(:)
    HANDLE(MPI_Request) :: requests(2)
    integer :: round
    logical :: done
    buffer => on_device(numbers(n, rank))
    received => on_device(numbers(n, 5))
    do round = 1, 3
      call write_to(buffer, numbers(n, rank))
      call MPI_Iallreduce(MPI_IN_PLACE, buffer, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(1), ierr)
      call write_to(received, numbers(n, rank))
      call MPI_Ibcast(received, n, MPI_INTEGER, 0, MPI_COMM_WORLD, requests(2), ierr)
      done = .false.
      do while (.not. done)
        call MPI_Testall(2, requests, done, MPI_STATUSES_IGNORE, ierr)
      end do
      call expect_values(buffer, sum_of_all(n), 'MPI_Iallreduce in place')
      call expect_values(received, numbers(n, 0), 'MPI_Ibcast')
    end do
    call free_device(buffer)
    call free_device(received)
  end subroutine

  ! In the last rounds one rank's buffers are in host memory, so that all leave the call to the MPI library. The bindings may
  ! keep arrays that they have converted only until they return.
  subroutine exchange_all_without_waiting(n)
    integer, intent(in) :: n
    integer, pointer, contiguous :: on_gpu(:), on_host(:), to_gpu(:), to_host(:), sent(:), received(:)
    integer, asynchronous, allocatable :: counts(:), places(:), offsets(:), behind(:)
    HANDLE(MPI_Datatype), asynchronous, allocatable :: types(:)
    HANDLE(MPI_Request) :: requests(3)
    integer, allocatable :: expected(:)
    integer :: i, round
    expected = [(numbers(n, 10*i + rank), i=0, ranks - 1)]
    allocate (on_host(size(expected)), to_host(2*size(expected)))
    on_host = [(numbers(n, 10*rank + i), i=0, ranks - 1)]
    on_gpu => on_device(on_host)
    counts = [(n, i=1, ranks)]
    places = [(n*(i - 1), i=1, ranks)]
    offsets = 4*places
    behind = offsets + 4*size(expected)
    allocate (types(ranks))
    types = MPI_INTEGER
    to_gpu => on_device([expected, expected])
    do round = 1, 6
      sent => on_gpu
      received => to_gpu
      call write_to(to_gpu, [0*expected, 0*expected])
      if (round > 3 .and. rank == 0) then
        sent => on_host
        received => to_host
        to_host = 0
      end if
      call MPI_Ialltoallv(sent, counts, places, MPI_INTEGER, received, counts, places, MPI_INTEGER, MPI_COMM_WORLD, &
                          requests(1), ierr)
      call MPI_Ialltoallw(sent, counts, offsets, types, received, counts, behind, types, MPI_COMM_WORLD, &
                          requests(2), ierr)
      call MPI_Ibarrier(MPI_COMM_WORLD, requests(3), ierr)
      call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE, ierr)
      if (round > 3 .and. rank == 0) call write_to(to_gpu, to_host)
      call expect_values(to_gpu, [expected, expected], 'MPI_Ialltoallv and MPI_Ialltoallw')
    end do
    call free_device(on_gpu)
    call free_device(to_gpu)
    deallocate (on_host, to_host)
  end subroutine

  subroutine exchange_with_neighbours(n)
    integer, intent(in) :: n
    integer, pointer, contiguous :: sent(:), received(:)
    HANDLE(MPI_Comm) :: ring, line
    integer :: left, right
    left = modulo(rank - 1, ranks)
    right = modulo(rank + 1, ranks)
    sent => on_device(numbers(n, rank))
    received => on_device(numbers(n, 5))
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [left], MPI_UNWEIGHTED, 1, [right], MPI_UNWEIGHTED, &
                                        MPI_INFO_NULL, .false., ring, ierr)
    call MPI_Neighbor_alltoall(sent, n, MPI_INTEGER, received, n, MPI_INTEGER, ring, ierr)
    call expect_values(received, numbers(n, left), 'MPI_Neighbor_alltoall')
    call MPI_Comm_free(ring, ierr)
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., line, ierr)
    call MPI_Cart_shift(line, 0, 1, left, right, ierr)
    call MPI_Sendrecv(sent, n, MPI_INTEGER, left, 0, received, n, MPI_INTEGER, right, 0, line, MPI_STATUS_IGNORE, ierr)
    call expect_values(received, numbers(n, right), 'MPI_Sendrecv on a Cartesian communicator')
    call MPI_Comm_free(line, ierr)
    call free_device(sent)
    call free_device(received)
  end subroutine

end module
