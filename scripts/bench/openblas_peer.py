"""OpenBLAS's SGEMM through ctypes. "openblas_peer.py M,N,K[,FLAGS] THREADS ITERATIONS" prints the median of the milliseconds
of C = A * B behind a warm-up, where flags say which operands are stored transposed (a, b) and that C is added to (+). A product
of few operations is measured several times in a row. "openblas_peer.py version" says which library it is, or fails if there is none."""
import array
import ctypes
import ctypes.util
import glob
import random
import re
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
    shape, flags = re.match(r"([\d,]+\d)(?:,([ab+]+))?$", sys.argv[1]).groups(default="")
    m, n, k = map(int, shape.split(","))
    lib.openblas_set_num_threads(int(sys.argv[2]))

    values = array.array("f", (random.uniform(-1, 1) for _ in range(4093)))  # as many as repeat at other places in every row

    def matrix(count):
        return (ctypes.c_float * count).from_buffer((values * -(-count // len(values)))[:count])

    a, b, c = matrix(m * k), matrix(k * n), matrix(m * n)
    one, beta = ctypes.c_float(1), ctypes.c_float("+" in flags)
    row_major, plain, transposed = 101, 111, 112
    left, lda = (transposed, m) if "a" in flags else (plain, k)
    right, ldb = (transposed, k) if "b" in flags else (plain, n)
    args = row_major, left, right, m, n, k, one, a, lda, b, ldb, beta, c, n
    times, in_a_row = [], 1 + int(2e8 / (2 * m * n * k))
    for _ in range(1 + int(sys.argv[3])):
        start = time.perf_counter()
        for _ in range(in_a_row):
            lib.cblas_sgemm(*args)
        times.append((time.perf_counter() - start) / in_a_row)
    print("%.4f" % (1e3 * statistics.median(times[1:])))


main()
