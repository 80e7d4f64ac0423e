"""OpenBLAS's SGEMM through ctypes. "openblas_peer.py M,N,K THREADS ITERATIONS" prints the median of the milliseconds of
C = A * B behind a warm-up; "openblas_peer.py version" says which library it is, or fails if there is none."""
import ctypes
import ctypes.util
import glob
import statistics
import sys
import time


def load():
    for path in sorted(glob.glob("/usr/lib/*/openblas-*/libopenblas.so.0")) + [ctypes.util.find_library("openblas")]:
        if path:
            return ctypes.CDLL(path)
    sys.exit("OpenBLAS is not installed: apt-get install libopenblas0")


def main():
    lib = load()
    if sys.argv[1] == "version":
        lib.openblas_get_config.restype = ctypes.c_char_p
        print(lib.openblas_get_config().decode())
        return
    m, n, k = map(int, sys.argv[1].split(","))
    lib.openblas_set_num_threads(int(sys.argv[2]))

    def matrix(count):
        return (ctypes.c_float * count)(*(0.5,) * count)

    a, b, c = matrix(m * k), matrix(k * n), matrix(m * n)
    one, zero = ctypes.c_float(1), ctypes.c_float(0)
    row_major, plain = 101, 111
    times = []
    for _ in range(1 + int(sys.argv[3])):
        start = time.perf_counter()
        lib.cblas_sgemm(row_major, plain, plain, m, n, k, one, a, k, b, n, zero, c, n)
        times.append(time.perf_counter() - start)
    print("%.4f" % (1e3 * statistics.median(times[1:])))


main()
