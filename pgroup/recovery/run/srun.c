/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) the Regroup authors
 *
 * srun ends when Slurm takes a lost node for down, which may be minutes after the survivors have
 * ended, or never. So when the daemons have told that a node is lost, srun is asked for the state
 * of its tasks from time to time, by SIGINT, which makes it print lines like
 *
 *     srun: StepId=1.0 tasks 4-7: running
 *
 * (a second SIGINT within the next second would end the job: each question waits for the answer to
 * the one before). When no task runs but those of lost nodes,
 * SIGKILL ends srun; a process that srun leaves behind for that ends the step. The status is then
 * that of the tasks that are not on lost nodes, of which srun has told by lines like
 *
 *     srun: error: node1: task 1: Exited with exit code 7
 *
 * A node without a majority tells that it ends. If none of the others tells in time that it is
 * lost, there is no other part that goes on. A node that is lost when all ranks have left is told
 * by nobody: probe.c finds it. */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "noded/wire/overlay.h"
#include "recovery/run/nodes.h"
#include "recovery/run/run.h"

/* --- whether the nodes live when all ranks have left ---------------------------------------- */

/* Slurm may take minutes to see that a node is lost, and the daemons have ended then. The kernel of
 * a living host answers an attempt to connect, by a refusal if nobody listens there.
 * A node that gives no answer at any of its addresses is lost if another node of the job has given
 * one: else it may be a firewall that gives none. */

#define BEGIN_SECONDS 0.3 /* the ranks of a job in which nothing is lost have ended by then */
#define HOST_SECONDS 2.0  /* TCP asks again after one second */
#define ADDRESSES 4
#define MOST_NODES 200 /* each address needs a descriptor */

typedef struct {
  char name[64], ranks[RUN_LINE];
  struct sockaddr_in address[ADDRESSES];
  int fd[ADDRESSES]; /* -1: there is none, or the attempt has ended */
  int addresses, answered;
} probe_node;

static struct {
  probe_node *nodes;
  int n;
  double heard, asked; /* when all ranks have left; when all nodes were asked */
  int done;
} probe;

static void read_addresses(probe_node *node, char *list, int port) {
  char *rest = NULL;
  for (char *a = strtok_r(list, ",", &rest); a && node->addresses < ADDRESSES;
       a = strtok_r(NULL, ",", &rest)) {
    struct sockaddr_in *to = &node->address[node->addresses];
    *to = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    node->fd[node->addresses] = -1;
    node->addresses += inet_pton(AF_INET, a, &to->sin_addr) == 1;
  }
}

static int is_known(const char *name) {
  for (int i = 0; i < probe.n; i++)
    if (!strcmp(probe.nodes[i].name, name))
      return 1;
  return 0;
}

/* Looks at a line. 1: a daemon has told by it that all ranks have left, and where a node is. */
static int hear_probe(const char *line) {
  probe_node node = {.answered = 0};
  char list[ADDRESSES * INET_ADDRSTRLEN + 1];
  int port;
  const char *own = strstr(line, "regroup: all have left node ");
  if (!own)
    return 0;
  probe.heard = probe.heard > 0 ? probe.heard : rgi_clock_now();
  if (sscanf(own, "regroup: all have left node %63s port %d at %64s (ranks %4095[0-9,-]", node.name,
             &port, list, node.ranks) != 4 ||
      is_known(node.name) || probe.n == MOST_NODES)
    return 1;
  probe_node *more = realloc(probe.nodes, (size_t)(probe.n + 1) * sizeof *more);
  if (!more)
    return 1;
  probe.nodes = more;
  read_addresses(&node, list, port);
  probe.nodes[probe.n++] = node;
  return 1;
}

/* In this start of the job. */
static int probe_has_heard(void) {
  return probe.heard > 0;
}

static void end_attempt(probe_node *node, int i, int error) {
  node->answered |= error == 0 || error == ECONNREFUSED;
  if (node->fd[i] >= 0)
    close(node->fd[i]);
  node->fd[i] = -1;
}

