# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
#
# A Spack recipe: docs/building.md tells how to use it.
from spack.package import *

try:  # Spack 1.0; before, spack.package has it
    from spack_repo.builtin.build_systems.scons import SConsPackage
except ImportError:
    pass


class Regroup(SConsPackage):
    """MPI process groups that form, merge and survive while the program runs, with one-sided
    distributed arrays and collectives that use the shared memory of nodes."""

    homepage = "file:///regroup"
    # The source tree: spack dev-build, or spack develop --path.

    license("BSD-3-Clause")

    version("0.3.0")

    variant("arrays", default=True, description="Distributed arrays over ARMCI-MPI")

    depends_on("c", type="build")
    depends_on("python@3.9:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi@3:")
    depends_on("hwloc@2:")
    depends_on("jansson")
    depends_on("libsodium")
    depends_on("popt")
    depends_on("random123")
    depends_on("armcimpi", when="+arrays")
    depends_on("blas", when="+arrays")

    requires("^[virtuals=mpi] mpich", "^[virtuals=mpi] openmpi", policy="one_of")

    def settings(self, spec, prefix):
        words = [
            "PREFIX=%s" % prefix,
            "MPI=%s" % ("openmpi" if spec.satisfies("^[virtuals=mpi] openmpi") else "mpich"),
            "MPICC=%s" % spec["mpi"].mpicc,
        ]
        for name in ["hwloc", "jansson", "libsodium", "popt", "random123"]:
            setting = name.replace("libsodium", "sodium").upper()
            words.append("%s_PREFIX=%s" % (setting, spec[name].prefix))
        if spec.satisfies("+arrays"):
            words += [
                "ARMCI=armci",
                "ARMCI_PREFIX=%s" % spec["armcimpi"].prefix,
                "BLAS=%s" % ("mkl" if "mkl" in spec["blas"].name else ",".join(spec["blas"].libs.names)),
                "BLAS_PREFIX=%s" % spec["blas"].prefix,
            ]
        else:
            words.append("ARRAYS=no")
        return words

    def build_args(self, spec, prefix):
        return self.settings(spec, prefix)

    def install_args(self, spec, prefix):
        return self.settings(spec, prefix)
