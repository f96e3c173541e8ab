! How messages of device memory are completed, cancelled, and outlive their communicator.
#include "mpi_interface.inc"
module completion
  USE_MPI
  use device_arrays
  implicit none
  INCLUDE_MPI
  private
  public :: test_completion
  integer :: rank, other, ierr

contains

  subroutine test_completion(own_rank)
    integer, intent(in) :: own_rank
    rank = own_rank
    other = 1 - rank
    call complete_in_any_order()
    call ask_for_status()
    call cancel_a_receive()
    call pass_communicators()
  end subroutine

  subroutine complete_in_any_order()
    integer, parameter :: n = 20000, messages = 6
    integer, pointer, contiguous :: sent(:), received(:)
    HANDLE(MPI_Request) :: receives(messages), sends(messages)
    STATUS(arrived)
    STATUSES(statuses, messages)
    integer :: indices(messages), completed, i, index
    logical :: is_done
    sent => on_device(numbers(n*messages, rank))
    received => on_device(numbers(n*messages, 5))
    do i = 1, messages
      call MPI_Irecv(received(n*(i - 1) + 1:n*i), n, MPI_INTEGER, other, i, MPI_COMM_WORLD, receives(i), ierr)
    end do
    do i = messages, 1, -1
      call MPI_Isend(sent(n*(i - 1) + 1:n*i), n, MPI_INTEGER, other, i, MPI_COMM_WORLD, sends(i), ierr)
    end do
    ! by tags: MPICH (4.0) counts the indices of mpi_f08 from 0
    call MPI_Waitany(messages, receives, index, arrived, ierr)
    call expect(receives(TAG_OF(arrived)) == MPI_REQUEST_NULL, 'MPI_Waitany')
    is_done = .false.
    do while (.not. is_done)
      call MPI_Testany(messages, receives, index, is_done, arrived, ierr)
    end do
    call expect(receives(TAG_OF(arrived)) == MPI_REQUEST_NULL, 'MPI_Testany')
    call MPI_Waitsome(messages, receives, completed, indices, statuses, ierr)
    call expect(completed > 0, 'how many MPI_Waitsome completes')
    do i = 1, completed
      call expect(receives(TAG_AT(statuses, i)) == MPI_REQUEST_NULL, 'MPI_Waitsome')
    end do
    call MPI_Testsome(messages, receives, completed, indices, MPI_STATUSES_IGNORE, ierr)
    call MPI_Waitall(messages, receives, MPI_STATUSES_IGNORE, ierr)
    is_done = .false.
    do while (.not. is_done)
      call MPI_Test(sends(1), is_done, MPI_STATUS_IGNORE, ierr)
    end do
    call MPI_Waitall(messages, sends, MPI_STATUSES_IGNORE, ierr)
    call expect_values(received, numbers(n*messages, other), 'messages in any order')
    call free_device(sent)
    call free_device(received)
  end subroutine

  subroutine ask_for_status()
    integer, parameter :: n = 20000
    integer, pointer, contiguous :: buffer(:)
    HANDLE(MPI_Request) :: request
    STATUS(arrived)
    logical :: is_done
    buffer => on_device(numbers(n, rank))
    if (rank == 0) call MPI_Isend(buffer, n, MPI_INTEGER, 1, 9, MPI_COMM_WORLD, request, ierr)
    if (rank == 1) call MPI_Irecv(buffer, n, MPI_INTEGER, 0, 9, MPI_COMM_WORLD, request, ierr)
    is_done = .false.
    do while (.not. is_done)
      call MPI_Request_get_status(request, is_done, arrived, ierr)
    end do
    if (rank == 1) call expect(TAG_OF(arrived) == 9, 'MPI_Request_get_status')
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call expect_values(buffer, numbers(n, 0), 'a message whose status was asked for')
    call free_device(buffer)
  end subroutine

  subroutine cancel_a_receive()
    integer, pointer, contiguous :: buffer(:)
    HANDLE(MPI_Request) :: request
    STATUS(arrived)
    logical :: is_cancelled
    buffer => on_device(numbers(1000, 5))
    call MPI_Irecv(buffer, 1000, MPI_INTEGER, other, 99, MPI_COMM_WORLD, request, ierr)
    call MPI_Cancel(request, ierr)
    call MPI_Wait(request, arrived, ierr)
    call MPI_Test_cancelled(arrived, is_cancelled, ierr)
    call expect(is_cancelled, 'MPI_Cancel')
    call expect_values(buffer, numbers(1000, 5), 'a cancelled receive')
    call free_device(buffer)
  end subroutine

  subroutine pass_communicators()
    integer, parameter :: n = 20000
    integer, pointer, contiguous :: sent(:), received(:)
    HANDLE(MPI_Comm) :: copy, halved
    HANDLE(MPI_Request) :: requests(2)
    sent => on_device(numbers(n, rank))
    received => on_device(numbers(n, 5))
    call MPI_Comm_dup(MPI_COMM_WORLD, copy, ierr)
    call MPI_Comm_split(copy, 0, -rank, halved, ierr)
    call MPI_Irecv(received, n, MPI_INTEGER, rank, 1, halved, requests(1), ierr)
    call MPI_Isend(sent, n, MPI_INTEGER, rank, 1, halved, requests(2), ierr)
    call MPI_Comm_free(halved, ierr)
    call MPI_Comm_free(copy, ierr)
    call expect(copy == MPI_COMM_NULL, 'the communicator after MPI_Comm_free')
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
    call expect_values(received, numbers(n, other), 'messages of a communicator of reversed ranks that was freed')
    call free_device(sent)
    call free_device(received)
  end subroutine

end module
