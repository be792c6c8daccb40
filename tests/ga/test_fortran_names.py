#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) the Regroup authors
"""All names that Global Arrays 5.8 declares in global.fh and mafdecls.fh are in the libraries of both sizes of
integers and, with the same types, in our files; but for those that are not served.

tier: quick
beside: yes
"""
import re
import subprocess
import sys

import fortran

# By type and prefixes. Names are facts of the interface: the headers of Debian's libglobalarrays-dev 5.8.2.
NAMES = {
    ('complex', 'ga nga'): '''
        cdot cdot_patch''',
    ('double complex', 'ga nga'): '''
        zdot zdot_patch''',
    ('double precision', 'ga nga'): '''
        ddot ddot_patch wtime''',
    ('integer', 'ga nga'): '''
        cluster_nnodes cluster_nodeid cluster_nprocs cluster_proc_nodeid cluster_procid create_handle
        get_dimension get_pgroup get_pgroup_size idot inquire_memory is_mirrored llt_solve memory_avail
        nbtest ndim nnodes nodeid pgroup_absolute_id pgroup_create pgroup_get_default pgroup_get_mirror
        pgroup_get_world pgroup_nnodes pgroup_nodeid pgroup_split pgroup_split_irreg read_inc solve
        spd_invert total_blocks''',
    ('logical', 'ga nga'): '''
        allocate compare_distr create create_irreg create_mutexes deallocate destroy destroy_mutexes
        duplicate get_debug has_ghosts initialized locate locate_region memory_limited overlay
        pgroup_destroy set_update4_info set_update5_info update2_ghosts update3_ghosts update4_ghosts
        update5_ghosts update6_ghosts update7_ghosts uses_ma uses_proc_grid valid_handle verify_handle''',
    ('real', 'ga nga'): '''
        sdot sdot_patch''',
    ('integer', 'ma'): '''
        inquire_avail inquire_heap inquire_heap_check_stack inquire_heap_no_partition inquire_stack
        inquire_stack_check_heap inquire_stack_no_partition sizeof sizeof_overhead''',
    ('logical', 'ma'): '''
        alloc_get allocate_heap chop_stack free_heap free_heap_piece get_index get_next_memhandle
        get_numalign init init_memhandle_iterator initialized pop_stack push_get push_stack set_auto_verify
        set_error_print set_hard_fail set_numalign verify_allocator_stuff''',
    ('subroutine', 'ma'): '''
        print_stats summarize_allocated_blocks trace''',
    ('integer', 'nga'): '''
        deregister_type idot_patch locate_num_blocks register_type''',
    ('logical', 'nga'): '''
        create_config create_ghosts create_ghosts_config create_ghosts_irreg create_ghosts_irreg_config
        create_irreg_config sprs_array_assemble sprs_array_create sprs_array_destroy update_ghost_dir''',
    ('subroutine', 'nga'): '''
        get_field nbget_field nbput_field put_field''',
}
NOT_SERVED = {'nga_sprs_array_assemble', 'nga_sprs_array_create', 'nga_sprs_array_destroy'}  # sparse arrays
BLOCKS = ['mbc_byte_', 'mbc_dbl_', 'mbc_dcpl_', 'mbc_int_', 'mbc_log_', 'mbc_real_', 'mbc_scpl_']

wanted = {'%s_%s' % (prefix, name): kind for (kind, prefixes), names in NAMES.items()
          for prefix in prefixes.split() for name in names.split()}
declared = {}
for path in [fortran.BUILD + '/ga/global.fh', fortran.ROOT + '/include/regroup-ga/mafdecls.fh']:
    with open(path) as f:
        for kind, name in re.findall(r'^      (\w[\w ]*) (\w+)$', f.read(), re.M):
            declared.setdefault(name.lower(), kind)
failures = []
for library in ['regroup-ga', 'regroup-ga-i4']:
    shown = subprocess.run(['nm', '-D', '--defined-only', '%s/lib/lib%s.so' % (fortran.BUILD, library)],
                           capture_output=True, text=True, check=True).stdout
    there = {line.split()[-1].split('@')[0] for line in shown.splitlines()}
    failures += ['%s has not %s' % (library, n) for n in sorted({*BLOCKS, *(n + '_' for n in set(wanted) - NOT_SERVED)} - there)]
    failures += ['%s has %s' % (library, n) for n in NOT_SERVED if n + '_' in there]
for name, kind in wanted.items():
    if name not in NOT_SERVED and kind != 'subroutine' and declared.get(name) != kind:
        failures.append('%s is declared as %s, not as %s' % (name, declared.get(name), kind))
assert len(wanted) == 187, len(wanted)
print(*failures, sep='\n')
sys.exit(bool(failures))
