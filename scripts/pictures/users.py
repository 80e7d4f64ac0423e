"""Pictures as cameras, scanners, fax machines and web pages make them, for make.py: files whose kind is in their segments, tags and chunks."""

import io, os, struct

import numpy as np
from PIL import Image, ImageCms

from common import SIZES, draw, noise, out, path, run, write


def picture(h=21, w=37, mode="RGB"):
    return Image.fromarray(noise(h, w).astype(np.uint8)).convert(mode)


# JPEG: segments around a scan.

def jpeg(im=None, **options):
    f = io.BytesIO()
    (im or picture()).save(f, "JPEG", **options)
    return f.getvalue()


def segment(marker, body):
    return bytes([0xFF, marker]) + struct.pack(">H", len(body) + 2) + body


def ifd(order, entries, after=0, base=8):
    """A directory of (tag, type, count, four bytes of value), sorted or not as it comes."""
    return struct.pack(order + "H", len(entries)) + b"".join(struct.pack(order + "HHI", t, k, n) + v for t, k, n, v in entries) + struct.pack(order + "I", after)


def short(order, v):
    return struct.pack(order + "HH", v, 0)


def exif(order, entries, thumbnail=None, lead=b"Exif\0\0"):
    """An Exif segment's content: a TIFF header, a directory, and the directory of a thumbnail."""
    head = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(order + "I", 8)
    body = ifd(order, entries, 8 + 2 + 12 * len(entries) + 4 if thumbnail else 0)
    if thumbnail:
        small = jpeg(picture(8, 12))
        at = 8 + len(body)
        body += ifd(order, thumbnail + [(0x201, 4, 1, struct.pack(order + "I", at + 2 + 12 * (len(thumbnail) + 2) + 4)), (0x202, 4, 1, struct.pack(order + "I", len(small)))]) + small
    return lead + head + body


def after_soi(file, *segments):
    return file[:2] + b"".join(segments) + file[2:]


def cameras():
    def turned(order, v): return (0x112, 3, 1, short(order, v))
    for order in "<>":
        make = (0x10F, 2, 4, b"Cam\0")
        resolution = (0x11A, 5, 1, struct.pack(order + "I", 200))
        for v in (1, 3, 6, 8):
            for mode in ("RGB", "L"):
                # With a thumbnail that is turned in another way, as cameras have them.
                write("jpeg-exif", "jpg", after_soi(jpeg(picture(mode=mode)), segment(0xE1, exif(order, [make, turned(order, v), resolution], [turned(order, 9 - v)]))))
        odd = {
            "long": [(0x112, 4, 1, struct.pack(order + "I", 6))], "byte": [(0x112, 1, 1, b"\6\0\0\0")], "count": [(0x112, 3, 2, struct.pack(order + "HH", 6, 3))], "none": [(0x112, 3, 0, short(order, 6))],
            "last": [resolution, make, turned(order, 6)], "twice": [turned(order, 6), turned(order, 3)], "later": [turned(order, 9), turned(order, 3)], "zero": [turned(order, 0)], "high": [turned(order, 0x0106)],
            "text": [(0x112, 2, 2, b"6\0\0\0")], "empty": [], "type": [(0x112, 77, 1, short(order, 6))],
        }
        for name, entries in odd.items():
            write("jpeg-exif-odd", "jpg", after_soi(jpeg(), segment(0xE1, exif(order, entries))))
        good = exif(order, [make, turned(order, 6)])
        for n in (5, 6, 7, 10, 13, 14, 15, 16, 27, 28, 35, 36, 38, len(good) - 4, len(good) - 1):
            write("jpeg-exif-cut", "jpg", after_soi(jpeg(), segment(0xE1, good[:n])))
        for at, byte in ((4, 1), (5, 1), (6, 0x41), (8, 0), (9, 43), (10, 255), (13, 255), (12, 9), (14, 255), (15, 255), (29, 255)):
            damaged = bytearray(good)
            damaged[at] = byte
            write("jpeg-exif-damaged", "jpg", after_soi(jpeg(), segment(0xE1, bytes(damaged))))
        xmp = b"http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:x='adobe:ns:meta/'><tiff:Orientation>3</tiff:Orientation></x:xmpmeta>"
        second = exif(order, [turned(order, 3)])
        for parts in ([xmp, good], [good, xmp], [good, second], [second, good], [b"", good], [b"Exif\0\0", good], [exif(order, []), good], [good, exif(order, [])], [xmp, xmp, second]):
            write("jpeg-app1", "jpg", after_soi(jpeg(), *(segment(0xE1, p) for p in parts)))
        whole = jpeg()
        at = whole.index(b"\xff\xda")
        write("jpeg-app1", "jpg", whole[:at] + segment(0xE1, good) + whole[at:])
        write("jpeg-app1", "jpg", after_soi(jpeg(), segment(0xE2, good), segment(0xFE, good)))
        write("jpeg-app1", "jpg", after_soi(jpeg(), segment(0xFE, b"a comment"), segment(0xED, b"Photoshop 3.0\0"), segment(0xE2, b"ICC_PROFILE\0\1\1" + bytes(300)), segment(0xE1, good)))
        # Several pictures in a file, of which the first counts.
        write("jpeg-mpo", "jpg", after_soi(whole, segment(0xE1, good), segment(0xE2, b"MPF\0" + b"MM\0*\0\0\0\x08" + bytes(30))) + jpeg(picture(9, 13)))
    frames = [picture() for _ in range(3)]
    frames[0].save(path("jpeg-mpo", "jpg"), "MPO", save_all=True, append_images=frames[1:])
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    write("jpeg-icc", "jpg", jpeg(icc_profile=profile))
    write("jpeg-icc", "jpg", jpeg(picture(mode="L"), icc_profile=profile))
    write("jpeg-jfxx", "jpg", after_soi(jpeg(), segment(0xE0, b"JFXX\0\x13\2\2" + bytes(12))))


