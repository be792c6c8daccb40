# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""Several pretended nodes on one machine: docs/pretended-nodes.md.

    with Nodes(2) as nodes:
        status, output = nodes.run(nodes.mpiexec(8, per_node=4) + ['build/tests/test_group'])

A node is a host name and namespaces that one process, its holder, keeps open. Nothing has a name
outside them: when the holders end, and they end when this process does, the kernel removes
everything. Between nodes MPI uses TCP, inside a node shared memory. With network=True
each node has its own network, joined by a bridge, and counters of bytes.
"""
import os
import shutil
import signal
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
# The bridge is in a network namespace of its own: these addresses meet no others of the machine.
ADDRESS = '10.77.0.%d'
HUB_ADDRESS = ADDRESS % 254
HARDWARE = '02:00:00:00:77:%02x'  # of each node, so that faults.py need not ask
MOST_NODES = 200


class Unavailable(Exception):
    """This machine cannot have pretended nodes; the text says why."""


def tool(name):
    """Debian keeps some commands where only root looks for them."""
    path = shutil.which(name, path=os.environ.get('PATH', '') + ':/usr/sbin:/sbin')
    if not path:
        raise Unavailable('the command %s is missing' % name)
    return path


def namespace(pid):
    """No two nodes have the same."""
    try:
        return os.readlink('/proc/%s/ns/ipc' % pid)
    except OSError:
        return None


def up(device):
    """Without automatic addresses, where there are such: their messages would be counted."""
    return ['link set %s addrgenmode none 2>/dev/null || :' % device, 'link set %s up' % device]


class Holder:
    """A process that holds namespaces until its standard input is closed. As the first process of a
    PID namespace it has children that it did not start: none of them stays a zombie."""

    def __init__(self, prefix, kinds, setup):
        wait = 'exec env --ignore-signal=CHLD cat'
        script = '%s && echo ready && %s' % (' && '.join(setup) or ':', wait)
        command = prefix + ([tool('unshare')] + kinds if kinds else []) + ['sh', '-c', script]
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors, start_new_session=True)
        self.pid = self.process.pid
        if self.process.stdout.readline() != b'ready\n':
            self.close()
            self.errors.seek(0)
            said = self.errors.read().decode(errors='replace').strip().splitlines()
            raise Unavailable('namespaces are not permitted here: %s' % (said or ['?'])[-1])

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


class Nodes:
    more_kinds, more_hub_kinds = [], []  # of namespaces: for each node, for what joins them

    def __init__(self, count, network=False):
        if not 1 <= count <= MOST_NODES:
            raise ValueError('between 1 and %d nodes' % MOST_NODES)
        self.network, self.hub, self.nodes = network, None, []
        self.kinds = ['--ipc', '--uts'] + ['--net', '--mount'] * network + self.more_kinds
        self.enter = []  # begins a command that shall run where the nodes can be reached
        for name in ['nsenter', 'setpriv', 'hostname'] + ['ip', 'mount'] * network:
            tool(name)
        try:
            self._make_hub()
            for i in range(count):
                self._make_node(i)
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _make_hub(self):
        """A user other than root becomes root in a user namespace."""
        user = os.geteuid() != 0
        net = ['--net'] * self.network + self.more_hub_kinds
        if not user and not net:
            return
        self.hub = Holder([], ['--user', '--map-root-user'] * user + net, [])
        self.enter = [tool('nsenter'), '--target', str(self.hub.pid), *net,
                      *['--user', '--preserve-credentials'] * user, '--']
        if self.network:
            self._ip(None, 'link set lo up', 'link add rg0 address %s type bridge' % (HARDWARE % 254),
                     *up('rg0'), 'addr add %s/24 dev rg0' % HUB_ADDRESS)

    def _ip(self, node, *lines):
        """Commands of ip in the hub, or in a node."""
        script = '\n'.join(['set -e'] + [tool('ip') + ' ' + line for line in lines])
        enter = [tool('nsenter'), '--target', str(node.pid), '--net', '--'] if node else []
        done = subprocess.run(self.enter + enter + ['sh', '-c', script], capture_output=True,
                              text=True)
        if done.returncode:
            raise Unavailable('no virtual network here: ' + done.stderr.strip().splitlines()[-1])

    def _setup(self, name):
        """The first commands in a node."""
        # UCX looks for network devices in /sys, which shows those of the process that mounted it.
        return ['hostname ' + name] + ['mount -t sysfs sysfs /sys'] * self.network

    def _make_node(self, i):
        node = Holder(self.enter, self.kinds, self._setup('node%d' % i))
        self.nodes.append(node)
        if not self.network:
            return
        port = 'rg%d' % (i + 1)
        self._ip(None, 'link add %s type veth peer name eth0 address %s netns %d' %
                 (port, HARDWARE % (i + 1), node.pid), 'link set %s master rg0' % port, *up(port))
        self._ip(node, 'link set lo up', *up('eth0'),
                 'addr add %s/24 dev eth0' % (ADDRESS % (i + 1)))

    def cable(self, node, state):
        """Between a node and the bridge: up or down."""
        self._ip(None, 'link set rg%d %s' % (node + 1, state))

    def close(self):
        self._end_strays()
        for holder in self.nodes[::-1] + [self.hub] * (self.hub is not None):
            holder.close()
        self.nodes, self.hub = [], None

    def _strays(self):
        return self.processes(range(len(self.nodes)))

    def processes(self, which):
        """Those in these nodes, besides the holders."""
        holders = {self.nodes[i].pid for i in which}
        inside = {namespace(pid) for pid in holders} - {None, namespace('self')}
        return [int(pid) for pid in filter(str.isdigit, os.listdir('/proc'))
                if int(pid) not in holders and namespace(pid) in inside]

    def _end_strays(self):
        """A job that ended well leaves nothing; mpiexec that was killed may leave ranks."""
        deadline = time.monotonic() + 10
        strays = self._strays() if self.nodes else []
        while strays and time.monotonic() < deadline:
            for pid in strays:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            time.sleep(0.02)
            strays = self._strays()

    def mpiexec(self, np, per_node, placement='block'):
        """The beginning of a command that runs a program with np ranks: block fills one node
        after the other, cyclic distributes the ranks in turn."""
        slots = {'block': per_node, 'cyclic': 1}[placement]
        if np > per_node * len(self.nodes):
            raise ValueError('%d ranks on %d nodes are more than %d on each' %
                             (np, len(self.nodes), per_node))
        launcher = shutil.which('mpiexec.mpich') or 'mpiexec'
        # If this process is killed, mpiexec ends too.
        return self.enter + [
            tool('setpriv'), '--pdeathsig', 'TERM', launcher, '-launcher', 'ssh', '-launcher-exec',
            HERE + '/node.sh', '-localhost', HUB_ADDRESS if self.network else '127.0.0.1', '-hosts',
            ','.join('node%d:%d' % (i, slots) for i in range(len(self.nodes))), '-n', str(np),
            '-genv', 'UCX_NET_DEVICES', 'eth0' if self.network else 'lo']

    def environment(self):
        """What a command made by mpiexec() needs."""
        return {'REGROUP_ENTER': ' '.join(self.kinds),
                **{'REGROUP_NODE_node%d' % i: str(n.pid) for i, n in enumerate(self.nodes)}}

    def start(self, command, env=None, **how):
        """Popen of a command made by mpiexec()."""
        env = dict(os.environ if env is None else env, **self.environment())
        return subprocess.Popen(command, env=env, **how)

    def run(self, command, limit=None, env=None, **how):
        """Runs a command made by mpiexec(). Returns its exit status (None: it did not end in
        `limit` seconds, and was ended) and its output, standard error included."""
        with tempfile.TemporaryFile() as output:
            how = {'stdout': output, 'stderr': subprocess.STDOUT, **how}
            process = self.start(command, env, **how)
            try:
                status = process.wait(limit)
            except subprocess.TimeoutExpired:
                status = None
            finally:
                end(process)
                self._end_strays()
            output.seek(0)
            return status, output.read().decode(errors='replace')

    def counters(self):
        """For each node the bytes that it has sent and received, since it was made."""
        found = []
        for node in self.nodes:
            with open('/proc/%d/net/dev' % node.pid) as f:
                words = next(line for line in f if 'eth0:' in line).split(':')[1].split()
            found.append({'sent': int(words[8]), 'received': int(words[0])})
        return found


def end(process, patience=5):
    """Politely, so that mpiexec ends its ranks; then not."""
    for how in [process.terminate, process.kill]:
        if process.poll() is None:
            how()
            try:
                process.wait(patience)
            except subprocess.TimeoutExpired:
                pass
