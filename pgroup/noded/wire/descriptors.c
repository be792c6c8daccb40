/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors */
#include "noded/wire/descriptors.h"

#include <errno.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static int spare = -1, said;

int rgi_descriptors_ran_out(int error) {
  return error == EMFILE || error == ENFILE;
}

int rgi_descriptors_raise(void) {
  struct rlimit l;
  if (getrlimit(RLIMIT_NOFILE, &l) != 0 || l.rlim_cur >= l.rlim_max)
    return 0;
  l.rlim_cur = l.rlim_max;
  return setrlimit(RLIMIT_NOFILE, &l) == 0;
}

long long rgi_descriptors_limit(void) {
  struct rlimit l;
  return getrlimit(RLIMIT_NOFILE, &l) == 0 ? (long long)l.rlim_cur : -1;
}

void rgi_descriptors_spare(void) {
  if (spare < 0)
    spare = eventfd(0, EFD_CLOEXEC);
}

void rgi_descriptors_turn_away(int listener) {
  if (!said++)
    fprintf(stderr,
            "regroup: a node daemon has no descriptor left for a connection: the limit "
            "(RLIMIT_NOFILE) is %lld; the other side has to wait\n",
            rgi_descriptors_limit());
  if (spare >= 0)
    close(spare);
  spare = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  if (spare >= 0)
    close(spare);
  spare = -1;
  rgi_descriptors_spare();
}
