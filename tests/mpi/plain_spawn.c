/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * Calls on MPI_COMM_WORLD of a job with processes in reserve, and MPI_Comm_spawn out of it, for
 * test_respawn.py: plain_spawn WORKERS RESERVE. Rank 0 prints "OK"; what is wrong prints "WRONG".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plain.h"

#ifdef MPICH

static int workers, reserve, rank;
static char *program;

static void check(int good, const char *what) {
  if (!good)
    printf("WRONG rank %d: %s\n", rank, what);
}

#define CHECK(good) check(good, #good)

static int class_of(int code) {
  int class = -1;
  MPI_Error_class(code, &class);
  return class;
}

static int sum_over(MPI_Comm comm) {
  int one = 1, sum = -1;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  return sum;
}

/* --- MPI_COMM_WORLD ------------------------------------------------------------------------- */

static void use_names(void) {
  char name[MPI_MAX_OBJECT_NAME];
  int length, result, inter = 1, *value, found;
  MPI_Comm same = MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD));
  MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
  CHECK(strcmp(name, "MPI_COMM_WORLD") == 0);
  MPI_Comm_compare(MPI_COMM_WORLD, same, &result);
  CHECK(result == MPI_IDENT);
  MPI_Comm_test_inter(MPI_COMM_WORLD, &inter);
  CHECK(!inter);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &found);
  CHECK(found && *value == workers + reserve);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found);
  CHECK(found && *value >= 32767);
}

static void use_groups(void) {
  MPI_Group group;
  MPI_Comm made;
  int size = -1;
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  MPI_Group_size(group, &size);
  CHECK(size == workers);
  MPI_Comm_create(MPI_COMM_WORLD, group, &made);
  CHECK(sum_over(made) == workers);
  MPI_Comm_free(&made);
  MPI_Comm_create_group(MPI_COMM_WORLD, group, 3, &made);
  CHECK(sum_over(made) == workers);
  MPI_Comm_free(&made);
  MPI_Group_free(&group);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
  CHECK(sum_over(made) <= workers);
  MPI_Comm_free(&made);
}

