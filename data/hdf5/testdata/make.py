#!/usr/bin/env python3
"""Makes the files of this folder with libhdf5, by h5py (Debian: python3-h5py; the committed ones by h5py 3.7.0 and HDF5 1.10.8).

Value i of every dataset is 3*i modulo 101, and the end of its name is its shape. Datasets that begin with "sparse" have such values only
where i is a multiple of 97 or the last; elsewhere they have their fill value, 7.5."""
import gzip, os
import h5py, numpy as np

os.chdir(os.path.dirname(os.path.abspath(__file__)))


def values(*shape):
    n = int(np.prod(shape))
    return (np.arange(n) * 3 % 101).reshape(shape)


def name(text, shape):
    return text + "_" + "x".join(map(str, shape))


def put(g, text, shape, dtype="f4", **how):
    g.create_dataset(name(text, shape), data=values(*shape).astype(dtype), **how)


def sparse(g, text, n, **how):
    d = g.create_dataset(name("sparse_" + text, (n,)), shape=(n,), dtype="f4", fillvalue=7.5, chunks=(1,), **how)
    for i in sorted({*range(0, min(n, 1000), 97), (n - 1) // 97 * 97, n - 1}):
        d[i] = i * 3 % 101
    return d


def low(g, text, shape, maximum, layout, chunk=None):
    """A dataset that h5py has no words for: compact, or with all its chunks allocated early, which makes their index implicit."""
    p = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    p.set_layout(layout)
    if chunk:
        p.set_chunk(chunk)
        p.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    space = h5py.h5s.create_simple(shape, maximum)
    d = h5py.h5d.create(g.id, name(text, shape).encode(), h5py.h5t.IEEE_F32LE, space, p)
    h5py.Dataset(d)[...] = values(*shape)


def layouts(f):
    g, shape = f.create_group("layouts"), (13, 5, 3)
    put(g, "contiguous", shape)
    low(g, "compact", (10, 7), (10, 7), h5py.h5d.COMPACT)
    low(g, "implicit", (10, 7), (10, 9), h5py.h5d.CHUNKED, (4, 3))
    put(g, "single", shape, chunks=shape)
    put(g, "single_gzip", shape, chunks=shape, compression="gzip")
    put(g, "larger_chunk", shape, chunks=(20, 5, 3), maxshape=(40, 5, 3), compression="gzip")
    put(g, "fixed", shape, chunks=(4, 2, 3), maxshape=(30, 6, 3))
    put(g, "fixed_gzip", shape, chunks=(4, 2, 3), compression="gzip")
    put(g, "extensible", shape, chunks=(2, 2, 3), maxshape=(None, 5, 3))
    put(g, "extensible_middle", shape, chunks=(2, 1, 2), maxshape=(15, None, 5), compression="gzip")
    put(g, "tree", shape, chunks=(3, 2, 2), maxshape=(None, 5, None))
    put(g, "tree_gzip", shape, chunks=(1, 2, 1), maxshape=(None, 5, None), compression="gzip", shuffle=True)
    put(g, "tree_deep", (60, 50), chunks=(1, 1), maxshape=(None, None))
    put(g, "shuffle", shape, "f8", chunks=(8, 3, 3), shuffle=True)
    put(g, "fletcher", shape, chunks=(8, 3, 3), fletcher32=True)
    put(g, "all", shape, chunks=(8, 3, 3), fletcher32=True, shuffle=True, compression=9)
    put(g, "paged", (1500,), chunks=(1,))
    sparse(g, "paged", 3000)
    sparse(g, "extensible", 200_000, maxshape=(None,))
    put(g, "empty", (0, 3), chunks=(2, 3), maxshape=(None, 3))


def types(f):
    g = f.create_group("types")
    for t in "f2 f4 f8 i1 u1 i2 u2 i4 u4 i8 u8".split():
        put(g, t, (9,), "<" + t)
        put(g, t + "_big", (9,), ">" + t, chunks=(4,), compression="gzip", shuffle=True)
    f["named_type"] = np.dtype(">f8")
    put(g, "named", (9,), f["named_type"])
    f["fixed_text"], f["variable_text"] = np.bytes_("fixed"), "of any length"


def links(f):
    f["soft_13x5x3"] = h5py.SoftLink("/layouts/contiguous_13x5x3")
    f["layouts/relative_13x5x3"] = h5py.SoftLink("./all_13x5x3")
    f["soft_group"] = h5py.SoftLink("types")
    f["soft_types_f4_9"] = h5py.SoftLink("soft_group//f4_9")
    f["hard_13x5x3"] = f["layouts/fixed_13x5x3"]
    f["types/above"] = f["/"]
    g = f.create_group("broken")
    g["dangling"], g["loop"] = h5py.SoftLink("/no/such"), h5py.SoftLink("/broken/loop")
    g["external"] = h5py.ExternalLink("other.h5", "/data/x")


def kinds(f):
    layouts(f)
    types(f)
    links(f)
    p = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    p.set_chunk((90,))
    p.set_filter(32015, h5py.h5z.FLAG_OPTIONAL)
    d = h5py.h5d.create(f.id, b"broken/zstd", h5py.h5t.IEEE_F32LE, h5py.h5s.create_simple((90,)), p)
    d.write_direct_chunk((0,), bytes(360))


class Filters:
    """Datasets stored with filters in "stored", and in "plain" what libhdf5 reads from each."""

    def __init__(self, f):
        self.f, self.random, self.number = f, np.random.default_rng(1), 0
        f.create_group("stored"), f.create_group("plain")
        self.lzf(), self.masks(), self.nbit(), self.szip()
        for kind in "i1 u1 i2 u2 i4 u4 i8 u8".split():
            self.integers(kind)
        for kind in "<f4", ">f4", "<f8", ">f8":
            self.floats(kind)
        for kind in "<f16", ">f16":
            wide = self.random.standard_normal(60).astype("g") * np.power(10.0, self.random.integers(-60, 60, 60))
            wide[:6] = 0, -0.0, np.inf, -np.inf, np.nan, 1 + np.ldexp(np.longdouble(1), -24) + np.ldexp(np.longdouble(1), -60)
            self.put("long_double", wide, kind)
        for name, d in f["stored"].items():
            f["plain"].create_dataset(name, data=d[...].astype("f4"))

    def name(self, what):
        self.number += 1
        return f"{what}_{self.number:03d}"

    def put(self, what, values, kind, **how):
        self.f["stored"].create_dataset(self.name(what), data=np.asarray(values).astype(kind), **how)

    def lzf(self):
        for values in (np.arange(5000) % 37, np.arange(5000), np.zeros(3000), self.random.random(1000), np.repeat(np.arange(50), 300)):
            self.put("lzf", values, "f4", compression="lzf", chunks=(1000,))
            self.put("lzf_shuffle", values, "i2", compression="lzf", shuffle=True, fletcher32=True, chunks=(700,))

    def masks(self):
        """Chunks of which some filters were not applied."""
        import zlib
        values = np.arange(100, dtype="<i4") * 1000
        for mask in range(4):
            d = self.f["stored"].create_dataset(self.name("mask"), shape=(100,), dtype="<i4", chunks=(100,), shuffle=True, compression="gzip")
            b = values.tobytes() if mask & 1 else values.view("u1").reshape(100, 4).T.tobytes()
            d.id.write_direct_chunk((0,), b if mask & 2 else zlib.compress(b), filter_mask=mask)
        p = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        p.set_chunk((50,))
        p.set_filter(32768 + 77, h5py.h5z.FLAG_OPTIONAL, (1, 2))  # an unknown filter that every chunk goes without
        d = h5py.h5d.create(self.f["stored"].id, self.name("mask_unknown").encode(), h5py.h5t.STD_I32LE, h5py.h5s.create_simple((100,)), p)
        for at in 0, 50:
            d.write_direct_chunk((at,), values[at:at + 50].tobytes(), filter_mask=1)

    def integers(self, kind):
        info = np.iinfo(kind)
        span = lambda lo, hi: self.random.integers(max(info.min, lo), min(info.max, hi), 90, dtype=kind, endpoint=True)
        for order in "<", ">":
            for lo, hi in (0, 100), (-40, -3), (info.min, info.max), (info.max - 20, info.max):
                if hi < info.min:
                    continue
                self.put("offset", span(lo, hi), order + kind, scaleoffset=0, chunks=(40,))
                self.put("offset_gzip", span(lo, hi), order + kind, scaleoffset=0, chunks=(40,), shuffle=True, compression="gzip")
            self.put("offset_bits", span(0, 100), order + kind, scaleoffset=5, chunks=(45,))
            self.put("offset_constant", np.full(70, 9), order + kind, scaleoffset=0, chunks=(35,))
            fill = span(0, 50)
            fill[::7] = 77
            self.put("offset_fill", fill, order + kind, scaleoffset=0, chunks=(90,), fillvalue=77)
            self.put("offset_filled", np.full(30, 77), order + kind, scaleoffset=0, chunks=(30,), fillvalue=77)
            self.put("szip", span(0, 100), order + kind, compression="szip", compression_opts=("nn", 8), chunks=(90,))

    def floats(self, kind):
        for decimals in 1, 3, 6:
            values = self.random.standard_normal(200) * 20
            self.put("decimals", values, kind, scaleoffset=decimals, chunks=(64,))
            values[::9] = 5
            self.put("decimals_fill", values, kind, scaleoffset=decimals, chunks=(64,), fillvalue=5)
        self.put("decimals_constant", np.full(50, 2.5), kind, scaleoffset=2, chunks=(50,))
        self.put("decimals_many", self.random.standard_normal(50) * 1e15, kind, scaleoffset=9, chunks=(50,))

    def nbit(self):
        for at, width, size in (0, 11, 4), (5, 7, 2), (3, 29, 4), (0, 8, 8), (20, 40, 8):
            for base in h5py.h5t.STD_I8LE, h5py.h5t.STD_I8BE, h5py.h5t.STD_U8LE:
                t = base.copy()
                t.set_size(size)
                t.set_precision(width)
                t.set_offset(at)
                self.low("nbit", t, 5, self.random.integers(-60 if base != h5py.h5t.STD_U8LE else 0, 60, 100))
        t = h5py.h5t.IEEE_F32BE.copy()
        t.set_fields(26, 20, 6, 7, 13)
        t.set_offset(7)
        t.set_precision(20)
        t.set_ebias(31)
        self.low("nbit_float", t, 5, np.arange(100) / 16)
        self.low("nbit_whole", h5py.h5t.IEEE_F64LE, 5, np.arange(100) / 16)

    def szip(self):
        for kind in "i1 u2 i4 i8 f4 f8".split():
            for coding, pixels in ("ec", 4), ("nn", 8), ("nn", 16), ("nn", 32):
                for values in (np.arange(900) % 100, self.random.integers(-100, 100, 900), np.repeat([0, 1, 0, 5, 0], 160), np.zeros(700)):
                    self.put("szip", values, "<" + kind, compression="szip", compression_opts=(coding, pixels), chunks=(400,))
                values = np.zeros(3000)
                values[::170] = self.random.integers(0, 100, len(values[::170]))
                self.put("szip_wide", values.reshape(30, 100), ">" + kind, compression="szip", compression_opts=(coding, pixels), chunks=(10, 60), shuffle=kind == "f4")
        self.put("szip_random", self.random.random(1000), "f4", compression="szip", compression_opts=("nn", 32), chunks=(500,))

    def low(self, what, kind, code, values):
        p = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        p.set_chunk((64,))
        p.set_filter(code, h5py.h5z.FLAG_MANDATORY)
        d = h5py.h5d.create(self.f["stored"].id, self.name(what).encode(), kind, h5py.h5s.create_simple((len(values),)), p)
        d.write(h5py.h5s.ALL, h5py.h5s.ALL, np.ascontiguousarray(values, "f8"))


def external(f):
    """A dataset whose first 10 values are in one file behind 4 bytes, the others in another file. The files are removed: the test writes them."""
    f.create_dataset("values_5x4", data=values(5, 4).astype("f4"), external=[("values.bin", 4, 40), ("more.bin", 0, h5py.h5f.UNLIMITED)])
    f.flush()
    os.remove("values.bin"), os.remove("more.bin")


def groups(f):
    for i in range(1000):
        put(f, f"data/layer{i:03d}/w", (2,))
    for i in range(300):
        put(f, "order/" + f"n{299 - i}_" * 9, (1,))


def save(path, make, **how):
    with h5py.File(path, "w", **how) as f:
        make(f)
    with open(path, "rb") as f, open(path + ".gz", "wb") as out:
        out.write(gzip.compress(f.read(), 9, mtime=0))
    os.remove(path)


for version in "earliest", "latest":
    save(f"kinds_{version}.h5", kinds, libver=version)
    save(f"groups_{version}.h5", groups, libver=version)
save("filters.h5", Filters)
save("external.h5", external)
save("user_block.h5", lambda f: put(f, "a/b", (4,)), userblock_size=1024)
# A file of each version that is small enough to have each of its bytes damaged.
for version in "earliest", "latest":
    save(f"small_{version}.h5", lambda f: (put(f, "a/gzip", (6, 5), chunks=(2, 5), compression="gzip", shuffle=True, fletcher32=True),
         put(f, "a/grows", (9,), chunks=(2,), maxshape=(None,)), put(f, "a/b/plain", (3,)), f.__setitem__("soft_3", h5py.SoftLink("/a/b/plain_3")),
         [put(f, f"c/n{i}", (1,)) for i in range(9)]), libver=version)
