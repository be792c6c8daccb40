! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) the Regroup authors
!
! Each family of calls of Global Arrays from Fortran, with results in closed form: element (i, j) of most
! arrays is i + 1000 j. Rank 0 prints "ok" or what was wrong.
module checks
  implicit none
  integer :: wrong = 0, me = 0, np = 1
contains
  subroutine check(right, text)
    logical, intent(in) :: right
    character(*), intent(in) :: text
    if (.not. right) then
      wrong = wrong + 1
      print *, 'process', me, ': ', text
    end if
  end subroutine

  pure double precision function value(i, j)
    integer, intent(in) :: i, j
    value = i + 1000 * j
  end function

  ! An array of n x m doubles with these values.
  integer function filled(n, m, name)
#include "mafdecls.fh"
#include "global.fh"
    integer, intent(in) :: n, m
    character(*), intent(in) :: name
    integer :: i, j, lo(2), hi(2)
    double precision, allocatable :: part(:, :)
    call check(ga_create(MT_DBL, n, m, name, 0, 0, filled), 'ga_create')
    call ga_distribution(filled, me, lo(1), hi(1), lo(2), hi(2))
    if (lo(1) > 0 .and. hi(1) >= lo(1)) then
      allocate(part(lo(1):hi(1), lo(2):hi(2)))
      do j = lo(2), hi(2)
        do i = lo(1), hi(1)
          part(i, j) = value(i, j)
        end do
      end do
      call ga_put(filled, lo(1), hi(1), lo(2), hi(2), part, hi(1) - lo(1) + 1)
    end if
    call ga_sync()
  end function
end module

subroutine test_queries
  use checks
  implicit none
#include "mafdecls.fh"
#include "global.fh"
  integer :: g, h, type, n, dims(7), lo(3), hi(3), map(6, 64), procs(64), np_of, owner, k, total
  character(20) :: name
  call check(ga_initialized(), 'ga_initialized')
  call check(ga_cluster_nnodes() >= 1, 'ga_cluster_nnodes')
  call check(nga_create(MT_INT, 3, [6 * np, 5, 4], 'three', [1, 5, 4], g), 'nga_create')
  call nga_inquire(g, type, n, dims)
  call check(type == MT_INT .and. n == 3 .and. all(dims(1:3) == [6 * np, 5, 4]), 'nga_inquire')
  call check(ga_ndim(g) == 3, 'ga_ndim')
  call ga_inquire_name(g, name)
  call check(name == 'three', 'ga_inquire_name')
  ! The tiles cover the array: the first dimension alone is divided.
  call nga_distribution(g, me, lo, hi)
  total = hi(1) - lo(1) + 1
  call ga_igop(1, total, 1, '+')
  call check(total == 6 * np .and. lo(2) == 1 .and. hi(2) == 5 .and. hi(3) == 4, 'nga_distribution')
  call check(nga_locate(g, [lo(1), 2, 3], owner), 'nga_locate')
  call check(owner == me, 'owner')
  call check(nga_locate_region(g, [1, 2, 2], [6 * np, 4, 3], map, procs, np_of), 'nga_locate_region')
  total = 0
  do k = 1, np_of
    total = total + map(4, k) - map(1, k) + 1
    call check(map(2, k) == 2 .and. map(5, k) == 4 .and. map(3, k) == 2 .and. map(6, k) == 3, 'regions')
  end do
  call check(total == 6 * np, 'regions cover the patch')
  call check(ga_duplicate(g, h, 'copy'), 'ga_duplicate')
  call check(ga_compare_distr(g, h), 'ga_compare_distr')
  call check(ga_valid_handle(h), 'ga_valid_handle')
  call check(ga_destroy(h), 'ga_destroy')
  call check(ga_destroy(g), 'ga_destroy')
end subroutine

subroutine test_irregular
  use checks
  implicit none