static void use_messages(void) {
  int right = (rank + 1) % workers, left = (rank + workers - 1) % workers, got = -1, flag;
  MPI_Request requests[2];
  MPI_Send_init(&rank, 1, MPI_INT, right, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&got, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Start(&requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  MPI_Request_free(&requests[0]);
  CHECK(got == left);
  MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  CHECK(!flag);
  MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

static void use_windows(void) {
  int *memory, got = -1, before = 0, right = (rank + 1) % workers;
  MPI_Win win;
  MPI_Win_allocate(sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  *memory = rank;
  MPI_Win_fence(0, win);
  MPI_Get(&got, 1, MPI_INT, right, 0, 1, MPI_INT, win);
  MPI_Win_fence(before, win);
  CHECK(got == right);
  MPI_Win_free(&win);
}

static void use_files(void) {
  char name[] = "/tmp/plain_spawn.XXXXXX";
  int got = -1;
  MPI_File file;
  if (rank == 0)
    close(mkstemp(name));
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                &file);
  MPI_File_write_at_all(file, rank * 4, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_read_at_all(file, rank * 4, &got, 1, MPI_INT, MPI_STATUS_IGNORE);
  CHECK(got == rank);
  MPI_File_close(&file);
}

static void use_topology(void) {
  int dims[1] = {workers}, periods[1] = {1}, status, place = -1, type;
  MPI_Comm ring, inter, half;
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring);
  MPI_Cart_rank(ring, &rank, &place);
  CHECK(place == rank);
  MPI_Comm_free(&ring);
  MPI_Topo_test(MPI_COMM_WORLD, &type);
  CHECK(type == MPI_UNDEFINED);
  status = rank % 2;
  MPI_Comm_split(MPI_COMM_WORLD, status, rank, &half);
  if (workers > 1) {
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - status, 5, &inter);
    CHECK(sum_over(inter) == (status ? (workers + 1) / 2 : workers / 2));
    MPI_Comm_free(&inter);
  }
  MPI_Comm_free(&half);
}

/* --- spawning ------------------------------------------------------------------------------- */

static void refuse(void) {
  MPI_Comm inter;
  MPI_Session session;
  int codes[64] = {0};
#define SPAWN(command, n, root)                                                                    \
  class_of(MPI_Comm_spawn(command, MPI_ARGV_NULL, n, MPI_INFO_NULL, root, MPI_COMM_WORLD, &inter,  \
                          codes))
  CHECK(SPAWN("/bin/true", 1, 0) == MPI_ERR_SPAWN);
  CHECK(codes[0] == MPI_ERR_SPAWN);
  CHECK(SPAWN(program, reserve + 1, 0) == MPI_ERR_SPAWN);
  CHECK(inter == MPI_COMM_NULL);
  CHECK(SPAWN(program, 0, 0) == MPI_ERR_ARG);
  CHECK(SPAWN(program, 1, workers) == MPI_ERR_ROOT);
  CHECK(class_of(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session)) ==
        MPI_ERR_UNSUPPORTED_OPERATION);
}

/* Messages and a merge, those with high behind. */
static void meet(MPI_Comm inter, int high, int mine, int others) {
  MPI_Comm both;
  int at, size, here, sent = high;
  MPI_Comm_remote_size(inter, &size);
  CHECK(size == others);
  MPI_Comm_rank(inter, &here);
  if (here == 0) {
    int got = -1;
    MPI_Sendrecv(&sent, 1, MPI_INT, 0, 2, &got, 1, MPI_INT, 0, 2, inter, MPI_STATUS_IGNORE);
    CHECK(got == !high);
  }
  MPI_Barrier(inter);
  MPI_Intercomm_merge(inter, high, &both);
  MPI_Comm_rank(both, &at);
  CHECK(at == (high ? others : 0) + here);
  CHECK(sum_over(both) == mine + others);
  MPI_Comm_free(&both);
}

static void spawn_one(void) {
  char name[] = "child", text[] = "x y", none[] = "", *words[] = {name, text, none, NULL};
  MPI_Comm inter;
  int code = -1;
  MPI_Comm_spawn(program, words, 1, MPI_INFO_NULL, workers - 1, MPI_COMM_WORLD, &inter, &code);
  CHECK(code == MPI_SUCCESS);
  meet(inter, 0, workers, 1);
  MPI_Comm_disconnect(&inter);
}

static void spawn_two(void) {
  char one[] = "first", two[] = "second", more[] = "more";
  char *first[] = {one, NULL}, *second[] = {two, more, NULL};
  char *programs[] = {program, program}, **words[] = {first, second};
  int most[] = {1, 1}, codes[] = {-1, -1};
  MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
  MPI_Comm inter;
  MPI_Comm_spawn_multiple(2, programs, words, most, infos, 0, MPI_COMM_WORLD, &inter, codes);
  CHECK(codes[0] == MPI_SUCCESS && codes[1] == MPI_SUCCESS);
  meet(inter, 1, workers, 2);
  MPI_Comm_free(&inter);
}

static void spawned(MPI_Comm parent, int argc, char **argv) {
  int *appnum, found, size, is_second = strcmp(argv[1], "second") == 0;
  MPI_Comm inter, after;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &appnum, &found);
  CHECK(found && *appnum == is_second && sum_over(MPI_COMM_WORLD) == size);
  if (strcmp(argv[1], "child") == 0) {
    char name[] = "grandchild", *words[] = {name, NULL};
    CHECK(size == 1 && argc == 4 && strcmp(argv[2], "x y") == 0 && argv[3][0] == '\0');
    meet(parent, 1, 1, workers);
    MPI_Comm_spawn(argv[0], words, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE);
    meet(inter, 0, 1, 1);
    MPI_Comm_free(&inter);
  } else if (strcmp(argv[1], "grandchild") == 0) {
    CHECK(size == 1 && argc == 2);
    meet(parent, 1, 1, 1);
  } else {
    CHECK(size == 2 && rank == is_second && argc == 2 + is_second);
    meet(parent, 0, 2, workers);
  }
  MPI_Comm_free(&parent);
  MPI_Comm_get_parent(&after);
  CHECK(after == MPI_COMM_NULL);
}

int main(int argc, char **argv) {
  int size;
  MPI_Comm parent;
  program = argv[0];
  workers = atoi(argv[1]);
  reserve = atoi(argv[2]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    spawned(parent, argc, argv);
    MPI_Finalize();
    return 0;
  }
  CHECK(size == workers);
  use_names();
  use_groups();
  use_messages();
  use_windows();
  use_files();
  use_topology();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  refuse();
  if (reserve >= 4) {
    spawn_one();
    spawn_two();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    printf("OK\n");
  MPI_Finalize();
  return 0;
}

#else
int main(void) {
  return 0;
}
#endif
