/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Runs in guards. The arbiter is the guard that listens at an abstract socket whose name follows
 * from the launcher's process; it says yes to the first guard that asks, no to all others, for as
 * long as it lives: also between the end of the guard that has printed and the end of all.
 *
 * Any user of the machine can take such a name, connect with it, or fill its queue. So both sides
 * look at the other's user (SO_PEERCRED), and there are several names: the arbiter takes the first
 * at which none of its user's guards listens. Guards that start at the same time may take two
 * names; the first name at which one listens counts, also for the other one. Where a stranger has
 * taken all names each guard prints. */
#include "noded/daemon/arbiter.h"

#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"

#define NAMES 8
#define QUEUE 1024
#define CHECK_SECONDS 0.01
#define ASK_SECONDS 0.1

enum { NOBODY = -1, NO, YES };

static struct {
  int listener, place; /* as the arbiter: its socket, or -1; the number of its name */
  int granted;         /* a guard may print */
} arbiter = {.listener = -1};

static struct sockaddr_un name_at(int place) {
  struct sockaddr_un a = {.sun_family = AF_UNIX};
  char space[32] = "";
  if (readlink("/proc/self/ns/pid", space, sizeof space - 1) < 0)
    space[0] = 0;
  snprintf(a.sun_path + 1, sizeof a.sun_path - 1, "regroup-end-%d-%s-%d", (int)getppid(), space,
           place);
  return a;
}

static int is_own_user(int fd) {
  struct ucred peer;
  socklen_t size = sizeof peer;
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

/* A connection with the guard that listens at a name; -1: none of this user does. */
static int connect_name(int place) {
  struct sockaddr_un a = name_at(place);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (connect(fd, (struct sockaddr *)&a, sizeof a) == 0 && is_own_user(fd))
    return fd;
  close(fd);
  return -1;
}

/* --- the arbiter ---------------------------------------------------------------------------- */

/* Whether this guard listens at the name, or another one of this user. */
static int take_name(int place) {
  struct sockaddr_un a = name_at(place);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (bind(fd, (struct sockaddr *)&a, sizeof a) == 0 && listen(fd, QUEUE) == 0) {
    arbiter.listener = fd;
    arbiter.place = place;
    return 1;
  }
  close(fd);
  fd = connect_name(place);
  if (fd >= 0)
    close(fd);
  return fd >= 0;
}

void rgi_arbiter_open(void) {
  for (int i = 0; i < NAMES && arbiter.listener < 0; i++)
    if (take_name(i))
      return;
}

int rgi_arbiter_fd(void) {
  return arbiter.listener;
}

static int grant_first(void) {
  int first = !arbiter.granted;
  arbiter.granted = 1;
  return first;
}

/* Who asks only whether somebody listens has closed the connection, and gets no permission. */
static int still_asks(int fd) {
  struct pollfd p = {fd, POLLIN, 0};
  char byte;
  return poll(&p, 1, (int)(1000 * ASK_SECONDS)) > 0 && recv(fd, &byte, 1, MSG_DONTWAIT) == 1;
}

void rgi_arbiter_serve(void) {
  if (arbiter.listener < 0)
    return;
  for (int i = 0, fd; i < QUEUE && (fd = accept4(arbiter.listener, NULL, NULL, SOCK_CLOEXEC)) >= 0;
       i++) {
    if (is_own_user(fd) && still_asks(fd)) {
      char answer = (char)grant_first();
      if (send(fd, &answer, 1, MSG_NOSIGNAL) != 1 && answer)
        arbiter.granted = 0;
    }
    close(fd);
  }
}

/* --- asking --------------------------------------------------------------------------------- */

static int ask_name(int place, double end) {
  char answer = 0;
  int fd = connect_name(place);
  if (fd < 0)
    return NOBODY;
  int left = (int)(1000 * (end - rgi_clock_now())) + 1;
  struct pollfd p = {fd, POLLIN, 0};
  int answered = send(fd, "", 1, MSG_NOSIGNAL) == 1 && poll(&p, 1, left > 0 ? left : 0) > 0 &&
                 recv(fd, &answer, 1, 0) == 1;
  close(fd);
  return !answered ? NOBODY : answer ? YES : NO;
}

/* An arbiter whose name is not the first one asks the others before itself. */
int rgi_arbiter_may_print(double seconds) {
  double end = rgi_clock_now() + seconds;
  int names = arbiter.listener < 0 ? NAMES : arbiter.place;
  do {
    for (int i = 0; i < names; i++) {
      int answer = ask_name(i, end);
      if (answer != NOBODY)
        return answer;
    }
    if (arbiter.listener >= 0)
      return grant_first();
    rgi_arbiter_open(); /* the arbiter has ended */
    if (arbiter.listener < 0)
      rgi_clock_sleep(CHECK_SECONDS);
    names = arbiter.listener < 0 ? NAMES : arbiter.place;
  } while (rgi_clock_now() < end);
  return 1;
}

void rgi_arbiter_wait(double seconds) {
  for (double end = rgi_clock_now() + seconds, left = seconds; left > 0;
       left = end - rgi_clock_now()) {
    struct pollfd p = {arbiter.listener, POLLIN, 0};
    poll(&p, 1, (int)(1000 * left) + 1);
    rgi_arbiter_serve();
  }
}
