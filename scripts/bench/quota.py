#!/usr/bin/python3
"""Measures a net under quotas, affinity masks, more threads than cores, and beside a busy process.

  scripts/bench/quota.py [-rounds 3] [-iterations 20] [-batch N] MODEL SWCAFFE [SWCAFFE...]

Runs "swcaffe time" with each of the builds in turns, for every row: a quota of a control group in cores, the cores of a mask, GOMAXPROCS, -threads, and whether a
process that computes all the time shares the first core. Prints for each build the median time of an iteration in ms and the processor time of an iteration, of
which waiting takes a part. Needs root, and control groups with the controller cpu (version 2 at /sys/fs/cgroup, or version 1 at /sys/fs/cgroup/cpu). Without
them, rows with quotas are left out. Run it on an otherwise idle machine of two cores or more."""
import argparse
import os
import re
import resource
import statistics
import subprocess
import sys

# quota, cores of the mask, GOMAXPROCS, -threads, busy neighbour
ROWS = [(None, 2, None, 0, False), (None, 2, None, 1, False), (1.5, 2, None, 0, False), (1.5, 2, None, 1, False), (1, 2, None, 0, False), (1, 2, None, 1, False),
        (0.5, 2, None, 0, False), (0.5, 2, None, 1, False), (None, 1, None, 0, False), (None, 2, 4, 0, False), (None, 1, 2, 0, False), (None, 2, None, 0, True),
        (None, 2, None, 1, True)]


def group():
    """Returns a function that sets the quota of a new group, and the group's folder; (None, None) if there are no groups."""
    for root, name in [('/sys/fs/cgroup', 'cpu.max'), ('/sys/fs/cgroup/cpu', 'cpu.cfs_quota_us')]:
        folder = os.path.join(root, 'swcaffe_quota_%d' % os.getpid())
        try:
            if name == 'cpu.max':
                with open(os.path.join(root, 'cgroup.subtree_control')) as f:
                    if 'cpu' not in f.read().split():
                        continue
            os.mkdir(folder)
        except OSError:
            continue

        def limit(quota):
            with open(os.path.join(folder, name), 'w') as f:
                f.write(('%d 100000' if name == 'cpu.max' else '%d') % (100000 * quota))
        return limit, folder
    return None, None


def measure(a, program, row, folder):
    """Returns the median time and the processor time of an iteration in ms."""
    quota, cores, gomaxprocs, threads, _ = row

    def enter():
        if quota:
            with open(os.path.join(folder, 'cgroup.procs'), 'w') as f:
                f.write(str(os.getpid()))
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])

    env = dict(os.environ)
    env.pop('GOMAXPROCS', None)
    if gomaxprocs:
        env['GOMAXPROCS'] = str(gomaxprocs)
    command = [program, 'time', '-model', a.model, '-batch', str(a.batch), '-iterations', str(a.iterations), '-threads', str(threads), '-seed', '1']
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env=env, preexec_fn=enter)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if run.returncode != 0:
        sys.exit('%s\n%s' % (' '.join(command), run.stderr))
    times = [float(t) for t in re.findall(r'Iteration: \d+ .* time: ([0-9.e+-]+) ms', run.stderr)]
    used = 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(times), used / (a.iterations + 2)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('-rounds', type=int, default=3)
    p.add_argument('-iterations', type=int, default=20)
    p.add_argument('-batch', type=int, default=0)
    p.add_argument('model')
    p.add_argument('programs', nargs='+', metavar='SWCAFFE')
    a = p.parse_args()
    limit, folder = group()
    print('load %.1f; ms an iteration, and of processor time' % os.getloadavg()[0])
    print('%5s %5s %10s %8s %9s' % ('quota', 'cores', 'GOMAXPROCS', '-threads', 'neighbour') + ''.join('%20s' % os.path.basename(x) for x in a.programs))
    try:
        for row in ROWS:
            quota, cores, gomaxprocs, threads, neighbour = row
            if quota and not limit:
                continue
            if quota:
                limit(quota)
            busy = None
            if neighbour:
                first = min(os.sched_getaffinity(0))
                busy = subprocess.Popen([sys.executable, '-c', 'while True: pass'], preexec_fn=lambda: os.sched_setaffinity(0, [first]))
            try:
                figures = {x: [] for x in a.programs}
                for _ in range(a.rounds):
                    for x in a.programs:
                        figures[x].append(measure(a, x, row, folder))
            finally:
                if busy:
                    busy.kill()
                    busy.wait()
            cells = ['%.2f %.2f' % tuple(statistics.median(f[i] for f in figures[x]) for i in (0, 1)) for x in a.programs]
            print('%5s %5d %10s %8s %9s' % (quota or '-', cores, gomaxprocs or '-', threads or '-', 'yes' if neighbour else '-') + ''.join('%20s' % c for c in cells),
                  flush=True)
    finally:
        if folder:
            os.rmdir(folder)


if __name__ == '__main__':
    main()
