# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""A Slurm of the tests' own on one machine: docs/pretended-nodes.md.

    with Slurm(3) as slurm:
        status, output = slurm.run(slurm.srun(12, 4) + ['build/tests/survivors', '', '100'], limit=60)
        job = slurm.start(['salloc', '-N3', '--no-kill', 'script'])
        slurm.lose(1)
        slurm.faults.cut(faults.path(0, 2))
        print(slurm.scontrol('show', 'jobs'))

node0, node1, ... are nodes of cluster.py with networks of their own; besides, each has processes and
a /dev/shm of its own, and runs slurmd. Commands run in a further one, login, where slurmctld runs.
/etc/slurm is a file system in memory that only these nodes see: it has the configuration, the logs
and the state. No file is outside it, and the kernel ends all processes of a node when its first one
ends: so nothing is left, however this process ends.
"""
import os
import pwd
import re
import signal
import subprocess
import sys
import time

import cluster
import faults

sys.path.insert(0, os.path.join(cluster.HERE, '..'))
import run_tests  # noqa: E402

FOLDER = '/etc/slurm'
LOGIN = 'login'
# Neither munge nor cgroups, no accounting; a job may have all processors that a node pretends to have.
CONFIGURATION = '''\
ClusterName=rg
SlurmctldHost={login}({address})
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0
SlurmdParameters=config_overrides
ReturnToService=2
MpiDefault=pmi2
CompleteWait=0
InactiveLimit=0
PropagateResourceLimitsExcept=ALL
{settings}
NodeName=node[0-{last}] NodeAddr={network}.[1-{count}] CPUs={cpus} RealMemory=1000
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
'''
# Short, so that a lost node is taken for DOWN soon. UnkillableStepTimeout may not be less.
SETTINGS = {'SlurmdTimeout': 10, 'SlurmctldTimeout': 30, 'MessageTimeout': 5, 'TCPTimeout': 2,
            'KillWait': 1, 'UnkillableStepTimeout': 25}
COMMANDS = 'slurmctld', 'slurmd', 'srun', 'sinfo', 'scontrol'
# What srun needs so that a job survives the loss of a node.
SURVIVE = '--no-kill', '--kill-on-bad-exit=0', '--wait=0'
# srun ends the whole step, also with --no-kill, if a connection is reset instead of closed.
RESET = 'io error with slurmstepd'
READY = run_tests.limit(10)  # seconds


def is_newer():
    """srun 24.11 ends with status 1 where a node has failed and its own tasks have not; 22.05 with theirs."""
    try:
        said = subprocess.run([cluster.tool('slurmctld'), '-V'], capture_output=True, text=True).stdout
    except cluster.Unavailable:
        return False
    found = re.search(r'(\d+)\.', said)
    return found is not None and int(found[1]) > 22


NODE_FAILED = (0, 1) if is_newer() else (0,)  # the status where a node is lost and all else is well


class Command(subprocess.Popen):
    """A command in a node: what Popen has started waits for it outside of the node's processes."""

    def send_signal(self, sign):
        while self.poll() is None:
            with open('/proc/{0}/task/{0}/children'.format(self.pid)) as f:
                children = f.read().split()
            if children:
                faults.Faults.send(sign, map(int, children))
                return
            time.sleep(0.01)  # it is about to begin, or has ended


