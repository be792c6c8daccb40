#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The faults of pretended nodes: a path that is cut is silent in both directions, its connections live
on, the other paths are not touched, and what was sent meanwhile comes when it is healed.

tier: all
time: 60
beside: yes
"""
import signal
import subprocess
import sys

import cluster
import faults
from faults import HUB

# Answers each byte that comes.
ECHO = """
import socket, sys, threading
def serve(c):
    while c.recv(1):
        c.sendall(b'x')
s = socket.create_server((sys.argv[1], 7777))
while True:
    threading.Thread(target=serve, args=s.accept()[:1], daemon=True).start()
"""
# Calls; for each line that it reads, "send" or "wait", it sends a byte or none, and tells what comes; with
# "shortly" behind the word, what comes within a second.
CALL = """
import socket, sys
s = socket.create_connection((sys.argv[1], 7777))
print('connected', flush=True)
for line in sys.stdin:
    try:
        s.settimeout(1 if 'shortly' in line else None)
        if line.startswith('send'):
            s.sendall(b'x')
        print(len(s.recv(1)), flush=True)
    except Exception as e:
        print(type(e).__name__, flush=True)
"""
DIAL = """
import socket, sys
try:
    socket.create_connection((sys.argv[1], int(sys.argv[2])), float(sys.argv[3]) or None)
    print('connected')
except Exception as e:
    print(type(e).__name__)
"""


def python(nodes, where, program, *args):
    enter = [] if where == HUB else [cluster.tool('nsenter'), '--target',
                                     str(nodes.nodes[where].pid), '--net', '--ipc', '--']
    return subprocess.Popen([*nodes.enter, *enter, sys.executable, '-c', program, *args],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def address(node):
    return cluster.ADDRESS % (254 if node == HUB else node + 1)


def ask(caller, word):
    caller.stdin.write(word + '\n')
    caller.stdin.flush()
    return caller.stdout.readline().strip()


def dial(nodes, where, to, port=7777, seconds=0):
    """How it ends; 0: without a time limit."""
    return python(nodes, where, DIAL, address(to), str(port), str(seconds)).communicate()[0].strip()


def is_silent(nodes, where, to, port=7777):
    return dial(nodes, where, to, port, 1) == 'TimeoutError'


def connect(nodes, where, to):
    while dial(nodes, where, to) != 'connected':  # the server has not begun
        pass
    caller = python(nodes, where, CALL, address(to))
    assert caller.stdout.readline() == 'connected\n'
    return caller


def test_path(nodes, broken):
    """All directions of one cut path, and the others."""
    calls = {(a, b): connect(nodes, a, b) for a in (0, 1, HUB) for b in (0, 1, 2) if a != b}
    broken.cut(faults.path(0, 1))
    for pair, caller in calls.items():
        cut = set(pair) == {0, 1}
        assert ask(caller, 'send shortly' if cut else 'send') == ('TimeoutError' if cut else '1'), pair
    assert is_silent(nodes, 0, 1) and dial(nodes, 0, 2, 7) == 'ConnectionRefusedError'
    assert is_silent(nodes, 0, 1, 7), 'no living host is to refuse'
    broken.heal()
    for pair, caller in calls.items():
        assert ask(caller, 'wait' if set(pair) == {0, 1} else 'send') == '1', pair
    return calls


def test_sets(nodes, broken):
    """Cut by two faults, healed by both; one node, halves, all."""
    broken.cut(faults.alone(1, [0, 1, 2, HUB]))
    broken.cut(faults.between([0, 1], [2]))
    assert is_silent(nodes, 0, 1) and is_silent(nodes, HUB, 1) and is_silent(nodes, 0, 2)
    broken.heal(faults.alone(1, [0, 1, 2, HUB]))
    assert [dial(nodes, 0, 1), dial(nodes, HUB, 1)] == ['connected'] * 2
    assert is_silent(nodes, 1, 2) and is_silent(nodes, 0, 2)
    broken.heal(faults.between([0, 1], [2]))
    assert dial(nodes, 1, 2) == dial(nodes, 0, 2) == 'connected'
    broken.cut(faults.all_paths(range(3)))
    assert all(is_silent(nodes, *pair) for pair in [(0, 1), (1, 2), (2, 0)])
    assert dial(nodes, HUB, 0) == 'connected'
    broken.heal()
    assert dial(nodes, 0, 1) == 'connected'


def state_of(pid):
    with open('/proc/%d/stat' % pid) as f:
        return f.read().rsplit(')', 1)[1].split()[0]


def test_processes(nodes, broken, server):
    """Of one node only: found by their name, stopped, killed."""
    name = faults.name_of(server.pid)
    assert broken.named(1, name) == [server.pid], (broken.named(1, name), server.pid)
    assert server.pid not in broken.everything(0) + broken.everything(2)
    caller = connect(nodes, 2, 1)
    broken.send(signal.SIGSTOP, [server.pid])
    while state_of(server.pid) != 'T':
        pass
    assert ask(caller, 'send shortly') == 'TimeoutError'
    broken.send(signal.SIGCONT, [server.pid])
    assert ask(caller, 'wait') == '1'
    assert broken.send(signal.SIGKILL, broken.everything(1)) == 1 and server.wait()
    assert dial(nodes, 2, 1) == 'ConnectionRefusedError'
    return caller


try:
    with cluster.Nodes(3, network=True) as three:
        servers = [python(three, node, ECHO, address(node)) for node in range(3)]
        tools = faults.Faults(three)
        callers = test_path(three, tools)
        for one in callers.values():
            one.communicate()
        test_sets(three, tools)
        test_processes(three, tools, servers[1]).communicate()
except cluster.Unavailable as why:
    print(why)
    sys.exit(77)
