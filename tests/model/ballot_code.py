# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The rules of membership as the daemons have them: pgroup/noded/consensus/ballot.c, compiled and called. Sets
are bit masks, as in membership.py."""
import ctypes
import os
import shutil
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
REFUSED = 2  # RGI_BALLOT_REFUSED


class Ballot(ctypes.Structure):
    """rgi_ballot."""
    _fields_ = [('n', ctypes.c_int), ('lost', ctypes.c_void_p), ('voted', ctypes.c_void_p),
                ('seen', ctypes.c_void_p), ('late', ctypes.c_int)]


def as_bytes(mask, n):
    return (ctypes.c_ubyte * n)(*(mask >> k & 1 for k in range(n)))


class BallotCode:
    """Calls rgi_ballot_NAME for the rule NAME of the model."""

    names = ('is_quorum', 'set_to_propose')

    def __init__(self):
        with tempfile.TemporaryDirectory() as folder:
            library = os.path.join(folder, 'ballot.so')
            subprocess.run([shutil.which('mpicc.mpich') or 'mpicc', '-std=c11', '-O1', '-shared', '-fPIC',
                            '-Ipgroup', 'pgroup/noded/consensus/ballot.c', '-o', library], cwd=ROOT, check=True)
            code = ctypes.CDLL(library)
        self.rule = {name: getattr(code, 'rgi_ballot_' + name) for name in self.names}

    @staticmethod
    def ballot(n, present, promised, gone):
        """Of n nodes: each that has promised has been refused by those that are gone."""
        seen = (ctypes.c_ubyte * (n * n))()
        for k in range(n * n):
            seen[k] = REFUSED if gone >> k % n & 1 else 0
        kept = [as_bytes(~present, n), as_bytes(promised, n), seen]
        ballot = Ballot(n, *(ctypes.addressof(part) for part in kept), 0)
        ballot.kept = kept
        return ballot

    def is_quorum(self, ballot, claim):
        return bool(self.rule['is_quorum'](ctypes.byref(ballot), claim.bit_length() - 1))

    def set_to_propose(self, ballot, fresh, carried):
        chosen = as_bytes(fresh, ballot.n)
        earlier = as_bytes(carried[1], ballot.n) if carried[0] else None
        self.rule['set_to_propose'](ctypes.byref(ballot), earlier, chosen)
        return sum(chosen[k] << k for k in range(ballot.n))