#include "mafdecls.fh"
#include "global.fh"
  integer :: g, k, map1(64), ilo, ihi, jlo, jhi, regions(5, 64), n
  do k = 1, np
    map1(k) = 1 + k * (k - 1) / 2   ! process k-1 has k rows
  end do
  call check(ga_create_irreg(MT_DBL, np * (np + 1) / 2, 3, 'irregular', map1, np, [1], 1, g), 'ga_create_irreg')
  call ga_distribution(g, me, ilo, ihi, jlo, jhi)
  call check(ilo == map1(me + 1) .and. ihi == ilo + me .and. jlo == 1 .and. jhi == 3, 'ga_distribution')
  call check(ga_locate_region(g, 1, np * (np + 1) / 2, 2, 3, regions, n), 'ga_locate_region')
  call check(n == np, 'pieces')
  do k = 1, n
    call check(all(regions(:, k) == [map1(k), map1(k) + k - 1, 2, 3, k - 1]), 'ga_locate_region''s map')
  end do
  call check(ga_destroy(g), 'ga_destroy')
  g = ga_create_handle()
  call ga_set_data(g, 2, [np * (np + 1) / 2, 3], MT_DBL)
  call ga_set_irreg_distr(g, [map1(1:np), 1], [np, 1])
  call check(ga_allocate(g), 'ga_allocate')
  call ga_distribution(g, me, ilo, ihi, jlo, jhi)
  call check(ilo == map1(me + 1) .and. ihi == ilo + me .and. jlo == 1 .and. jhi == 3, 'ga_set_irreg_distr')
  call check(ga_destroy(g), 'ga_destroy')
end subroutine

subroutine test_onesided
  use checks
  implicit none
#include "mafdecls.fh"
#include "global.fh"
  integer :: n, g, h, i, j, c, nb, is(4), js(4), subs(2, 4)
  double precision :: part(2, 3), four(4), column(6 * np), around(6 * np + 2)
  n = 6 * np
  g = filled(n, n, 'onesided')
  call ga_get(g, n - 1, n, 2, 4, part, 2)
  call check(all(part == reshape([((value(i, j), i = n - 1, n), j = 2, 4)], [2, 3])), 'ga_get')
  call ga_sync()
  call nga_acc(g, [1, 1], [2, 3], [1d0, 2d0, 3d0, 4d0, 5d0, 6d0], [2], 2d0)
  call ga_sync()
  call nga_get(g, [1, 1], [2, 3], part, [2])
  call check(part(2, 3) == value(2, 3) + 12 * np .and. part(2, 1) == value(2, 1) + 4 * np, 'nga_acc')
  call ga_sync()
  if (me == np - 1) then
    part = 7
    call nga_nbput(g, [3, 1], [4, 3], part, [2], nb)
    call nga_nbwait(nb)
    call ga_nbget(g, n, n, n - 2, n, part, 2, nb)
    call ga_nbwait(nb)
    call check(all(part(1, :) == [(value(n, j), j = n - 2, n)]), 'ga_nbget')
  end if
  call ga_sync()
  is = [3, 4, 3, n]
  js = [1, 2, 3, n]
  call ga_gather(g, four, is, js, 4)
  call check(all(four == [7d0, 7d0, 7d0, value(n, n)]), 'ga_gather')
  call ga_sync()
  subs(1, :) = is
  subs(2, :) = js
  if (me == 0) call nga_scatter(g, [1d0, 2d0, 3d0, 4d0], subs, 4)
  call ga_sync()
  call nga_gather(g, four, subs, 4)
  call check(all(four == [1d0, 2d0, 3d0, 4d0]), 'nga_scatter')
  ! Two rows more than the array has, and a column that is twice around.
  call nga_periodic_get(g, [0, n + 4], [n + 1, n + 4], around, [n + 2])
  call nga_get(g, [1, 4], [n, 4], column, [n])
  call check(all(around == [column(n), column, column(1)]), 'nga_periodic_get')
  call ga_sync()
  call check(ga_create(MT_INT, 2, 3, 'counter', 0, 0, h), 'ga_create')
  call ga_zero(h)
  do i = 1, 5
    c = nga_read_inc(h, [2, 3], 3)
    call check(mod(c, 3) == 0 .and. c >= 0 .and. c < 15 * np, 'nga_read_inc')
  end do
  call ga_sync()
  call check(ga_read_inc(h, 2, 3, 0) == 15 * np, 'ga_read_inc')
  call ga_sync()
  call check(ga_destroy(h), 'ga_destroy')
  call check(ga_destroy(g), 'ga_destroy')
