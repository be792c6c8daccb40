! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) the Regroup authors
!
! MPI's fault-tolerance extension in Fortran, for test_fault_fortran.py. Rank 1 kills itself; the
! others acknowledge it, agree, shrink, with and without requests. Prints "RESULT members wrong".
program fortran_fault
  use mpi
  use mpi_ext
  implicit none
  integer :: rank, size, ierr, comm, again, group, n, flag, request, wrong, mine, total
  integer(kind=MPI_ADDRESS_KIND) :: value
  logical :: found, revoked

  wrong = 0
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPIX_FT, value, found, ierr)
  call check(found .and. value == 1)
  if (rank == 1) call kill_me()
  mine = 1
  call MPI_Allreduce(mine, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call check(ierr == MPIX_ERR_PROC_FAILED)
  flag = 7
  if (rank == 0) flag = 5
  call MPIX_Comm_agree(MPI_COMM_WORLD, flag, ierr)
  call check(flag == 5 .and. ierr == MPIX_ERR_PROC_FAILED)
  call MPIX_Comm_failure_ack(MPI_COMM_WORLD, ierr)
  call MPIX_Comm_failure_get_acked(MPI_COMM_WORLD, group, ierr)
  call MPI_Group_size(group, n, ierr)
  call check(n == 1)
  call MPI_Group_free(group, ierr)
  call MPIX_Comm_ack_failed(MPI_COMM_WORLD, size, n, ierr)
  call check(n == 1)
  call MPIX_Comm_get_failed(MPI_COMM_WORLD, group, ierr)
  call MPI_Group_free(group, ierr)
  flag = 3
  if (rank == 0) flag = 6
  call MPIX_Comm_iagree(MPI_COMM_WORLD, flag, request, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  call check(flag == 2 .and. ierr == MPI_SUCCESS)
  call MPIX_Comm_is_revoked(MPI_COMM_SELF, revoked, ierr)
  call check(.not. revoked)
  call MPIX_Comm_revoke(MPI_COMM_WORLD, ierr)
  call MPIX_Comm_is_revoked(MPI_COMM_WORLD, revoked, ierr)
  call check(revoked)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call check(ierr == MPIX_ERR_REVOKED)
  call MPIX_Comm_shrink(MPI_COMM_WORLD, comm, ierr)
  call check(ierr == MPI_SUCCESS)
  call MPIX_Comm_ishrink(comm, again, request, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  call MPI_Allreduce(mine, total, 1, MPI_INTEGER, MPI_SUM, again, ierr)
  call check(total == size - 1 .and. ierr == MPI_SUCCESS)
  call MPI_Comm_free(again, ierr)
  call MPI_Allreduce(wrong, total, 1, MPI_INTEGER, MPI_SUM, comm, ierr)
  call MPI_Comm_size(comm, n, ierr)
  if (rank == 0) print '(a, 2i3)', 'RESULT', n, total
  call MPI_Finalize(ierr)

contains
  subroutine check(right)
    logical, intent(in) :: right
    if (.not. right) wrong = wrong + 1
  end subroutine

  subroutine kill_me()
    use, intrinsic :: iso_c_binding
    interface
      integer(c_int) function raise(signal) bind(c)
        import :: c_int
        integer(c_int), value :: signal
      end function
    end interface
    integer(c_int) :: code
    code = raise(9_c_int)
  end subroutine
end program fortran_fault