class Slurm(cluster.Nodes):
    more_kinds, more_hub_kinds = ['--pid', '--fork', '--mount-proc'], ['--mount']

    def __init__(self, count, cpus=8, **settings):
        """settings: further lines of slurm.conf, or other values."""
        self.login, self.faults = None, faults.Faults(self)
        self.path = {name: cluster.tool(name) for name in COMMANDS}
        if not os.path.isdir(FOLDER):
            raise cluster.Unavailable('the folder %s is missing' % FOLDER)
        self.count, self.cpus, self.settings = count, cpus, dict(SETTINGS, **settings)
        super().__init__(count, network=True)
        try:
            self.login = cluster.Holder(self.enter, self._login_kinds(), self._setup(LOGIN))
            self._daemon(self.login, self.path['slurmctld'], '-c')
            for i, node in enumerate(self.nodes):
                self._daemon(node, self.path['slurmd'], '-N', 'node%d' % i)
            self._wait_ready()
        except BaseException:
            self.close()
            raise

    # --- how it is made -----------------------------------------------------------------------

    def _login_kinds(self):
        """It has the network of the bridge."""
        return [kind for kind in self.kinds if kind != '--net']

    def _setup(self, name):
        return super()._setup(name) + ['mount -t tmpfs tmpfs /dev/shm']

    def _make_hub(self):
        super()._make_hub()
        try:
            self._in(self.enter, ['mount', '-t', 'tmpfs', '-o', 'mode=755', 'tmpfs', FOLDER])
        except RuntimeError as why:
            raise cluster.Unavailable('no file system of its own here: %s' % why)
        self._in(self.enter, ['mkdir', FOLDER + '/state'])
        for name, text in self._files().items():
            self._in(self.enter, ['tee', FOLDER + '/' + name], text)
        self._in(self.enter, ['mount', '--bind', FOLDER + '/hosts', '/etc/hosts'])

    def _files(self):
        lines = '\n'.join('%s=%s' % pair for pair in self.settings.items())
        configuration = CONFIGURATION.format(
            login=LOGIN, address=cluster.HUB_ADDRESS, user=pwd.getpwuid(os.geteuid()).pw_name,
            folder=FOLDER, settings=lines, last=self.count - 1, count=self.count, cpus=self.cpus,
            network=cluster.ADDRESS.rsplit('.', 1)[0])
        hosts = ['127.0.0.1 localhost', '%s %s' % (cluster.HUB_ADDRESS, LOGIN)]
        hosts += ['%s node%d' % (cluster.ADDRESS % (i + 1), i) for i in range(self.count)]
        return {'slurm.conf': configuration, 'hosts': '\n'.join(hosts) + '\n',
                'cgroup.conf': 'CgroupPlugin=cgroup/v1\n'}  # else it looks for one that is mounted

    def _in(self, enter, words, text=''):
        """What a command says, which must succeed."""
        done = subprocess.run([*enter, *words], input=text, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env=self._environment())
        if done.returncode:
            raise RuntimeError('%s: status %d: %s' % (' '.join(words), done.returncode, done.stdout))
        return done.stdout

    def _environment(self, env=None):
        env = os.environ if env is None else env
        return {**{k: v for k, v in env.items() if not k.startswith('SLURM_')}, **self.environment()}

    def inside(self, holder):
        """The beginning of a command in a node, or at login. Who is not root outside is root where
        the nodes are made, and here the same user as outside: Slurm's daemons need more than such a
        root may do."""
        kinds = [kind for kind in ('--net', '--uts', '--ipc', '--mount') if kind in self.kinds]
        user = ['unshare', '--user', '--map-user=%d' % os.geteuid(), '--map-group=%d' % os.getegid(), '--']
        return [*self.enter, cluster.tool('nsenter'), '--target', str(holder.pid), *kinds,
                '--pid=/proc/%d/ns/pid_for_children' % holder.pid, '--'] + user * (os.geteuid() != 0)

    def _daemon(self, holder, *words):
        self._in(self.inside(holder), words)

    def _wait_ready(self):
        deadline = time.monotonic() + READY
        while (states := self._states()) != ['idle'] * len(self.nodes):
            if time.monotonic() > deadline:
                raise RuntimeError('Slurm is not ready: %s\n%s' % (states, self.logs()))
            time.sleep(0.05)

    def _states(self):
        """Of all nodes; or why slurmctld does not answer yet."""
        try:
            return self.ask('sinfo', '-h', '-N', '-o', '%T').split()
        except RuntimeError as why:
            return str(why)

    def close(self):
        if self.login:
            self.login.close()
        super().close()

    def _strays(self):
        """Nodes end with all their processes."""
        return []

    # --- what runs on it ------------------------------------------------------------------------

    def environment(self):
        return {'UCX_NET_DEVICES': 'eth0'}

    def srun(self, np, per_node, placement='block', options=SURVIVE):
        """The beginning of a command that runs a program with np ranks, as cluster.py's mpiexec() does."""
        count = -(-np // per_node)
        if count > len(self.nodes):
            raise ValueError('%d ranks on %d nodes are more than %d on each' %
                             (np, len(self.nodes), per_node))
        distribution = {'block': 'plane=%d' % per_node, 'cyclic': 'cyclic'}[placement]
        return ['srun', '--mpi=pmi2', *options, '--exclusive', '--distribution=' + distribution, '-N',
                str(count), '-n', str(np)]

    def mpiexec(self, np, per_node, placement='block', options=SURVIVE):
        return self._at_login() + self.srun(np, per_node, placement, options)

    def _at_login(self):
        """The beginning of a command there, in the same working directory: nsenter changes it."""
        return ['sh', '-c', 'FOLDER=$PWD exec "$@"', 'sh', *self.inside(self.login), 'sh', '-c',
                'cd "$FOLDER" && unset FOLDER && exec "$@"', 'sh']

    def start(self, command, env=None, **how):
        """Popen of a command at login."""
        return Command([*self._at_login(), *command], env=self._environment(env), **how)

    def ask(self, *words):
        """The answer of one of Slurm's commands."""
        return self._in(self.inside(self.login), words)

    def scontrol(self, *words):
        return self.ask('scontrol', *words)

    def shared_files(self, node):
        """In the memory that its processes share."""
        return self._in(self.inside(self.nodes[node]), ['ls', '/dev/shm']).split()

    def logs(self):
        return self._in(self.enter, ['sh', '-c', 'tail -n 20 %s/*.log' % FOLDER])

    # --- what happens to it ---------------------------------------------------------------------

    def everybody(self):
        """All that a node could reach, for faults.alone."""
        return range(faults.HUB, len(self.nodes))

    def lose(self, node, silently=False):
        """All processes of a node end at once, and its network is no more; silently: it says
        nothing to the others any more, as when its power has failed. srun hears nothing in either
        case: if a connection is reset (seldom), it ends the job in spite of --no-kill."""
        self.faults.cut(faults.alone(node, self.everybody() if silently else [faults.HUB]))
        self.nodes[node].close()
        self.nodes[node].pid = 0  # no process's

    def cut_off(self, node):
        """Its cable: it lives, and reaches nobody."""
        self.faults.cut(faults.alone(node, self.everybody()))

    def take_down(self, node):
        """By the administrator, who is believed at once; slurmd ends the node's jobs if it lives."""
        self.scontrol('update', 'nodename=node%d' % node, 'state=down', 'reason=test')

    def steps(self, node):
        """The daemons of its job steps, but not of a batch script."""
        return [pid for pid in self.faults.named(node, 'slurmstepd') if not command_line(pid).endswith('.batch]')]

    def kill_steps(self, node):
        """These, and all processes below them. The node itself lives."""
        parents = {pid: parent_of(pid) for pid in self.processes([node])}
        doomed = set(self.steps(node))
        while more := {pid for pid, parent in parents.items() if parent in doomed} - doomed:
            doomed |= more
        return self.faults.send(signal.SIGKILL, doomed)


def command_line(pid):
    try:
        with open('/proc/%d/cmdline' % pid) as f:
            return f.read().replace('\0', ' ').strip()
    except OSError:
        return ''


def parent_of(pid):
    try:
        with open('/proc/%d/stat' % pid) as f:
            return int(f.read().rsplit(')', 1)[1].split()[1])
    except OSError:
        return None