static void ask_node(probe_node *node) {
  for (int i = 0; i < node->addresses; i++) {
    node->fd[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (node->fd[i] < 0)
      node->answered = 1; /* what is not known is no loss */
    else if (connect(node->fd[i], (struct sockaddr *)&node->address[i], sizeof node->address[i]) ==
             0)
      end_attempt(node, i, 0);
    else if (errno != EINPROGRESS)
      end_attempt(node, i, errno);
  }
}

static void look_at_node(probe_node *node) {
  for (int i = 0; i < node->addresses; i++) {
    struct pollfd p = {node->fd[i], POLLOUT, 0};
    int error = 0;
    socklen_t size = sizeof error;
    if (node->fd[i] >= 0 && poll(&p, 1, 0) > 0 &&
        getsockopt(node->fd[i], SOL_SOCKET, SO_ERROR, &error, &size) == 0)
      end_attempt(node, i, error);
  }
}

static void decide(void) {
  int answers = 0;
  probe.done = 1;
  for (int k = 0; k < probe.n; k++) {
    answers += probe.nodes[k].answered;
    for (int i = 0; i < probe.nodes[k].addresses; i++)
      end_attempt(&probe.nodes[k], i, ETIMEDOUT);
  }
  for (int k = 0; k < probe.n && answers; k++)
    if (!probe.nodes[k].answered)
      run_nodes_lose(probe.nodes[k].name, probe.nodes[k].ranks);
}

/* Called at least ten times a second. Nodes that do not answer are lost: run_nodes_lose. */
static void step_probe(double now) {
  if (probe.heard <= 0 || probe.done || now - probe.heard < BEGIN_SECONDS)
    return;
  for (int k = 0; k < probe.n && probe.asked <= 0; k++)
    ask_node(&probe.nodes[k]);
  probe.asked = probe.asked > 0 ? probe.asked : now;
  for (int k = 0; k < probe.n; k++)
    look_at_node(&probe.nodes[k]);
  if (now - probe.asked > HOST_SECONDS)
    decide();
}

/* Before the next start of the job. */
static void forget_probe(void) {
  for (int k = 0; k < probe.n; k++)
    for (int i = 0; i < probe.nodes[k].addresses; i++)
      end_attempt(&probe.nodes[k], i, ETIMEDOUT);
  free(probe.nodes);
  memset(&probe, 0, sizeof probe);
}

/* --- the job ------------------------------------------------------------------------------- */

#define ASK_SECONDS 2.2    /* from an answer to the next question */
#define ANSWER_SECONDS 0.5 /* an answer is complete by then */
#define OUTPUT_SECONDS 1.0 /* the last output of the survivors is */
#define PART_SECONDS 5.0   /* another part of the job has told that it goes on */

typedef struct {
  char *ranks;
  int status, by_signal; /* of the tasks; a signal: 128 and more */
} task_exit;

static int may_ask; /* SIGINT does no more than show the state */

static struct {
  task_exit *exits; /* this and the next: of the present start */
  int n_exits;
  int asked;         /* the state was asked for */
  double answered;   /* when the answer began; 0: not yet */
  int told, running; /* tasks that it tells of; of these, run on living nodes */
  int unstarted;     /* a task could not execute the program; 2: srun was told to end */
  int failed;        /* srun has told of an error of its own, or of a task */
  int node_failed;   /* as Slurm says: it has ended the processes there */
  int parts;         /* it has several parts, whose tasks are numbered by themselves */
  double part_ended; /* when a node has told that it ends */
  double ended;      /* when the survivors were seen to have ended */
} job;

/* --- what is heard -------------------------------------------------------------------------- */

/* The ranks of "task 5: ..." or "tasks 0-3,5: ...", and what follows; NULL: the line is another. */
static const char *read_tasks(const char *line, char *ranks, size_t bytes) {
  const char *at = strstr(line, " task"), *end = at ? strstr(at, ": ") : NULL;
  if (!end)
    return NULL;
  at += at[5] == 's' ? 7 : 6;
  if (end <= at || (size_t)(end - at) >= bytes)
    return NULL;
  snprintf(ranks, bytes, "%.*s", (int)(end - at), at);
  return end + 2;
}

static const char exited[] = "Exited with exit code ";

static int has_exited(const char *reason) {
  return !strncmp(reason, exited, sizeof exited - 1);
}

/* srun gives a signal by its name. */
static int read_status(const char *reason) {
  if (has_exited(reason))
    return atoi(reason + sizeof exited - 1);
  for (int sign = 1; sign < 32; sign++)
    if (!strncmp(reason, strsignal(sign), strlen(strsignal(sign))))
      return 128 + sign;
  return 1;
}

static void note_exit(const char *line) {
  char ranks[RUN_LINE];
  const char *reason = read_tasks(line, ranks, sizeof ranks);
  task_exit *more = reason ? realloc(job.exits, (size_t)(job.n_exits + 1) * sizeof *more) : NULL;
  if (!more)
    return;
  job.exits = more;
  job.exits[job.n_exits++] = (task_exit){
      .ranks = strdup(ranks), .status = read_status(reason), .by_signal = !has_exited(reason)};
}

/* Else the user has asked. */
static int is_answer(void) {
  double t = rgi_clock_now();
  if (!job.asked || (job.answered > 0 && t - job.answered > ANSWER_SECONDS))
    return 0;
  job.answered = job.answered > 0 ? job.answered : t;
  return 1;
}

static int note_state(const char *line) {
  char ranks[RUN_LINE];
  const char *state = read_tasks(line, ranks, sizeof ranks);
  if (!is_answer())
    return 1;
  job.parts |= line[strcspn(line, "+ ")] == '+';
  job.told = 1;
  job.running |= !state || (strncmp(state, "exited", 6) != 0 && !run_nodes_are_lost(ranks));
  return 0;
}

static int hear(const char *line) {
  static const char state[] = "srun: StepId=", asked[] = "srun: interrupt (";
  if (!strncmp(line, state, sizeof state - 1))
    return note_state(line + sizeof state - 1);
  if (!strncmp(line, asked, sizeof asked - 1))
    return !is_answer();
  job.failed |= !strncmp(line, "srun: error: ", 13) || !strncmp(line, "srun: fatal: ", 13);
  if (!strncmp(line, "srun: error: ", 13))
    note_exit(line);
  job.node_failed |= !strncmp(line, "srun: error: Node failure on ", 29);
  if ((strstr(line, "error: execve(): ") ||
       strstr(line, ": error while loading shared libraries: ")) &&
      !job.unstarted)
    job.unstarted = 1;
  return 1;
}

static int hear_news(const char *line) {
  if (hear_probe(line))
    return 0;
  if (run_nodes_hear(line))
    job.part_ended = rgi_clock_now();
  return 1;
}

/* --- what is done --------------------------------------------------------------------------- */

static int is_over(double t) {
  if (job.part_ended > 0 && t - job.part_ended > PART_SECONDS && run_nodes_ended())
    return 1;
  return job.told && !job.running && !job.parts && t - job.answered > ANSWER_SECONDS;
}

static void step(pid_t launcher) {
  double t = rgi_clock_now();
  step_probe(t);
  if (job.unstarted == 1) { /* the others wait for it in MPI_Init */
    job.unstarted = 2;
    kill(launcher, SIGTERM);
  }
  if (job.ended > 0 && t - job.ended > OUTPUT_SECONDS)
    kill(launcher, SIGKILL);
  if (job.ended > 0 || (!run_nodes_lost() && job.part_ended <= 0))
    return;
  if (is_over(t)) {
    job.ended = t;
  } else if (may_ask && (!job.asked || (job.answered > 0 && t - job.answered > ASK_SECONDS))) {
    job.asked = 1;
    job.answered = 0;
    job.told = job.running = 0;
    kill(launcher, SIGINT);
  }
}

/* The highest one, as srun's own; without tasks on lost nodes, and without those that the others
 * have survived. */
static int status_of_survivors(int well) {
  int status = 0;
  for (int i = 0; i < job.n_exits; i++) {
    const task_exit *e = &job.exits[i];
    if (e->status > status && !run_nodes_are_lost(e->ranks) && !(well && e->by_signal))
      status = e->status;
  }
  return status;
}

/* srun has told of an error, but of no task: it could not start the job. */
static void explain_failure(const run_end *end) {
  if (job.failed && !job.n_exits && !end->lost && !end->interrupted && end->status)
    fprintf(
        stderr,
        "regroup-run: srun has not started the job (status %d). RG_MPIEXEC=mpiexec.mpich starts "
        "it without Slurm's srun\n",
        end->status);
}

/* Also if a node was lost when all ranks had left. */
static void judge(const run_news *news, run_end *end) {
  int well = news->well || (job.node_failed && probe_has_heard());
  if (job.ended > 0 || (!end->lost && (well || run_nodes_lost()))) {
    end->status = status_of_survivors(well);
    end->lost = 0;
  }
  end->lost = end->lost || (news->signal == SIGKILL && end->status != 0) ||
              (news->ended && end->status == RGI_OVERLAY_ENDED_STATUS);
  explain_failure(end);
  for (int i = 0; i < job.n_exits; i++)
    free(job.exits[i].ranks);
  free(job.exits);
  memset(&job, 0, sizeof job);
  forget_probe();
}

/* What RG_SURVIVE says must reach the tasks, which sites' --export=NONE for the batch script would
 * prevent. Returns 0 if the user's own option does. */
static int pass_environment(char **command) {
  const char *inherited = getenv("SLURM_EXPORT_ENV"),
             *asked = run_srun_option(command, 0, "export");
  if (inherited && strncmp(inherited, "ALL", 3) != 0)
    setenv("SLURM_EXPORT_ENV", "ALL", 1);
  if (!asked || strncmp(asked, "ALL", 3) == 0)
    return 1;
  fprintf(stderr, "regroup-run: --export=%s does not pass RG_SURVIVE on: begin it with ALL\n",
          asked);
  return 0;
}

/* Older versions of Slurm do not tell the job when its time ends. */
static void tell_end_time(void) {
  struct tm t = {.tm_isdst = -1};
  char text[32];
  if (!getenv("SLURM_JOB_ID") || getenv("SLURM_JOB_END_TIME") || getenv("RG_END_TIME"))
    return;
  FILE *f = popen("squeue -h -j \"$SLURM_JOB_ID\" -o %e 2>/dev/null", "r");
  if (!f)
    return;
  if (fscanf(f, "%d-%d-%dT%d:%d:%d", &t.tm_year, &t.tm_mon, &t.tm_mday, &t.tm_hour, &t.tm_min,
             &t.tm_sec) == 6) {
    t.tm_year -= 1900;
    t.tm_mon--;
    snprintf(text, sizeof text, "%lld", (long long)mktime(&t));
    setenv("RG_END_TIME", text, 1);
  }
  pclose(f);
}

static int open_srun(char **command) {
  if (!pass_environment(command))
    return 0;
  tell_end_time();
  unsetenv("SLURM_SRUN_REDUCE_TASK_EXIT_MSG");
  unsetenv("SLURM_DISABLE_STATUS");
  may_ask = !run_srun_flag(command, 'X', "disable-status") &&
            !run_srun_flag(command, 0, "quit-on-interrupt");
  return 1;
}

/* MPICH's own protocol, and what survival needs: a lost node, a process that ends badly and one
 * that ends early end neither the step nor the allocation. */
static const char *const options[] = {"--mpi=pmi2", "--no-kill", "--kill-on-bad-exit=0", "--wait=0",
                                      NULL};

static int must_hear(void) {
  return 1;
}

const run_launcher run_srun = {.name = "srun",
                               .options = options,
                               .is_shown_by = SIGINT,
                               .open = open_srun,
                               .must_hear = must_hear,
                               .hear = hear,
                               .hear_news = hear_news,
                               .step = step,
                               .judge = judge,
                               .next = run_nodes_leave_out};
