! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) the Regroup authors
!
! For test_respawn.py: the ranks of MPI_COMM_WORLD spawn one process and merge with it. Prints the
! size of the world and the sum of the ranks plus one, and what the spawned one has got.
program fortran_spawn
  use mpi_f08
  implicit none
  integer, parameter :: MPIX_FT = 603979895
  integer :: n, rank, total, codes(1)
  integer(MPI_ADDRESS_KIND) :: value
  logical :: tolerant
  type(MPI_Comm) :: parent, inter, both
  character(len=512) :: words(2), program_name, word
  call MPI_Init()
  call MPI_Comm_size(MPI_COMM_WORLD, n)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPIX_FT, value, tolerant)
  if (.not. tolerant .or. value /= 1) print '(a)', 'WRONG: MPIX_FT of MPI_COMM_WORLD'
  call MPI_Comm_get_parent(parent)
  if (parent == MPI_COMM_NULL) then
    words(1) = 'child'
    words(2) = ' '
    call get_command_argument(0, program_name)
    call MPI_Comm_spawn(program_name, words, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, inter, codes)
    call MPI_Intercomm_merge(inter, .false., both)
  else
    call get_command_argument(1, word)
    print '(3a,i0,a,i0)', 'spawned ', trim(word), ' ', command_argument_count(), ' ', n
    call MPI_Intercomm_merge(parent, .true., both)
  end if
  total = rank + 1
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, both)
  call MPI_Comm_rank(both, rank)
  if (rank == 0) print '(a,i0,a,i0)', 'world ', n, ' sum ', total
  call MPI_Finalize()
end program
