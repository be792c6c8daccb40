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
import time

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
# Calls; for each line that it reads it sends a byte, and tells what comes within a second.
CALL = """
import socket, sys
s = socket.create_connection((sys.argv[1], 7777), 5)
s.settimeout(1)
print('connected', flush=True)
for line in sys.stdin:
    try:
        if line == 'send\\n':
            s.sendall(b'x')
        print(len(s.recv(1)), flush=True)
    except Exception as e:
        print(type(e).__name__, flush=True)
"""
DIAL = """
import socket, sys
try:
    socket.create_connection((sys.argv[1], int(sys.argv[2])), 1)
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


def dial(nodes, where, to, port=7777):
    return python(nodes, where, DIAL, address(to), str(port)).communicate()[0].strip()


def connect(nodes, where, to):
    deadline = time.monotonic() + 10
    while dial(nodes, where, to) != 'connected':
        assert time.monotonic() < deadline, (where, to)
    caller = python(nodes, where, CALL, address(to))
    assert caller.stdout.readline() == 'connected\n'
    return caller


def test_path(nodes, broken):
    """All directions of one cut path, and the others."""
    calls = {(a, b): connect(nodes, a, b) for a in (0, 1, HUB) for b in (0, 1, 2) if a != b}
    broken.cut(faults.path(0, 1))
    for pair, caller in calls.items():
        cut = set(pair) == {0, 1}
        assert ask(caller, 'send') == ('TimeoutError' if cut else '1'), pair
    assert dial(nodes, 0, 1) == 'TimeoutError' and dial(nodes, 0, 2, 7) == 'ConnectionRefusedError'
    assert dial(nodes, 0, 1, 7) == 'TimeoutError', 'no living host is to refuse'
    broken.heal()
    for pair, caller in calls.items():
        for _ in range(10):
            said = ask(caller, 'wait' if set(pair) == {0, 1} else 'send')
            if said != 'TimeoutError':
                break
        assert said == '1', (pair, said)
    return calls


def test_sets(nodes, broken):
    """Cut by two faults, healed by both; one node, halves, all."""
    broken.cut(faults.alone(1, [0, 1, 2, HUB]))
    broken.cut(faults.between([0, 1], [2]))
    assert [dial(nodes, 0, 1), dial(nodes, HUB, 1), dial(nodes, 0, 2)] == ['TimeoutError'] * 3
    broken.heal(faults.alone(1, [0, 1, 2, HUB]))
    assert [dial(nodes, 0, 1), dial(nodes, HUB, 1)] == ['connected'] * 2
    assert dial(nodes, 1, 2) == dial(nodes, 0, 2) == 'TimeoutError'
    broken.heal(faults.between([0, 1], [2]))
    assert dial(nodes, 1, 2) == dial(nodes, 0, 2) == 'connected'
    broken.cut(faults.all_paths(range(3)))
    assert [dial(nodes, a, b) for a, b in [(0, 1), (1, 2), (2, 0)]] == ['TimeoutError'] * 3
    assert dial(nodes, HUB, 0) == 'connected'
    broken.heal()
    assert dial(nodes, 0, 1) == 'connected'


def test_processes(nodes, broken, server):
    """Of one node only: found by their name, stopped, killed."""
    name = faults.name_of(server.pid)
    assert broken.named(1, name) == [server.pid], (broken.named(1, name), server.pid)
    assert server.pid not in broken.everything(0) + broken.everything(2)
    caller = connect(nodes, 2, 1)
    broken.send(signal.SIGSTOP, [server.pid])
    assert ask(caller, 'send') == 'TimeoutError'
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
