/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * ranks: 1
 * Which guard prints: one of all that ask, also when another user has taken the name at which the
 * arbiter is looked for, asks it, or fills its queue. Guards are children of this process here; the
 * other user's processes, too, if this one may become another user. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "noded/daemon/arbiter.h"
#include "tests/check/check.h"

enum { GUARDS = 6, STRANGER = 65534, SECONDS = 3 };

/* --- processes ------------------------------------------------------------------------------ */

typedef struct {
  pid_t pid;
  int orders, answers; /* pipes: a byte each */
} process;

static process begin(void (*work)(int orders, int answers, int argument), int argument) {
  int to[2], from[2];
  process p = {-1, -1, -1};
  if (!RGT_INT(pipe(to), 0) || !RGT_INT(pipe(from), 0))
    return p;
  p = (process){fork(), to[1], from[0]};
  if (p.pid == 0) {
    close(to[1]);
    close(from[0]);
    work(to[0], from[1], argument);
    _exit(0);
  }
  close(to[0]);
  close(from[1]);
  return p;
}

static char ask(process *p) {
  char answer = '?';
  RGT_INT(write(p->orders, "x", 1), 1);
  RGT_INT(read(p->answers, &answer, 1), 1);
  return answer;
}

static void end(process *p) {
  close(p->orders);
  close(p->answers);
  kill(p->pid, SIGKILL);
  waitpid(p->pid, NULL, 0);
}

/* --- guards --------------------------------------------------------------------------------- */

static int has_order(int orders) {
  struct pollfd p = {orders, POLLIN, 0};
  return poll(&p, 1, 1) > 0;
}

/* First it opens, then it asks whether it may print; and it serves all the time. */
static void be_guard(int orders, int answers, int unused) {
  char byte;
  (void)unused;
  for (int step = 0; read(orders, &byte, 1) == 1; step++) {
    if (step == 0)
      rgi_arbiter_open();
    char answer = step == 0 ? 'o' : rgi_arbiter_may_print(SECONDS) ? 'y' : 'n';
    if (write(answers, &answer, 1) != 1)
      return;
    while (rgi_arbiter_fd() >= 0 && !has_order(orders))
      rgi_arbiter_serve();
  }
}

/* How many of the guards may print; the first `gone` that were allowed end before the next asks. */
static int count_permitted(int gone) {
  process guards[GUARDS];
  int permitted = 0;
  for (int i = 0; i < GUARDS; i++) {
    guards[i] = begin(be_guard, 0);
    RGT_INT(ask(&guards[i]), 'o');
  }
  for (int i = GUARDS - 1; i >= 0; i--) {
    char answer = ask(&guards[i]);
    permitted += answer == 'y';
    RGT_TRUE(answer == 'y' || answer == 'n');
    if (answer == 'y' && gone)
      kill(guards[i].pid, SIGKILL);
  }
  for (int i = 0; i < GUARDS; i++)
    end(&guards[i]);
  return permitted;
}

static void test_one(void) {
  RGT_INT(count_permitted(0), 1);
  RGT_INT(count_permitted(1), 1);
}

static void test_alone(void) {
  process guard = begin(be_guard, 0);
  RGT_INT(ask(&guard), 'o');
  RGT_INT(ask(&guard), 'y');
  RGT_INT(ask(&guard), 'n');
  end(&guard);
}

/* --- another user --------------------------------------------------------------------------- */

enum { TAKE, TAKE_AND_FILL, TAKE_SILENTLY, ASK };

static struct sockaddr_un first_name(void) {
  struct sockaddr_un a = {.sun_family = AF_UNIX};
  char space[32] = "";
  if (readlink("/proc/self/ns/pid", space, sizeof space - 1) < 0)
    space[0] = 0;
  snprintf(a.sun_path + 1, sizeof a.sun_path - 1, "regroup-end-%d-%s-0", (int)getppid(), space);
  return a;
}

static int is_done(int how, int s, const struct sockaddr_un *address) {
  const struct sockaddr *to = (const struct sockaddr *)address;
  if (how != ASK &&
      (bind(s, to, sizeof *address) != 0 || (how != TAKE_SILENTLY && listen(s, 0) != 0)))
    return 0;
  for (int i = 0; i < 20 && (how == ASK || how == TAKE_AND_FILL); i++) {
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (connect(fd, to, sizeof *address) == 0 && send(fd, "", 1, MSG_NOSIGNAL) != 1)
      return 0;
  }
  return 1;
}

static void be_stranger(int orders, int answers, int how) {
  struct sockaddr_un a = first_name();
  char byte;
  int s = socket(AF_UNIX, SOCK_STREAM, 0), fine = setuid(STRANGER) == 0;
  while (read(orders, &byte, 1) == 1)
    if (write(answers, fine && is_done(how, s, &a) ? "d" : "f", 1) != 1)
      return;
}

static void test_taken(void) {
  for (int how = TAKE; how <= TAKE_SILENTLY; how++) {
    process stranger = begin(be_stranger, how);
    RGT_INT(ask(&stranger), 'd');
    RGT_INT(count_permitted(0), 1);
    RGT_INT(count_permitted(1), 1);
    end(&stranger);
  }
}

/* The stranger's questions are not answered: the guard that asks later may still print. */
static void test_asked(void) {
  process arbiter = begin(be_guard, 0), guard = begin(be_guard, 0), stranger;
  RGT_INT(ask(&arbiter), 'o');
  RGT_INT(ask(&guard), 'o');
  stranger = begin(be_stranger, ASK);
  RGT_INT(ask(&stranger), 'd');
  RGT_INT(ask(&guard), 'y');
  RGT_INT(ask(&arbiter), 'n');
  end(&stranger);
  end(&guard);
  end(&arbiter);
}

int main(int argc, char **argv) {
  static const rgt_test root[] = {{"one", test_one},
                                  {"alone", test_alone},
                                  {"taken", test_taken},
                                  {"asked", test_asked},
                                  {NULL, NULL}},
                        user[] = {{"one", test_one}, {"alone", test_alone}, {NULL, NULL}};
  signal(SIGPIPE, SIG_IGN);
  return rgt_main(argc, argv, "arbiter", geteuid() == 0 ? root : user);
}
