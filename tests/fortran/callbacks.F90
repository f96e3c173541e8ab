! What MPI calls back in Fortran, with Fortran's arguments: operations, error handlers, attributes.
#include "mpi_interface.inc"
module callbacks
  USE_MPI
  use device_arrays
  implicit none
  INCLUDE_MPI
  private
  public :: test_callbacks
  integer :: rank, ierr
  integer :: code_heard = 0, attributes_deleted = 0
  HANDLE(MPI_Comm) :: communicator_heard

contains

  subroutine test_callbacks(own_rank)
    integer, intent(in) :: own_rank
    rank = own_rank
    call reduce_by_own_operation(100)
    call reduce_by_own_operation(100000)
    call hear_of_truncation()
    call free_what_has_an_attribute()
  end subroutine

#if defined(WITH_MPI_F08)
  subroutine keep_larger(in, inout, n, type)
    type(c_ptr), value :: in, inout
    integer :: n
    type(MPI_Datatype) :: type
    integer, pointer :: given(:), kept(:)
    call c_f_pointer(in, given, [n])
    call c_f_pointer(inout, kept, [n])
    if (type == MPI_INTEGER) kept = max(given, kept)
  end subroutine
#else
  subroutine keep_larger(given, kept, n, type)
    integer :: n, type
    integer :: given(n), kept(n)
    if (type == MPI_INTEGER) kept = max(given, kept)
  end subroutine
#endif

  subroutine reduce_by_own_operation(n)
    integer, intent(in) :: n
    integer, pointer, contiguous :: given(:), kept(:)
    HANDLE(MPI_Op) :: larger
    integer :: ranks
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    call MPI_Op_create(keep_larger, .true., larger, ierr)
    given => on_device(numbers(n, rank))
    kept => on_device(numbers(n, 0))
    call MPI_Allreduce(given, kept, n, MPI_INTEGER, larger, MPI_COMM_WORLD, ierr)
    call expect_values(kept, numbers(n, ranks - 1), 'an operation in Fortran')
    call MPI_Op_free(larger, ierr)
    call expect(larger == MPI_OP_NULL, 'the operation after MPI_Op_free')
    call free_device(given)
    call free_device(kept)
  end subroutine

  subroutine hear(communicator, code)
    HANDLE(MPI_Comm) :: communicator
    integer :: code
    communicator_heard = communicator
    code_heard = code
  end subroutine

  subroutine hear_of_truncation()
    integer, parameter :: n = 50000
    integer, pointer, contiguous :: buffer(:)
    HANDLE(MPI_Comm) :: copy
    HANDLE(MPI_Errhandler) :: handler
    integer :: error_class
    buffer => on_device(numbers(n, rank))
    call MPI_Comm_dup(MPI_COMM_WORLD, copy, ierr)
    call MPI_Comm_create_errhandler(hear, handler, ierr)
    call MPI_Comm_set_errhandler(copy, handler, ierr)
    if (rank == 0) call MPI_Send(buffer, n, MPI_INTEGER, 1, 1, copy, ierr)
    if (rank == 1) then
      call MPI_Recv(buffer, n/2, MPI_INTEGER, 0, 1, copy, MPI_STATUS_IGNORE, ierr)
      call MPI_Error_class(code_heard, error_class, ierr)
      call expect(error_class == MPI_ERR_TRUNCATE, 'what an error handler in Fortran hears')
      call expect(communicator_heard == copy, 'the communicator of which an error handler in Fortran hears')
    end if
    call MPI_Errhandler_free(handler, ierr)
    call MPI_Comm_free(copy, ierr)
    call free_device(buffer)
  end subroutine

  subroutine note_deletion(communicator, keyval, value, extra_state, error)
    HANDLE(MPI_Comm) :: communicator
    integer :: keyval, error
    integer(MPI_ADDRESS_KIND) :: value, extra_state
    if (value == 42 .and. extra_state == 43 .and. keyval /= MPI_KEYVAL_INVALID) attributes_deleted = attributes_deleted + 1
    communicator_heard = communicator
    error = MPI_SUCCESS
  end subroutine

  subroutine free_what_has_an_attribute()
    HANDLE(MPI_Comm) :: copy
    integer :: keyval
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, note_deletion, keyval, 43_MPI_ADDRESS_KIND, ierr)
    call MPI_Comm_dup(MPI_COMM_WORLD, copy, ierr)
    call MPI_Comm_set_attr(copy, keyval, 42_MPI_ADDRESS_KIND, ierr)
    call MPI_Comm_free(copy, ierr)
    call expect(attributes_deleted == 1, 'the callback of an attribute in Fortran')
    call MPI_Comm_free_keyval(keyval, ierr)
  end subroutine

end module