end subroutine

! An element of each type of Fortran by its index in the common block of the type. To Global Arrays
! logical values are integers: their index counts from int_mb.
subroutine test_access
  use checks
  implicit none
#include "mafdecls.fh"
#include "global.fh"
  integer, parameter :: types(7) = [MT_BYTE, MT_INT, MT_LOG, MT_REAL, MT_DBL, MT_SCPL, MT_DCPL]
  integer :: t, g, lo(2), hi(2), ld(1), handle
  MA_ACCESS_INDEX_TYPE :: k
  do t = 1, 7
    call check(nga_create(types(t), 2, [3 * np, 5], 'typed', [3, 5], g), 'nga_create')
    call nga_distribution(g, me, lo, hi)
    call nga_access(g, lo, hi, k, ld)
    call check(ld(1) == 3, 'nga_access')
    call set(merge(MT_INT, types(t), types(t) == MT_LOG), k + 4)
    call nga_release_update(g, lo, hi)
    call ga_sync()
    call look(types(t), g, [lo(1) + 1, 2])
    call check(ga_destroy(g), 'ga_destroy')
    call check(MA_push_get(types(t), 10, 'block', handle, k), 'MA_push_get')
    call set(types(t), k + 9)
    call check(MA_verify_allocator_stuff(), 'MA_verify_allocator_stuff')
    call set(types(t), k)
    call check(MA_verify_allocator_stuff(), 'MA_verify_allocator_stuff')
    call check(MA_pop_stack(handle), 'MA_pop_stack')
  end do
contains
  subroutine set(type, at)
    integer, intent(in) :: type
    MA_ACCESS_INDEX_TYPE, intent(in) :: at
    if (type == MT_BYTE) byte_mb(at) = 'x'
    if (type == MT_INT) int_mb(at) = -5
    if (type == MT_LOG) log_mb(at) = .true.
    if (type == MT_REAL) real_mb(at) = 1.5
    if (type == MT_DBL) dbl_mb(at) = 2.5d0
    if (type == MT_SCPL) scpl_mb(at) = (1., -2.)
    if (type == MT_DCPL) dcpl_mb(at) = (3d0, -4d0)
  end subroutine

  subroutine look(type, g, at)
    integer, intent(in) :: type, g, at(2)
    character(1) :: c
    integer :: i
    real :: r
    double precision :: d
    complex :: s
    double complex :: z
    if (type == MT_BYTE) then
      call nga_get(g, at, at, c, [1])
      call check(c == 'x', 'byte_mb')
    else if (type == MT_INT) then
      call nga_get(g, at, at, i, [1])
      call check(i == -5, 'int_mb')
    else if (type == MT_LOG) then
      call nga_get(g, at, at, i, [1])
      call check(i == -5, 'int_mb of a logical array')
    else if (type == MT_REAL) then
      call nga_get(g, at, at, r, [1])
      call check(r == 1.5, 'real_mb')
    else if (type == MT_DBL) then
      call nga_get(g, at, at, d, [1])
      call check(d == 2.5d0, 'dbl_mb')
    else if (type == MT_SCPL) then
      call nga_get(g, at, at, s, [1])
      call check(s == (1., -2.), 'scpl_mb')
    else
      call nga_get(g, at, at, z, [1])
      call check(z == (3d0, -4d0), 'dcpl_mb')
    end if
  end subroutine
end subroutine

subroutine test_patches
  use checks
  implicit none
