! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) the Regroup authors
! The product of two matrices whose block columns are divided among the images, by gets of whole
! blocks; then its transpose by puts. a(i,k) = i + k, b(k,j) = k - j.
program matrix
  implicit none
  integer, parameter :: wp = kind(1d0), each = 12
  real(wp), allocatable :: a(:, :)[:], b(:, :)[:], c(:, :)[:], t(:, :)[:], piece(:, :)
  real(wp) :: expected, s
  integer :: i, j, k, n, me, images, other, column
  me = this_image()
  images = num_images()
  n = each * images
  allocate (a(n, each)[*], b(n, each)[*], c(n, each)[*], t(n, each)[*], piece(n, each))
  do j = 1, each
    column = (me - 1) * each + j
    a(:, j) = [(i + column, i=1, n)]
    b(:, j) = [(i - column, i=1, n)]
  end do
  c = 0
  sync all
  do k = 0, images - 1
    other = 1 + mod(me - 1 + k, images)
    piece = a(:, :)[other]
    c = c + matmul(piece, b((other - 1) * each + 1:other * each, :))
  end do
  sync all
  do k = 0, images - 1
    other = 1 + mod(me - 1 + k, images)
    t((me - 1) * each + 1:me * each, :)[other] = transpose(c((other - 1) * each + 1:other * each, :))
  end do
  sync all
  s = n * (n + 1d0) / 2
  do j = 1, each
    column = (me - 1) * each + j
    do i = 1, n
      ! The element (column, i) of the product, by sums of powers.
      expected = column * s - column * n * real(i, wp) + s * (2 * n + 1) / 3 - i * s
      if (t(i, j) /= expected) error stop 'a wrong element of the product'
    end do
  end do
  sync all
  if (me == 1) print '(a)', 'right'
end program
