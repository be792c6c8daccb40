# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""The rules of membership as the daemons have them: voting.c and ballot.c of pgroup/noded/consensus, compiled
and called. Sets are bit masks, as in membership.py."""
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


class Voting(ctypes.Structure):
    """rgi_voting."""
    _fields_ = [('promised', ctypes.c_int64), ('accepted', ctypes.c_int64)]


def as_bytes(mask, n):
    return (ctypes.c_ubyte * n)(*(mask >> k & 1 for k in range(n)))


class BallotCode:
    """Calls rgi_voting_NAME or rgi_ballot_NAME for the rule NAME of the model."""

    names = {'promise': 'rgi_voting_', 'accept': 'rgi_voting_', 'take': 'rgi_voting_',
             'is_quorum': 'rgi_ballot_', 'set_to_propose': 'rgi_ballot_'}

    def __init__(self):
        with tempfile.TemporaryDirectory() as folder:
            library = os.path.join(folder, 'ballot.so')
            subprocess.run([shutil.which('mpicc.mpich') or 'mpicc', '-std=c11', '-O1', '-shared', '-fPIC',
                            '-Ipgroup', 'pgroup/noded/consensus/voting.c', 'pgroup/noded/consensus/ballot.c', '-o', library],
                           cwd=ROOT, check=True)
            code = ctypes.CDLL(library)
        self.rule = {name: getattr(code, prefix + name) for name, prefix in self.names.items()}

    def vote(self, name, promised, accepted, ballot):
        """Whether a node promises or accepts, and what it remembers then."""
        voting = Voting(promised, accepted)
        granted = self.rule[name](ctypes.byref(voting), ctypes.c_int64(ballot))
        return bool(granted), voting.promised, voting.accepted

    def take(self, taken, accepted):
        number = ctypes.c_int64(taken)
        replaced = self.rule['take'](ctypes.byref(number), ctypes.c_int64(accepted))
        return bool(replaced), number.value

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