#include "mafdecls.fh"
#include "global.fh"
  integer :: n, a, b, c, i, j
  double precision :: x(2), total
  double complex :: z
  n = 3 * np + 1
  a = filled(n, n, 'a')
  call check(ga_duplicate(a, b, 'b'), 'ga_duplicate')
  call check(ga_duplicate(a, c, 'c'), 'ga_duplicate')
  call ga_fill(b, 2d0)
  total = ga_ddot(a, b)
  call check(total == 2 * sum([((value(i, j), i = 1, n), j = 1, n)]), 'ga_ddot')
  call ga_dadd(3d0, a, -1d0, b, c)
  call ga_get(c, n, n, 1, 2, x, 1)
  call check(all(x == [(3 * value(n, j) - 2, j = 1, 2)]), 'ga_dadd')
  call ga_sync()
  call ga_dscal_patch(c, 1, 1, 1, n, 10d0)
  call nga_get(c, [1, 2], [2, 2], x, [2])
  call check(x(1) == 10 * (3 * value(1, 2) - 2) .and. x(2) == 3 * value(2, 2) - 2, 'ga_dscal_patch')
  call ga_sync()
  ! The row i of a into column i of b.
  call nga_copy_patch('t', a, [2, 1], [2, n], b, [1, 2], [n, 2])
  call ga_get(b, 3, 4, 2, 2, x, 2)
  call check(all(x == [value(2, 3), value(2, 4)]), 'nga_copy_patch')
  total = ga_ddot_patch(a, 'n', 1, 1, 1, n, b, 't', 1, n, 2, 2)
  call check(total == sum([(value(1, j) * value(2, j), j = 1, n)]), 'ga_ddot_patch')
  call ga_sync()
  call ga_elem_multiply(a, b, c)
  call ga_get(c, 4, 4, 2, 3, x, 1)
  call check(all(x == [value(4, 2) * value(2, 4), 2 * value(4, 3)]), 'ga_elem_multiply')
  call ga_sync()
  call nga_zero_patch(c, [1, 1], [2, 2])
  call nga_fill_patch(c, [1, 1], [1, 1], 9d0)
  call ga_get(c, 1, 2, 1, 1, x, 2)
  call check(all(x == [9d0, 0d0]), 'nga_fill_patch')
  call ga_sync()
  call check(ga_destroy(a) .and. ga_destroy(b) .and. ga_destroy(c), 'ga_destroy')
  call check(nga_create(MT_DCPL, 1, [n], 'complex', [0], a), 'nga_create')
  call ga_fill(a, (1d0, 2d0))
  z = ga_zdot(a, a)
  call check(z == n * (1d0, 2d0) ** 2 .or. z == n * (5d0, 0d0), 'ga_zdot')
  call check(ga_destroy(a), 'ga_destroy')
end subroutine

! Products, transposes, diagonals: rows are the first dimension.
subroutine test_matrices
  use checks
  implicit none
#include "mafdecls.fh"
#include "global.fh"
  integer :: n, m, l, a, b, c, v, i, k
  double precision :: x(2), y(2, 2)
  n = 3 * np + 1
  m = 5
  l = 4
  a = filled(n, m, 'a')
  b = filled(m, l, 'b')
  call check(ga_create(MT_DBL, n, l, 'c', 0, 0, c), 'ga_create')
  call ga_dgemm('n', 'n', n, l, m, 1d0, a, b, 0d0, c)
  call ga_get(c, n, n, l - 1, l, x, 1)
  call check(all(x == [(sum([(value(n, k) * value(k, i), k = 1, m)]), i = l - 1, l)]), 'ga_dgemm')
  call ga_sync()
  call ga_matmul_patch('n', 'n', 2d0, 0d0, a, 2, 3, 1, m, b, 1, m, 3, 4, c, 1, 2, 1, 2)
  call ga_get(c, 1, 2, 1, 2, y, 2)
  call check(y(2, 1) == 2 * sum([(value(3, k) * value(k, 3), k = 1, m)]), 'ga_matmul_patch')
  call ga_sync()
  call check(ga_destroy(c) .and. ga_destroy(b), 'ga_destroy')
  call check(ga_create(MT_DBL, m, n, 't', 0, 0, b), 'ga_create')
  call ga_transpose(a, b)
  call ga_get(b, 4, 5, n, n, x, 2)
  call check(all(x == [value(n, 4), value(n, 5)]), 'ga_transpose')
  call ga_sync()
  call check(ga_destroy(b) .and. ga_destroy(a), 'ga_destroy')
  a = filled(n, n, 'square')
  call check(nga_create(MT_DBL, 1, [n], 'vector', [0], v), 'nga_create')
  call ga_get_diag(a, v)
  call nga_get(v, [n - 1], [n], x, [2])
  call check(all(x == [value(n - 1, n - 1), value(n, n)]), 'ga_get_diag')
  call ga_fill(v, 2d0)
  call nga_fill_patch(v, [3], [3], 10d0)
  call ga_scale_rows(a, v)
  call ga_get(a, 3, 4, 2, 2, x, 2)
  call check(all(x == [10 * value(3, 2), 2 * value(4, 2)]), 'ga_scale_rows')
  call ga_sync()
  call ga_scale_cols(a, v)
  call ga_get(a, 4, 4, 2, 3, x, 1)
  call check(all(x == [4 * value(4, 2), 20 * value(4, 3)]), 'ga_scale_cols')
  call ga_sync()
  call check(ga_destroy(v) .and. ga_destroy(a), 'ga_destroy')
  a = filled(n, n, 'square')
  call ga_symmetrize(a)
  call ga_get(a, 1, 1, n, n, x, 1)
  call check(x(1) == (value(1, n) + value(n, 1)) / 2, 'ga_symmetrize')
  call ga_sync()
  call check(ga_destroy(a), 'ga_destroy')
