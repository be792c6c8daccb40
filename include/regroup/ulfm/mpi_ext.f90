! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) the Regroup authors
!
! MPI's fault-tolerance extension in Fortran: mpi_ext beside "use mpi" and mpif.h, mpi_ext_f08
! beside "use mpi_f08". Constants and interfaces only: where the folder has no .mod files for the
! compiler, this file is compiled with the program. regroup/mpi-ext.h has the same calls in C.

module mpi_ext_constants
  implicit none
  public

  integer, parameter :: MPIX_ERR_PROC_FAILED = 101
  integer, parameter :: MPIX_ERR_PROC_FAILED_PENDING = 102
  integer, parameter :: MPIX_ERR_REVOKED = 103
  integer, parameter :: MPIX_FT = 603979895
end module mpi_ext_constants

module mpi_ext
  use mpi_ext_constants
  implicit none
  public

  interface
    subroutine MPIX_COMM_REVOKE(comm, ierror)
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine

    subroutine MPIX_COMM_IS_REVOKED(comm, flag, ierror)
      integer, intent(in) :: comm
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine

    subroutine MPIX_COMM_SHRINK(comm, newcomm, ierror)
      integer, intent(in) :: comm
      integer, intent(out) :: newcomm, ierror
    end subroutine

    subroutine MPIX_COMM_ISHRINK(comm, newcomm, request, ierror)
      integer, intent(in) :: comm
      integer, intent(out) :: newcomm, request, ierror
    end subroutine

    subroutine MPIX_COMM_AGREE(comm, flag, ierror)
      integer, intent(in) :: comm
      integer, intent(inout) :: flag
      integer, intent(out) :: ierror
    end subroutine

    subroutine MPIX_COMM_IAGREE(comm, flag, request, ierror)
      integer, intent(in) :: comm
      integer, intent(inout) :: flag
      integer, intent(out) :: request, ierror
    end subroutine

    subroutine MPIX_COMM_FAILURE_ACK(comm, ierror)
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine

    subroutine MPIX_COMM_FAILURE_GET_ACKED(comm, failedgrp, ierror)
      integer, intent(in) :: comm
      integer, intent(out) :: failedgrp, ierror
    end subroutine

    subroutine MPIX_COMM_GET_FAILED(comm, failedgrp, ierror)
      integer, intent(in) :: comm
      integer, intent(out) :: failedgrp, ierror
    end subroutine

    subroutine MPIX_COMM_ACK_FAILED(comm, num_to_ack, num_acked, ierror)
      integer, intent(in) :: comm, num_to_ack
      integer, intent(out) :: num_acked, ierror
    end subroutine
  end interface
end module mpi_ext

! MPICH's mpi_f08 has MPIX_Comm_revoke, _shrink, _failure_ack and _failure_get_acked.
module mpi_ext_f08
  use mpi_ext_constants
  implicit none
  public

  interface MPIX_Comm_is_revoked
    subroutine mpix_comm_is_revoked_f08(comm, flag, ierror)
      use mpi_f08, only: MPI_Comm
      type(MPI_Comm), intent(in) :: comm
      logical, intent(out) :: flag
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface

  interface MPIX_Comm_ishrink
    subroutine mpix_comm_ishrink_f08(comm, newcomm, request, ierror)
      use mpi_f08, only: MPI_Comm, MPI_Request
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Comm), intent(out), asynchronous :: newcomm
      type(MPI_Request), intent(out) :: request
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface

  interface MPIX_Comm_agree
    subroutine mpix_comm_agree_f08(comm, flag, ierror)
      use mpi_f08, only: MPI_Comm
      type(MPI_Comm), intent(in) :: comm
      integer, intent(inout) :: flag
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface

  interface MPIX_Comm_iagree
    subroutine mpix_comm_iagree_f08(comm, flag, request, ierror)
      use mpi_f08, only: MPI_Comm, MPI_Request
      type(MPI_Comm), intent(in) :: comm
      integer, intent(inout), asynchronous :: flag
      type(MPI_Request), intent(out) :: request
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface

  interface MPIX_Comm_get_failed
    subroutine mpix_comm_get_failed_f08(comm, failedgrp, ierror)
      use mpi_f08, only: MPI_Comm, MPI_Group
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Group), intent(out) :: failedgrp
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface

  interface MPIX_Comm_ack_failed
    subroutine mpix_comm_ack_failed_f08(comm, num_to_ack, num_acked, ierror)
      use mpi_f08, only: MPI_Comm
      type(MPI_Comm), intent(in) :: comm
      integer, intent(in) :: num_to_ack
      integer, intent(out) :: num_acked
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
end module mpi_ext_f08
