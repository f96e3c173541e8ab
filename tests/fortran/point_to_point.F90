! Messages between ranks 0 and 1, whose buffers are device memory on one side or on both.
#include "mpi_interface.inc"
module point_to_point
  USE_MPI
  use device_arrays
  implicit none
  INCLUDE_MPI
  private
  public :: test_point_to_point
  integer, parameter :: sizes(3) = [5, 5000, 300000]
  integer :: rank, other, ierr

contains

  subroutine test_point_to_point(own_rank)
    integer, intent(in) :: own_rank
    integer :: i
    rank = own_rank
    other = 1 - rank
    do i = 1, size(sizes)
      call ping_pong(sizes(i))
      call receive_in_host_memory(sizes(i))
      call exchange_without_waiting(sizes(i))
      call exchange_persistently(sizes(i))
      call exchange_in_one_call(sizes(i))
      call probe_for_messages(sizes(i))
      call send_several_blocks(sizes(i))
#if defined(WITH_MPI_F08)
      if (MPI_SUBARRAYS_SUPPORTED) call send_sections(sizes(i))
#endif
    end do
  end subroutine

  subroutine ping_pong(n)
    integer, intent(in) :: n
    integer, pointer, contiguous :: there(:), back(:)
    integer :: count
    STATUS(arrived)
    there => on_device(numbers(n, rank))
    back => on_device(numbers(n, 5))
    if (rank == 0) then
      call MPI_Send(there, n, MPI_INTEGER, 1, 7, MPI_COMM_WORLD, ierr)
      call MPI_Recv(back, n, MPI_INTEGER, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    else
      call MPI_Recv(back, n, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, arrived, ierr)
      call expect(SOURCE_OF(arrived) == 0 .and. TAG_OF(arrived) == 7, 'the status of MPI_Recv')
      call MPI_Get_count(arrived, MPI_INTEGER, count, ierr)
      call expect(count == n, 'MPI_Get_count')
      call MPI_Ssend(there, n, MPI_INTEGER, 0, 8, MPI_COMM_WORLD, ierr)
    end if
    call expect_values(back, numbers(n, other), 'ping-pong')
    call free_device(there)
    call free_device(back)
  end subroutine

  ! A library that misses this receive finds 64 bytes of another kind in it.
  subroutine receive_in_host_memory(n)
    integer, intent(in) :: n
    integer, pointer, contiguous :: sent(:)
    integer, allocatable, asynchronous :: received(:)  ! MPI_Wait, which does not have it, changes it
    HANDLE(MPI_Request) :: request
    sent => on_device(numbers(n, rank))
    received = numbers(n, 5)
    if (rank == 0) then
      call MPI_Send(sent, n, MPI_INTEGER, 1, 1, MPI_COMM_WORLD, ierr)
      call MPI_Send(sent, n, MPI_INTEGER, 1, 1, MPI_COMM_WORLD, ierr)
    else
      call MPI_Recv(received, n, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      call expect(all(received == numbers(n, 0)), 'MPI_Recv in host memory')
      received = numbers(n, 5)
      call MPI_Irecv(received, n, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, request, ierr)
      call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
      call expect(all(received == numbers(n, 0)), 'MPI_Irecv in host memory')
    end if
    call free_device(sent)
  end subroutine

  subroutine exchange_without_waiting(n)
    integer, intent(in) :: n
    integer, pointer, contiguous :: sent(:), received(:)
    HANDLE(MPI_Request) :: requests(2)
    STATUSES(statuses, 2)
    logical :: done
    sent => on_device(numbers(n, rank))
    received => on_device(numbers(n, 5))
    call MPI_Irecv(received, n, MPI_INTEGER, other, 2, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Isend(sent, n, MPI_INTEGER, other, 2, MPI_COMM_WORLD, requests(2), ierr)
    call MPI_Waitall(2, requests, statuses, ierr)
    call expect(SOURCE_AT(statuses, 1) == other .and. TAG_AT(statuses, 1) == 2, 'a status of MPI_Waitall')
    call expect(all(requests == MPI_REQUEST_NULL), 'requests after MPI_Waitall')
    call expect_values(received, numbers(n, other), 'MPI_Waitall')

    call write_to(received, numbers(n, 5))
    call MPI_Irecv(received, n, MPI_INTEGER, other, 3, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Issend(sent, n, MPI_INTEGER, other, 3, MPI_COMM_WORLD, requests(2), ierr)
    done = .false.
    do while (.not. done)
      call MPI_Testall(2, requests, done, MPI_STATUSES_IGNORE, ierr)
    end do
    call expect_values(received, numbers(n, other), 'MPI_Testall')
    call free_device(sent)
    call free_device(received)
  end subroutine

  subroutine exchange_persistently(n)
    integer, intent(in) :: n
    integer, pointer, contiguous :: sent(:), received(:)
    HANDLE(MPI_Request) :: requests(2)
    integer :: round
    sent => on_device(numbers(n, rank))
    received => on_device(numbers(n, 5))
    call MPI_Recv_init(received, n, MPI_INTEGER, other, 4, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Send_init(sent, n, MPI_INTEGER, other, 4, MPI_COMM_WORLD, requests(2), ierr)
    do round = 1, 3
      call write_to(sent, numbers(n, rank + 10*round))
      if (round == 2) then
        call MPI_Start(requests(1), ierr)
        call MPI_Start(requests(2), ierr)
        call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)
        call MPI_Wait(requests(2), MPI_STATUS_IGNORE, ierr)
      else
        call MPI_Startall(2, requests, ierr)
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
      end if
      call expect_values(received, numbers(n, other + 10*round), 'persistent messages')
    end do
    call MPI_Request_free(requests(1), ierr)
    call MPI_Request_free(requests(2), ierr)
    call expect(all(requests == MPI_REQUEST_NULL), 'requests after MPI_Request_free')
    call free_device(sent)
    call free_device(received)
  end subroutine

  subroutine exchange_in_one_call(n)
    integer, intent(in) :: n
    integer, pointer, contiguous :: sent(:), received(:)
    STATUS(arrived)
    sent => on_device(numbers(n, rank))
    received => on_device(numbers(n, 5))
    call MPI_Sendrecv(sent, n, MPI_INTEGER, other, 5, received, n, MPI_INTEGER, other, 5, MPI_COMM_WORLD, arrived, ierr)
    call expect(SOURCE_OF(arrived) == other, 'the status of MPI_Sendrecv')
    call expect_values(received, numbers(n, other), 'MPI_Sendrecv')
    call MPI_Sendrecv_replace(sent, n, MPI_INTEGER, other, 6, other, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call expect_values(sent, numbers(n, other), 'MPI_Sendrecv_replace')
    call free_device(sent)
    call free_device(received)
  end subroutine

  subroutine probe_for_messages(n)
    integer, intent(in) :: n
    integer, pointer, contiguous :: sent(:), received(:)
    HANDLE(MPI_Message) :: message
    STATUS(arrived)
    logical :: is_there
    integer :: i, count
    sent => on_device(numbers(n, 0))
    received => on_device(numbers(n, 5))
    do i = 1, 3
      if (rank == 0) then
        call MPI_Send(sent, n, MPI_INTEGER, 1, i, MPI_COMM_WORLD, ierr)
        cycle
      end if
      call write_to(received, numbers(n, 5))
      is_there = .false.
      if (i == 1) call MPI_Probe(0, MPI_ANY_TAG, MPI_COMM_WORLD, arrived, ierr)
      do while (i == 2 .and. .not. is_there)
        call MPI_Iprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, is_there, arrived, ierr)
      end do
      if (i == 3) call MPI_Mprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, message, arrived, ierr)
      call MPI_Get_count(arrived, MPI_INTEGER, count, ierr)
      call expect(TAG_OF(arrived) == i .and. count == n, 'what a probe returns')
      if (i == 3) then
        call MPI_Mrecv(received, n, MPI_INTEGER, message, arrived, ierr)
        call expect(message == MPI_MESSAGE_NULL, 'the message after MPI_Mrecv')
      else
        call MPI_Recv(received, n, MPI_INTEGER, SOURCE_OF(arrived), TAG_OF(arrived), MPI_COMM_WORLD, arrived, ierr)
      end if
      call expect_values(received, numbers(n, 0), 'a message that was probed for')
    end do
    call free_device(sent)
    call free_device(received)
  end subroutine

  ! Every second element, by a type's stride and by absolute addresses.
  subroutine send_several_blocks(n)
    integer, intent(in) :: n
    integer, pointer, contiguous :: sent(:), received(:)
    integer, allocatable :: expected(:)
    integer :: i
    HANDLE(MPI_Datatype) :: every_second, from_bottom
    integer(MPI_ADDRESS_KIND) :: address(1)
    sent => on_device(numbers(2*n, rank))
    received => on_device(numbers(2*n, 5))
    expected = merge(numbers(2*n, other), numbers(2*n, 5), mod([(i, i=1, 2*n)], 2) == 1)
    call MPI_Type_vector(n, 1, 2, MPI_INTEGER, every_second, ierr)
    call MPI_Type_commit(every_second, ierr)
    if (rank == 0) then
      call MPI_Send(sent, 1, every_second, 1, 1, MPI_COMM_WORLD, ierr)
    else
      call MPI_Recv(received, 1, every_second, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      call expect_values(received, expected, 'a vector type')
    end if
    call write_to(received, numbers(2*n, 5))
    if (rank == 0) call MPI_Get_address(sent, address(1), ierr)
    if (rank == 1) call MPI_Get_address(received, address(1), ierr)
    call MPI_Type_create_hindexed(1, [1], address, every_second, from_bottom, ierr)
    call MPI_Type_commit(from_bottom, ierr)
    if (rank == 0) then
      call MPI_Send(MPI_BOTTOM, 1, from_bottom, 1, 1, MPI_COMM_WORLD, ierr)
    else
      call MPI_Recv(MPI_BOTTOM, 1, from_bottom, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      call expect_values(received, expected, 'MPI_BOTTOM')
    end if
    call MPI_Type_free(every_second, ierr)
    call MPI_Type_free(from_bottom, ierr)
    call free_device(sent)
    call free_device(received)
  end subroutine

#if defined(WITH_MPI_F08)
  ! Sections of an array, which the bindings get as descriptors: compilers make no copies of them.
  subroutine send_sections(n)
    integer, intent(in) :: n
    integer, pointer, contiguous :: sent(:), received(:)
    integer :: i
    type(MPI_Request) :: request
    sent => on_device(numbers(2*n, rank))
    received => on_device(numbers(2*n, 5))
    call MPI_Irecv(received(1::2), n, MPI_INTEGER, other, 1, MPI_COMM_WORLD, request)
    call MPI_Send(sent(1::2), n, MPI_INTEGER, other, 1, MPI_COMM_WORLD)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect_values(received, merge(numbers(2*n, other), numbers(2*n, 5), mod([(i, i=1, 2*n)], 2) == 1), 'sections')
    call free_device(sent)
    call free_device(received)
  end subroutine
#endif

end module