end subroutine

subroutine test_ghosts
  use checks
  implicit none
#include "mafdecls.fh"
#include "global.fh"
  integer :: g, lo(2), hi(2), dims(2), ld(1), i, j
  MA_ACCESS_INDEX_TYPE :: at
  call check(nga_create_ghosts(MT_DBL, 2, [4 * np, 6], [1, 2], 'ghosts', [4, 6], g), 'nga_create_ghosts')
  call check(ga_has_ghosts(g), 'ga_has_ghosts')
  call nga_distribution(g, me, lo, hi)
  call nga_access_ghosts(g, dims, at, ld)
  call check(all(dims == [6, 10]) .and. ld(1) == 6, 'nga_access_ghosts')
  do j = 1, 6
    do i = 1, 4
      dbl_mb(at + i + (j + 1) * 6) = value(lo(1) + i - 1, j)
    end do
  end do
  call nga_release_update_ghosts(g)
  call ga_sync()
  call ga_update_ghosts(g)
  call nga_access_ghosts(g, dims, at, ld)
  i = mod(lo(1) + 4 * np - 2, 4 * np) + 1   ! the row before, around the edge
  call check(dbl_mb(at + 2 * 6) == value(i, 1), 'a ghost row')
  call check(dbl_mb(at + 1 + 8 * 6) == value(lo(1), 1), 'a ghost column')
  call check(dbl_mb(at) == value(i, 5), 'a ghost corner')
  call nga_release_ghosts(g)
  call check(ga_destroy(g), 'ga_destroy')
end subroutine

subroutine test_collectives
  use checks
  implicit none