def adobe(transform): return segment(0xEE, b"Adobe\0\x64\0\0\0\0" + bytes([transform]))


def without(file, marker):
    """A file without the segments of a marker."""
    at, kept = 2, file[:2]
    while file[at + 1] != 0xDA:
        n = 2 + struct.unpack(">H", file[at + 2 : at + 4])[0]
        if file[at + 1] != marker:
            kept += file[at : at + n]
        at += n
    return kept + file[at:]


def renamed(file, ids):
    """A file whose components have other numbers."""
    b = bytearray(file)
    for marker, first in ((0xC0, 10), (0xC2, 10), (0xDA, 5)):
        at = file.find(bytes([0xFF, marker]))
        for i, v in enumerate(ids if at > 0 else ()):
            b[at + first + i * (2 if marker == 0xDA else 3)] = v
    return bytes(b)


def colours():
    """Colour spaces by JFIF's and Adobe's segments and by the components' numbers."""
    for mode in ("RGB", "CMYK", "L"):
        h, w = draw.choice(SIZES)
        v = noise(h, w, 4).astype(np.uint8)
        im = Image.fromarray(v, "CMYK") if mode == "CMYK" else Image.fromarray(v[:, :, :3]).convert(mode)
        for options in ({}, {"progressive": True}, {"quality": 30}) if mode != "L" else ({},):
            whole = jpeg(im, **options)
            bare = without(without(whole, 0xE0), 0xEE)
            for extra in ([], *([adobe(t)] for t in range(4))):
                write(f"jpeg-space-{mode.lower()}", "jpg", after_soi(bare, *extra))
                write(f"jpeg-space-{mode.lower()}", "jpg", after_soi(bare, segment(0xE0, b"JFIF\0\1\1\0\0\1\0\1\0\0"), *extra))
            if mode == "RGB":
                for ids in (b"RGB", b"BGR", b"rgb", (0, 1, 2), (1, 2, 4), (2, 3, 1), (1, 34, 35)):
                    for extra in ([], [adobe(0)], [adobe(1)]):
                        write("jpeg-ids", "jpg", after_soi(renamed(bare, ids), *extra))
    tmp = f"{out}/tmp.ppm"
    for sampling in ("2x1", "1x2", "2x2", "1x4", "3x1", "2x4", "3x2", "4x2", "2x2,1x2", "2x2,2x1", "1x1,1x1,2x2", "1x1,2x1", "4x4,2x2"):
        for h, w in ((9, 13), (64, 100), (3, 5)):
            for flags in ((), ("-progressive",)):
                Image.fromarray(noise(h, w).astype(np.uint8)).save(tmp)
                to = path("jpeg-sampling", "jpg")
                try:
                    run("cjpeg", *flags, "-sample", sampling, "-outfile", to, tmp)
                except Exception:
                    open(to, "wb").write(b"\xff\xd8")  # too many blocks
    os.remove(tmp)


