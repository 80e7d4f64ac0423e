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
    f.create_dataset("broken/lzf", data=values(90).astype("f4"), compression="lzf")
    f.create_dataset("broken/scaleoffset", data=values(90).astype("i4"), scaleoffset=0)


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
save("user_block.h5", lambda f: put(f, "a/b", (4,)), userblock_size=1024)
# A file of each version that is small enough to have each of its bytes damaged.
for version in "earliest", "latest":
    save(f"small_{version}.h5", lambda f: (put(f, "a/gzip", (6, 5), chunks=(2, 5), compression="gzip", shuffle=True, fletcher32=True),
         put(f, "a/grows", (9,), chunks=(2,), maxshape=(None,)), put(f, "a/b/plain", (3,)), f.__setitem__("soft_3", h5py.SoftLink("/a/b/plain_3")),
         [put(f, f"c/n{i}", (1,)) for i in range(9)]), libver=version)