#include "mafdecls.fh"
#include "global.fh"
  integer :: i(2), group, k, half, g, seen
  double precision :: d(3)
  real :: s(1)
  double complex :: z(1)
  i = [me, 1]
  call ga_igop(1, i, 2, '+')
  call check(all(i == [np * (np - 1) / 2, np]), 'ga_igop')
  d = me
  call ga_dgop(2, d, 3, 'max')
  call check(all(d == np - 1), 'ga_dgop')
  s = 2
  call ga_sgop(3, s, 1, '*')
  call check(s(1) == 2. ** np, 'ga_sgop')
  z = (1d0, 1d0)
  call ga_zgop(4, z, 1, '+')
  call check(z(1) == np * (1d0, 1d0), 'ga_zgop')
  i = [me, me]
  call ga_brdcst(5, i, 2 * storage_size(i) / 8, np - 1)
  call check(all(i == np - 1), 'ga_brdcst')
  ! The lower half as a group, and an array on it.
  half = (np + 1) / 2
  if (me < half) then
    group = ga_pgroup_create([(k, k = 0, half - 1)], half)
    call check(ga_pgroup_nnodes(group) == half .and. ga_pgroup_nodeid(group) == me, 'ga_pgroup_create')
    i(1) = 1
    call ga_pgroup_igop(group, 6, i, 1, '+')
    call check(i(1) == half, 'ga_pgroup_igop')
    call ga_pgroup_set_default(group)
    call check(nga_create(MT_DBL, 1, [half], 'of a half', [1], g), 'nga_create')
    call check(ga_get_pgroup(g) == group, 'ga_get_pgroup')
    call ga_fill(g, 1d0)
    call check(ga_ddot(g, g) == half, 'ga_ddot')
    call check(ga_destroy(g), 'ga_destroy')
    call ga_pgroup_set_default(ga_pgroup_get_world())
    call ga_pgroup_sync(group)
    call check(ga_pgroup_destroy(group), 'ga_pgroup_destroy')
  end if
  call ga_sync()
  ! A mutex keeps the increments apart.
  call check(nga_create(MT_INT, 1, [1], 'sum', [0], g), 'nga_create')
  call ga_zero(g)
  call check(ga_create_mutexes(1), 'ga_create_mutexes')
  do k = 1, 10
    call ga_lock(0)
    call ga_init_fence()
    call nga_get(g, [1], [1], seen, [1])
    call nga_put(g, [1], [1], seen + 1, [1])
    call ga_fence()
    call ga_unlock(0)
  end do
  call ga_sync()
  call nga_get(g, [1], [1], seen, [1])
  call check(seen == 10 * np, 'ga_lock')
  call ga_sync()
  call check(ga_destroy_mutexes(), 'ga_destroy_mutexes')
  call check(ga_destroy(g), 'ga_destroy')
end subroutine

! Tiles of 2 x 3 that go around the processes.
subroutine test_tiles
  use checks
  implicit none
#include "mafdecls.fh"
#include "global.fh"
  integer :: g, i, j, n, lo(2), hi(2), blocks(2), sizes(2)
  character(20) :: name
  double precision :: x(2)
  n = 2 * np + 1
  g = ga_create_handle()
  call ga_set_data(g, 2, [n, 7], MT_DBL)
  call ga_set_array_name(g, 'tiles')
  call ga_set_block_cyclic(g, [2, 3])
  call check(ga_allocate(g), 'ga_allocate')
  call ga_inquire_name(g, name)
  call check(name == 'tiles', 'ga_set_array_name')
  call ga_get_block_info(g, blocks, sizes)
  call check(all(blocks == [np + 1, 3]) .and. all(sizes == [2, 3]), 'ga_get_block_info')
  call check(ga_total_blocks(g) == 3 * (np + 1), 'ga_total_blocks')
  call nga_distribution(g, 1, lo, hi)
  call check(all(lo == [3, 1]) .and. hi(2) == 3, 'the second block follows in the first dimension')
  if (me == 0) then
    do j = 1, 7
      do i = 1, n
        call ga_put(g, i, i, j, j, value(i, j), 1)
      end do
    end do
  end if
  call ga_sync()
  call ga_get(g, n - 1, n, 7, 7, x, 2)
  call check(all(x == [value(n - 1, 7), value(n, 7)]), 'ga_get')
  call ga_sync()
  call check(ga_destroy(g), 'ga_destroy')
end subroutine

program fortran_calls
  use checks
  implicit none
#include "mafdecls.fh"
#include "global.fh"
  integer :: code
  call mpi_init(code)
  call ga_initialize()
  me = ga_nodeid()
  np = ga_nnodes()
  call check(MA_init(MT_DBL, 100000, 100000), 'MA_init')
  call test_queries
  call test_irregular
  call test_onesided
  call test_access
  call test_patches
  call test_matrices
  call test_ghosts
  call test_collectives
  call test_tiles
  call ga_igop(9, wrong, 1, '+')
  if (me == 0 .and. wrong == 0) print '(a)', 'ok'
  call ga_terminate()
  call mpi_finalize(code)
  if (wrong /= 0) error stop
end program