def frames():
    """What stands in the frame's header and between segments."""
    whole = jpeg()
    at = whole.index(b"\xff\xc0")
    for marker in (0xC1, 0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB):
        write("jpeg-frame", "jpg", whole[: at + 1] + bytes([marker]) + whole[at + 2 :])
    for offset, v in ((4, 12), (4, 16), (6, 0), (9, 2), (9, 4), (9, 1), (11, 0), (11, 0x51), (12, 3), (5, 255)):
        damaged = bytearray(whole)
        damaged[at + offset] = v
        if (offset, v) == (6, 0):
            damaged[at + 5] = 0  # the height comes behind the scan
        write("jpeg-frame", "jpg", bytes(damaged))
    scan = whole.index(b"\xff\xda")
    for name, file in {
        "fill": whole[:at] + b"\xff" * 9 + whole[at:], "garbage": whole[:at] + b"abc" + whole[at:], "rst": whole[:at] + b"\xff\xd3" + whole[at:], "tem": whole[:at] + b"\xff\x01" + whole[at:],
        "tail": whole + b"tail" * 50, "two": whole + jpeg(), "soi": whole[:at] + b"\xff\xd8" + whole[at:], "dnl": whole[:-2] + b"\xff\xdc\0\4\0\x15" + whole[-2:], "dri": whole[:scan] + b"\xff\xdd\0\4\0\2" + whole[scan:],
        "no end": whole[:-2], "zeros": whole[:-2] + bytes(500), "before": b"\0" + whole, "reserved": whole[:at] + b"\xff\xf0\0\2" + whole[at:], "unknown": whole[:at] + b"\xff\x30\0\2" + whole[at:],
        "short": whole[:at] + b"\xff\xfe\0\0" + whole[at:], "long": whole[:at] + b"\xff\xfe\xff\xff" + whole[at:],
    }.items():
        write("jpeg-segments", "jpg", file)
    for quality in (1, 5, 95, 100):
        for options in ({}, {"optimize": True}, {"progressive": True}, {"subsampling": 0}):
            h, w = draw.choice(SIZES + [(100, 131), (8, 8), (7, 200)])
            write("jpeg-quality", "jpg", jpeg(picture(h, w), quality=quality, **options))
    progressive = jpeg(picture(40, 60), progressive=True)
    for _ in range(12):
        write("jpeg-progressive-cut", "jpg", progressive[: draw.randrange(200, len(progressive))])
    for flags in ((), ("-progressive",), ("-arithmetic",), ("-restart", "1")):
        tmp, to = f"{out}/tmp.ppm", f"{out}/tmp.jpg"
        picture(48, 50).save(tmp)
        run("cjpeg", *flags, "-outfile", to, tmp)
        with open(to, "rb") as f:
            whole = f.read()
        scan = whole.index(b"\xff\xda") + 14
        for _ in range(8):
            damaged = bytearray(whole)
            for _ in range(draw.randint(1, 3)):
                damaged[draw.randrange(scan, len(damaged))] = draw.randrange(256)
            write("jpeg-damaged" + "".join(f for f in flags if f[1:].isalpha()), "jpg", bytes(damaged))
        os.remove(tmp)
        os.remove(to)


# TIFF, written here: tags as scanners and programs other than libtiff's write them.

