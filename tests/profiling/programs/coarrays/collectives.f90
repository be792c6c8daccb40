! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) the Regroup authors
! Collective subroutines: several types and lengths.
program collectives
  implicit none
  integer, parameter :: wp = kind(1d0), n = 50
  real(wp) :: x(n)
  integer :: i, k, me, images, many(n), largest, smallest, root
  complex(wp) :: z
  character(12) :: text
  me = this_image()
  images = num_images()
  do k = 1, 8
    root = 1 + mod(k, images)
    x = [(real(me * i + k, wp), i=1, n)]
    call co_sum(x)
    if (any(x /= [(real(images * (images + 1) / 2 * i + k * images, wp), i=1, n)])) &
      error stop 'a wrong sum'
    many = me * k
    many(k) = -me
    call co_max(many)
    if (many(k) /= -1 .or. any(many(k + 1:) /= images * k)) error stop 'a wrong maximum'
    smallest = k + me
    call co_min(smallest)
    if (smallest /= k + 1) error stop 'a wrong minimum'
    largest = me
    call co_reduce(largest, larger)
    if (largest /= images) error stop 'a wrong reduction'
    z = cmplx(me, -k, wp)
    call co_sum(z)
    if (z /= cmplx(images * (images + 1) / 2, -k * images, wp)) error stop 'a wrong complex sum'
    text = ''
    if (me == root) write (text, '(a, i0)') 'image ', root
    call co_broadcast(text, root)
    x = merge(real(k, wp), 0d0, me == root)
    call co_broadcast(x, root)
    read (text(7:), *) i
    if (i /= root .or. any(x /= k)) error stop 'a wrong broadcast'
  end do
  if (me == 1) print '(a)', 'right'
contains
  pure integer function larger(a, b)
    integer, intent(in) :: a, b
    larger = max(a, b)
  end function
end program