def tiff(v, photometric, bits, order="<", rows=None, tile=None, extra=(), separate=False, deflate=None, types=None, pages=1):
    """A TIFF of h x w x c values without compression, in strips of rows or in tiles."""
    h, w, c = v.shape
    tags = {256: (3, [w]), 257: (3, [h]), 258: (3, [bits] * c), 259: (3, [1]), 262: (3, [photometric]), 277: (3, [c]), 284: (3, [2 if separate else 1])}
    th, tw = tile or (rows or h, w)
    blocks = []
    for plane in ([v[:, :, i : i + 1] for i in range(c)] if separate else [v]):
        for y in range(0, h, th):
            for x in range(0, w, tw):
                part = plane[y : y + th, x : x + tw]
                if tile:
                    part = np.pad(part, ((0, th - part.shape[0]), (0, tw - part.shape[1]), (0, 0)))
                blocks.append(packed(part, bits, order))
    if tile:
        tags |= {322: (3, [tw]), 323: (3, [th])}
    else:
        tags[278] = (4, [rows or h])
    for t, kind, values in extra:
        tags[t] = (kind, values)
    tags |= {324 if tile else 273: (4, [0] * len(blocks)), 325 if tile else 279: (4, [len(b) for b in blocks])}
    for t, kind in (types or {}).items():
        tags[t] = (kind, tags[t][1])
    size = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 8: 2}
    code = {1: "B", 3: "H", 4: "I", 6: "b", 8: "h"}
    start = 8 + 2 + 12 * len(tags) + 4
    long = sum(n for k, x in tags.values() if (n := size[k] * len(x) + size[k] * len(x) % 2) > 4)
    at = start + long
    tags[324 if tile else 273] = (4, [at + sum(len(b) for b in blocks[:i]) for i in range(len(blocks))])
    entries, values = [], b""
    for t in sorted(tags):
        kind, x = tags[t]
        if kind == 5:
            raw = b"".join(struct.pack(order + "II", *pair) for pair in x)
        else:
            raw = struct.pack(order + f"{len(x)}{code[kind]}", *x)
        if len(raw) > 4:
            raw, here = raw + b"\0" * (len(raw) % 2), start + len(values)
            values += raw
            raw = struct.pack(order + "I", here)
        entries.append((t, kind, len(x), raw.ljust(4, b"\0")))
    return (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(order + "I", 8) + ifd(order, entries) + values + b"".join(blocks)


def packed(v, bits, order):
    if bits == 8:
        return v.astype(np.uint8).tobytes()
    if bits == 16:
        return v.astype(order + "u2").tobytes()
    rows = b""
    for row in v:
        text = "".join(format(int(x), f"0{bits}b") for x in row.reshape(-1))
        text += "0" * (-len(text) % 8)
        rows += bytes(int(text[i : i + 8], 2) for i in range(0, len(text), 8))
    return rows


def scanners():
    for order in "<>":
        for bits in (1, 2, 4, 8, 16):
            most = (1 << bits) - 1
            for photometric in (0, 1):
                for rows, tile in ((None, None), (5, None), (1, None), (None, (16, 16))):
                    write("tiff-grey-bits", "tif", tiff(noise(33, 50, 1, most), photometric, bits, order, rows, tile))
            if bits < 16:
                for rows, tile in ((None, None), (7, None), (None, (16, 32))):
                    table = [draw.choice([draw.randrange(65536), draw.randrange(256)]) for _ in range(3 << bits)]
                    low = [x & 255 for x in table]
                    for colours in (table, low):
                        write("tiff-palette-bits", "tif", tiff(noise(33, 50, 1, most), 3, bits, order, rows, tile, [(320, 3, colours)]))
            if bits >= 8:
                for c in (3, 4, 5):
                    for kinds in ([], [0] * (c - 3), [1] * (c - 3), [2] * (c - 3)):
                        if len(kinds) == c - 3 or c == 4:
                            extra = [(338, 3, kinds)] if kinds else []
                            write("tiff-extra", "tif", tiff(noise(20, 30, c, most), 2, bits, order, 6, extra=extra))
                            write("tiff-extra", "tif", tiff(noise(20, 30, c, most), 2, bits, order, 6, extra=extra, separate=True))
                for kind in (0, 1, 2):
                    for photometric in (0, 1):
                        write("tiff-grey-extra", "tif", tiff(noise(20, 30, 2, most), photometric, bits, order, 6, extra=[(338, 3, [kind])]))
                write("tiff-signed", "tif", tiff(noise(20, 30, 3, most), 2, bits, order, extra=[(339, 3, [2] * 3)]))
                write("tiff-signed", "tif", tiff(noise(20, 30, 1, most), 1, bits, order, extra=[(339, 3, [2])]))
        v = noise(20, 30)
        for types in ({256: 4, 257: 4, 258: 4}, {256: 1, 257: 1}, {258: 1, 277: 4, 262: 4}, {259: 4, 284: 4}):
            write("tiff-types", "tif", tiff(v, 2, 8, order, 5, types=types))
        for rows in (0xFFFFFFFF, 100, 19, 20):
            write("tiff-rows", "tif", tiff(v, 2, 8, order, extra=[(278, 4, [rows])]))
        more = [(254, 4, [0]), (270, 2, []), (282, 5, [(300, 1)]), (283, 5, [(300, 1)]), (296, 3, [2]), (33550, 4, [1, 1, 0])]
        write("tiff-tags", "tif", tiff(v, 2, 8, order, extra=[t for t in more if t[2]]))
        for lab in (8, 16):
            write("tiff-cielab", "tif", tiff(noise(40, 60), 8, 8, order, 7))
            write("tiff-cielab", "tif", tiff(noise(40, 60), 8, 8, order, 7, extra=[(318, 5, [(3127, 10000), (3290, 10000)])]))
            write("tiff-cielab", "tif", tiff(noise(40, 60), 8, 8, order, tile=(16, 16)))
            write("tiff-cielab", "tif", tiff(noise(40, 60), 8, 8, order, separate=True))
            write("tiff-cielab", "tif", tiff(noise(40, 60, 1), 8, 8, order))
            write("tiff-cielab", "tif", tiff(noise(40, 60, 3, 65535), 8, 16, order))
            write("tiff-cielab", "tif", tiff(noise(40, 60), 9, 8, order))
        for h, v in ((1, 1), (2, 1), (2, 2), (4, 1), (4, 2), (1, 2), (4, 4)):
            body = noise((33 + v - 1) // v, ((50 + h - 1) // h) * (h * v + 2), 1)
            whole = tiff(noise(33, 50), 6, 8, order, extra=[(530, 3, [h, v])])
            flat = body.astype(np.uint8).tobytes()
            write("tiff-ycc-raw", "tif", whole[: -33 * 50 * 3] + flat.ljust(33 * 50 * 3, b"\0"))
        write("tiff-ycc-raw", "tif", tiff(noise(33, 50), 6, 8, order, extra=[(530, 3, [1, 1]), (532, 5, [(16, 1), (235, 1), (128, 1), (240, 1), (128, 1), (240, 1)])]))
        inks = noise(20, 30, 4)
        for extra in ([], [(332, 3, [1])], [(332, 3, [2])]):
            write("tiff-inks", "tif", tiff(inks, 5, 8, order, extra=extra))
            write("tiff-inks", "tif", tiff(noise(20, 30, 5), 5, 8, order, extra=extra))
        write("tiff-inks", "tif", tiff(noise(20, 30, 4, 65535), 5, 16, order))
    pages = [picture() for _ in range(3)]
    pages[0].save(path("tiff-pages", "tif"), save_all=True, append_images=[p.convert("L") for p in pages[1:]])
    pages[0].convert("1").save(path("tiff-pages", "tif"), save_all=True, append_images=[p.convert("1") for p in pages[1:]], compression="group4")


def faxes():
    """Wide pages with short and long runs, and damaged ones."""
    tmp, whole = f"{out}/tmp.tif", f"{out}/whole.tif"
    for w in (1728, 2560, 5300, 61):
        page = np.ones((12, w), bool)
        for row in page[1:]:
            x = 0
            while x < w:
                n = draw.choice([1, 2, 3, draw.randrange(64), draw.randrange(3000)])
                row[x : x + n] = draw.random() < 0.5
                x += n
        page[5] = page[4]
        page[6, 3:] = page[5, :-3]
        Image.fromarray(page).save(tmp)
        for way in ("g3", "g3:2d", "g3:fill", "g3:2d:fill", "g4"):
            run("tiffcp", "-c", way, "-r", draw.choice(["12", "5"]), tmp, whole)
            with open(whole, "rb") as f:
                good = f.read()
            write("tiff-fax", "tif", good)
            # The pixels of PIL's and libtiff's files stand before the directory.
            end = struct.unpack("<I", good[4:8])[0]
            for _ in range(6):
                damaged = bytearray(good)
                for _ in range(draw.randint(1, 3)):
                    damaged[draw.randrange(8, end)] = draw.choice([0, 255, draw.randrange(256)])
                write("tiff-fax-damaged", "tif", bytes(damaged))
        Image.fromarray(page).save(tmp, compression="tiff_ccitt")
        os.rename(tmp, path("tiff-fax", "tif"))
    if os.path.exists(whole):
        os.remove(whole)


def damages():
    """TIFFs of every way of compression with random damage in their pixels."""
    tmp, whole = f"{out}/tmp.tif", f"{out}/whole.tif"
    for mode in ("RGB", "L"):
        picture(33, 50, mode).save(tmp)
        for way in ("jpeg", "jpeg:r", "lzw", "lzw:2", "zip", "packbits", "zstd", "lzma", "webp"):
            if mode == "L" and way in ("webp", "jpeg:r"):
                continue
            run("tiffcp", "-r", "16", "-c", way, tmp, whole)
            with open(whole, "rb") as f:
                good = f.read()
            end = struct.unpack("<I", good[4:8])[0]
            for _ in range(8):
                damaged = bytearray(good)
                for _ in range(draw.randint(1, 2)):
                    damaged[draw.randrange(8, end)] = draw.choice([0, 255, draw.randrange(256)])
                write(f"tiff-{way.replace(':', '')}-damaged", "tif", bytes(damaged))
    os.remove(tmp)
    os.remove(whole)


def web():
    """WebP with the chunks of other programs, and PNM headers."""
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    turn = Image.Exif()
    turn[274] = 3
    for lossless in (False, True):
        for channels in (3, 4):
            im = Image.fromarray(noise(21, 37, channels).astype(np.uint8))
            for options in ({"icc_profile": profile}, {"exif": turn}, {"xmp": b"<x/>"}, {"exact": True}):
                im.save(path("webp-chunks", "webp"), lossless=lossless, **options)
            frames = [Image.fromarray(noise(20, 20, channels).astype(np.uint8)) for _ in range(2)]
            frames[0].save(path("webp-frames", "webp"), save_all=True, append_images=frames[1:], lossless=lossless)
            f = io.BytesIO()
            im.save(f, "WEBP", lossless=lossless)
            whole = f.getvalue()
            size = struct.unpack("<I", whole[4:8])[0]
            for n in (size - 2, size - 1, size + 1, size + 2, size + 1000, 0, 4, 12, 20, size + 5):
                write("webp-riff", "webp", whole[:4] + struct.pack("<I", n) + whole[8:] + b"\0" * draw.choice([0, 1, 2, 5]))
            for cut in (1, 2, 3, 4, 8):
                write("webp-cut-end", "webp", whole[:-cut])
            for _ in range(6):
                damaged = bytearray(whole)
                damaged[draw.randrange(12, len(damaged))] ^= 1 << draw.randrange(8)
                write("webp-flipped", "webp", bytes(damaged))
    v = noise(3, 4).reshape(-1)
    heads = [b"P6 4 3 255 ", b"P6\n4 3\n255\n", b"P6\n#a\n4 #b\n3\n#c\n255\n", b"P6\r\n4 3\r\n255\n", b"P6\t4\t3\t255\t", b"P6\n4 3 255#d\n", b"P6\n 4  3\n\n255\n", b"P6\n+4 3\n255\n", b"P6\n4 -3\n255\n",
             b"P6\n4 3\n256\n", b"P6\n4 3\n254\n", b"P6\n4 3\n1\n", b"P6\n4 3\n0\n", b"P6\n4 3\n65536\n", b"P6\n4.0 3\n255\n", b"P6\n4 3\n", b"P6\n0 3\n255\n", b"P64 3 255\n", b"P6\n04 03\n0255\n", b"P6\n4 3\n255\r\n"]
    for head in heads:
        body = v.astype(np.uint8).tobytes()
        write("pnm-head", "ppm", head + body + body)
        write("pnm-head", "pgm", head.replace(b"P6", b"P5") + body)
        write("pnm-head", "ppm", head.replace(b"P6", b"P3") + b" ".join(b"%d" % x for x in v) + b"\n")
        write("pnm-head", "pbm", head.replace(b"P6", b"P4").replace(b"255", b"") + body)
        write("pnm-head", "pbm", head.replace(b"P6", b"P1").replace(b"255", b"") + b"0110 1001\n1111")
    for body in (b"1 2 3 4 5 6 7 8 9 10 11 300", b"1 2 3 4 5 6 7 8 9 10 11", b"1 2 3 4 # x\n5 6 7 8 9 10 11 12", b"1,2,3,4,5,6,7,8,9,10,11,12", b"1 2 3 4 -5 6 7 8 9 10 11 12", b"0x1 2 3 4 5 6 7 8 9 10 11 12"):
        write("pnm-text", "pgm", b"P2\n4 3\n255\n" + body)
        write("pnm-text", "pgm", b"P2\n4 3\n15\n" + body)
        write("pnm-text", "pgm", b"P2\n4 3\n1000\n" + body)
    for body in (b"011010011111", b"0 1 1 0 1 0 0 1 1 1 1 1", b"0110#c\n10011111", b"0110100111", b"0120100111", b"01101001111101"):
        write("pnm-text", "pbm", b"P1\n4 3\n" + body)


parts = (cameras, colours, frames, scanners, faxes, damages, web)
