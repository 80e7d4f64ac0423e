"""Writes pictures of all kinds that swcaffe reads as Caffe does, for compare.py. The same seed gives the same pictures.

make.py DIR [SEED] writes DIR/KIND-NUMBER.ENDING. It needs ImageMagick, cjpeg and jpegtran, libtiff's tools, cwebp, numpy and PIL."""

import os, struct, subprocess, zlib

import numpy as np
from PIL import Image, ImageCms

import users
from common import SIZES, counts, draw, noise, out, path, run, write


# PNG, written here: colour types, depths, interlacing and the chunks that say what the values mean.

CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}


def chunk(name, body, crc=0):
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body) ^ crc)


def png_rows(v, depth, filters):
    """The filtered rows of a picture or of a pass of an interlaced one."""
    h, w, c = v.shape
    if not h or not w:
        return b""
    step = max(1, c * depth // 8)
    above, all = None, b""
    for y in range(h):
        flat = v[y].reshape(-1)
        if depth == 16:
            row = flat.astype(">u2").tobytes()
        elif depth == 8:
            row = flat.astype(np.uint8).tobytes()
        else:
            bits = "".join(format(int(x), f"0{depth}b") for x in flat)
            bits += "0" * (-len(bits) % 8)
            row = bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits), 8))
        above = above or bytes(len(row))
        kind = filters(y)
        code = bytearray()
        for i, x in enumerate(row):
            a, b, c2 = row[i - step] if i >= step else 0, above[i], above[i - step] if i >= step else 0
            p = a + b - c2
            paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c2), 2, c2))[2]
            code.append((x - [0, a, b, (a + b) // 2, paeth][kind]) & 255)
        all += bytes([kind]) + bytes(code)
        above = row
    return all


def png(v, kind, depth, before=(), after=(), interlaced=False, filters=lambda y: y % 5):
    h, w, _ = v.shape
    if interlaced:
        body = b"".join(png_rows(v[y::dy, x::dx], depth, filters) for x, y, dx, dy in
                        [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)])
    else:
        body = png_rows(v, depth, filters)
    data = zlib.compress(body)
    cut = len(data) // 2
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, depth, kind, 0, 0, interlaced)) + b"".join(before) + \
        b"".join(after) + chunk(b"IDAT", data[:cut]) + chunk(b"IDAT", data[cut:]) + chunk(b"IEND", b"")


def gama(v): return chunk(b"gAMA", struct.pack(">I", v))


SRGB = chunk(b"sRGB", b"\0")
CHRM = chunk(b"cHRM", struct.pack(">8I", 31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000))


def some_png(kind, depth, interlaced=False, before=(), trns=False):
    h, w = draw.choice(SIZES)
    most = (1 << depth) - 1
    after = []
    if kind == 3:
        n = draw.randint(2, 1 << depth)
        v = noise(h, w, 1, n - 1)
        after = [chunk(b"PLTE", bytes(draw.randrange(256) for _ in range(3 * n)))]
        if trns:
            after.append(chunk(b"tRNS", bytes(draw.randrange(256) for _ in range(draw.randint(1, n)))))
    else:
        v = noise(h, w, CHANNELS[kind], most)
        if kind in (2, 6) and w > 3:
            v[:, : w // 3, :3] = v[:, : w // 3, :1]  # grey pixels, which libpng treats apart
        if trns:
            after.append(chunk(b"tRNS", b"".join(struct.pack(">H", int(x)) for x in v[0, 0])))
    return png(v, kind, depth, before, after, interlaced)


def pngs():
    spaces = {"plain": [], "gamma": [gama(45455)], "srgb": [SRGB], "linear": [gama(100000)], "steep": [gama(draw.choice([20000, 30000, 180000, 220000]))],
              "chrm": [CHRM], "both": [gama(45455), SRGB, CHRM], "unlike": draw.sample([gama(100000), SRGB], 2), "twice": [gama(50000), gama(30000)]}
    for kind, depths in {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}.items():
        for depth in depths:
            for name, before in spaces.items():
                write(f"png-{name}", "png", some_png(kind, depth, draw.random() < 0.3, before))
            write("png-interlaced", "png", some_png(kind, depth, True))
            if kind in (0, 2, 3):
                write("png-trns", "png", some_png(kind, depth, draw.random() < 0.3, trns=True))
                write("png-trns", "png", some_png(kind, depth, draw.random() < 0.3, [SRGB], trns=True))
    for bits in (3, 5, 7, 8, 11, 13, 16):
        write("png-sbit", "png", some_png(2, 16, before=[gama(45455), chunk(b"sBIT", bytes([bits] * 3))]))
    for profile in ("srgb", "none"):
        body = bytes(draw.randrange(256) for _ in range(200))
        write("png-iccp", "png", some_png(2, 8, before=[chunk(b"iCCP", b"p\0\0" + zlib.compress(body))]))
    write("png-order", "png", png(noise(9, 13), 2, 8, after=[chunk(b"PLTE", b"abcdef"), gama(45455)]))
    for _ in range(3):
        name = path("png-magick", "png")
        run("convert", "-seed", str(draw.randrange(10**6)), "-size", "25x19", "plasma:", name)
    exif = b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"
    write("png-exif", "png", png(noise(9, 13), 2, 8, [chunk(b"eXIf", exif)]))
    # Damage.
    whole = png(noise(33, 50), 2, 8, [gama(45455), chunk(b"tEXt", b"Comment\0hello")])
    for cut in (1, 4, 12, 13, 20, len(whole) // 2, len(whole) - 40, len(whole) - 60):
        write("png-cut", "png", whole[:-cut])
    for at in (29, 37 + 8, whole.index(b"tEXt") + 6, whole.index(b"IDAT") + 8, len(whole) - 3, whole.index(b"IDAT") - 6, len(whole) - 14):
        damaged = bytearray(whole)
        damaged[at] ^= 0x41
        write("png-damaged", "png", bytes(damaged))
    write("png-damaged", "png", whole + b"trailing")
    write("png-damaged", "png", whole.replace(b"tEXt", b"TEXt"))
    for extra in (png_rows(noise(2, 50), 8, lambda y: 0), b"\0" * 10000):
        rows = png_rows(noise(9, 50), 8, lambda y: 0) + extra
        write("png-long", "png", b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 50, 9, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
    rows = png_rows(noise(9, 50), 8, lambda y: 0)
    for data in (zlib.compress(rows[:-200]), zlib.compress(rows)[:-4] + b"abcd", zlib.compress(rows)[:-4], zlib.compress(rows[:-10] + b"\x07" * 10)):
        write("png-zlib", "png", b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 50, 9, 8, 2, 0, 0, 0)) + chunk(b"IDAT", data) + chunk(b"IEND", b""))
    write("png-zlib", "png", png(noise(9, 50), 2, 8, filters=lambda y: 0)[:-12] + chunk(b"IDAT", b"") + chunk(b"IEND", b""))


def png_chunks():
    """Chunks as browsers, cameras, phones and editors write them."""
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    iccp = chunk(b"iCCP", b"sRGB\0\0" + zlib.compress(profile))
    text = chunk(b"tEXt", b"Software\0x"), chunk(b"zTXt", b"Comment\0\0" + zlib.compress(b"x" * 50)), chunk(b"iTXt", b"Title\0\0\0\0\0\xc3\xa9"), chunk(b"tIME", bytes([7, 232, 1, 2, 3, 4, 5]))
    animated = chunk(b"acTL", struct.pack(">II", 2, 0)), chunk(b"fcTL", struct.pack(">IIIIIHHBB", 0, 13, 9, 0, 0, 1, 10, 0, 0))
    for before in ([iccp], [iccp, gama(45455)], [iccp, SRGB], [SRGB, iccp], [gama(45455), iccp, CHRM], [chunk(b"pHYs", struct.pack(">IIB", 2835, 2835, 1)), *text], animated,
                   [chunk(b"bKGD", b"\0\1\0\2\0\3")], [chunk(b"cICP", bytes([9, 16, 0, 1]))], [chunk(b"sTER", b"\0"), chunk(b"oFFs", bytes(9))], [chunk(b"prVW", b"private"), chunk(b"vpAg", bytes(9))],
                   [chunk(b"gAMA", b"\0\0\xb1")], [gama(0)], [gama(1)], [gama(2**31)], [chunk(b"sRGB", b"\4")], [chunk(b"sRGB", b"\0\0")], [chunk(b"sRGB", b"\3")], [SRGB, SRGB], [chunk(b"IEXT", b"")],
                   [chunk(b"cHRM", bytes(32))], [gama(45455), chunk(b"cHRM", bytes(31))], [chunk(b"sBIT", b"\5\6\5")], [chunk(b"hIST", bytes(4))], [chunk(b"tEXt", b"")]):
        for kind in (2, 6):
            write("png-chunks", "png", png(noise(9, 13, CHANNELS[kind]), kind, 8, before))
    for kind, key in ((0, b"\0\7"), (0, b"\1\7"), (0, b"\7"), (0, b""), (2, b"\0\1\0\2\0\3"), (2, b"\0\1"), (4, b"\0\7"), (6, bytes(6)), (3, bytes(300)), (3, b""), (3, b"\x80")):
        n = 4
        table = [chunk(b"PLTE", bytes(draw.randrange(256) for _ in range(3 * n)))] if kind == 3 else []
        v = noise(9, 13, CHANNELS[kind], n - 1 if kind == 3 else 255)
        write("png-trns-odd", "png", png(v, kind, 8, after=table + [chunk(b"tRNS", key)]))
        write("png-trns-odd", "png", png(v, kind, 8, after=[chunk(b"tRNS", key)] + table))
        write("png-trns-odd", "png", png(v, kind, 8, after=table + [chunk(b"tRNS", key)] * 2))
    for bits, entries in ((8, 3), (4, 3), (2, 2), (1, 1), (4, 20), (1, 3), (8, 0), (8, 257)):
        v = noise(9, 13, 1, (1 << bits) - 1)
        write("png-palette-odd", "png", png(v, 3, bits, after=[chunk(b"PLTE", bytes(draw.randrange(256) for _ in range(3 * entries)))]))
        write("png-palette-odd", "png", png(v, 3, bits, after=[chunk(b"PLTE", b"abcdef"), chunk(b"PLTE", b"ghijkl")]))
    write("png-palette-odd", "png", png(noise(9, 13, 1, 3), 3, 2))
    write("png-palette-odd", "png", png(noise(9, 13, 1), 0, 8, after=[chunk(b"PLTE", b"abcdef")]))
    whole = png(noise(9, 13), 2, 8)
    at = whole.index(b"IDAT") - 4
    for extra in (chunk(b"IDAT", b""), chunk(b"CgBI", bytes(4)), chunk(b"fdAT", bytes(9)), chunk(b"IHDR", whole[16:29]), chunk(b"IEND", b"")):
        write("png-data", "png", whole[:at] + extra + whole[at:])
        end = len(whole) - 12
        write("png-data", "png", whole[:end] + extra + whole[end:])
        second = whole.index(b"IDAT", at + 8) - 4
        write("png-data", "png", whole[:second] + extra + whole[second:])
    for level in (0, 1, 9):
        for window in (9, 12, 15):
            c = zlib.compressobj(level, zlib.DEFLATED, window)
            body = c.compress(png_rows(noise(9, 13), 8, lambda y: y % 5)) + c.flush()
            write("png-data", "png", whole[:at] + chunk(b"IDAT", body) + chunk(b"IEND", b""))
    for offset, v in ((0, 0x18), (0, 0x79), (1, 0), (0, 0x88)):
        body = bytearray(zlib.compress(png_rows(noise(9, 13), 8, lambda y: 0)))
        body[offset] = v
        write("png-data", "png", whole[:at] + chunk(b"IDAT", bytes(body)) + chunk(b"IEND", b""))
    for h, w in ((1, 1), (2, 3), (1, 9), (9, 1), (5, 2), (8, 8), (3, 4)):
        for kind, depth in ((0, 1), (0, 16), (2, 8), (6, 8), (4, 8)):
            write("png-small-interlaced", "png", png(noise(h, w, CHANNELS[kind], (1 << depth) - 1), kind, depth, interlaced=True))


# BMP, written here.

def bmp_header(h, w, bits, method, palette, header, offset=0, masks=b"", size=0):
    table = b"".join(bytes([b, g, r] if header == 12 else [b, g, r, 0]) for b, g, r in palette)
    start = 14 + header + len(table) + (len(masks) if header <= 40 else 0) + offset
    if header == 12:
        info = struct.pack("<IHHHH", 12, w, h & 0xFFFF, 1, bits)
    else:
        info = struct.pack("<IiiHHIIiiII", header, w, h, 1, bits, method, 0, 2835, 2835, len(palette) if len(palette) != 1 << bits else 0, 0)
        info += masks.ljust(header - 40, b"\0") if header > 40 else b""
    return b"BM" + struct.pack("<IHHI", start + size, 0, 0, start) + info + (masks if header == 40 else b"") + table + b"\0" * offset


def pack(v, bits):
    """Rows of indices of 1, 4 or 8 bits, each of a multiple of 4 bytes, the lowest row first."""
    rows = b""
    for row in v[::-1]:
        text = "".join(format(int(x), f"0{bits}b") for x in row)
        text += "0" * (-len(text) % 32)
        rows += bytes(int(text[i : i + 8], 2) for i in range(0, len(text), 8))
    return rows


def rle(v, bits):
    code = b""
    for y, row in enumerate(v[::-1]):
        row, x = [int(i) for i in row], 0
        while x < len(row):
            n = 1
            while x + n < len(row) and n < 255 and row[x + n] == row[x]:
                n += 1
            rest = len(row) - x
            if n == 1 and rest >= 3 and draw.random() < 0.8:
                n = min(rest, draw.randint(3, 40))
                part = row[x : x + n]
                if bits == 4:
                    part = part + [0] * (n % 2)
                    part = [a << 4 | b for a, b in zip(part[::2], part[1::2])]
                code += bytes([0, n]) + bytes(part) + b"\0" * (len(part) % 2)
            else:
                code += bytes([n, row[x] * 17 if bits == 4 else row[x]])
            x += n
        code += b"\0\0"
    return code + b"\0\1"


def bmps():
    for bits in (1, 4, 8):
        for grey in (False, True):
            for header in (12, 40, 64, 108, 124):
                h, w = draw.choice(SIZES)
                n = 1 << bits if header == 12 else draw.randint(2, 1 << bits)
                palette = [(g, g, g) if grey else tuple(draw.randrange(256) for _ in range(3)) for g in range(0, n)]
                v = noise(h, w, 1, n - 1)[:, :, 0]
                for down in (False, True)[: 1 if header == 12 else 2]:
                    write(f"bmp-palette", "bmp", bmp_header(-h if down else h, w, bits, 0, palette, header, draw.choice([0, 0, 7])) + pack(v[::-1] if down else v, bits))
                if bits > 1 and header >= 40:
                    flat = np.where(noise(h, w, 1, 3)[:, :, 0] > 1, v // 3, v)
                    write("bmp-rle", "bmp", bmp_header(h, w, bits, 2 if bits == 4 else 1, palette, header) + rle(flat, bits))
    palette = [tuple(draw.randrange(256) for _ in range(3)) for _ in range(256)]
    rows = b"\x05\x03\0\x02\x02\x01\x04\x07\0\0" + b"\0\x04abcd\x02\x09\0\0\0\0\x0d\x08\0\0"
    for tail in (b"\0\1", b"", b"\0\2\0\3\0\1", b"\x0e\x01", b"\0\0" * 9, b"\0\x0eabcdefghijklmn", b"\x0d\x01" * 8 + b"\0\1", b"\x0d\x01\0\0" * 9):
        write("bmp-rle-odd", "bmp", bmp_header(9, 13, 8, 1, palette, 40) + rows + tail)
        write("bmp-rle-odd", "bmp", bmp_header(9, 13, 4, 2, palette[:16], 40) + rows + tail)
        write("bmp-rle-odd", "bmp", bmp_header(-9, 13, 8, 1, palette, 40) + rows + tail)
    for masks in ((), (0x7C00, 0x3E0, 0x1F), (0xF800, 0x7E0, 0x1F), (0xF00, 0xF0, 0xF), (0xF800, 0x7E0, 0x1F, 0), (0x1F, 0x7E0, 0xF800)):
        for header in (40, 56, 108):
            h, w = draw.choice(SIZES)
            v = noise(h, w, 1, 65535)[:, :, 0].astype("<u2")
            body = b"".join(row.tobytes() + b"\0" * (2 * w % 4) for row in v[::-1])
            write("bmp-16", "bmp", bmp_header(h, w, 16, 3 if masks else 0, (), header, masks=b"".join(struct.pack("<I", m) for m in masks)) + body)
    for bits in (24, 32):
        for header in (12, 40, 56, 108, 124):
            for masks in ((),) if bits == 24 else ((), (0xFF0000, 0xFF00, 0xFF, 0xFF000000), (0xFF, 0xFF00, 0xFF0000, 0xFF000000)):
                h, w = draw.choice(SIZES)
                if header == 12 and masks:
                    continue
                v = noise(h, w, bits // 8).astype(np.uint8)
                body = b"".join(row.tobytes() + b"\0" * (-w * bits // 8 % 4) for row in v)
                write(f"bmp-{bits}", "bmp", bmp_header(draw.choice([h, h, -h]) if header > 12 else h, w, bits, 3 if masks else 0, (), header,
                                                      masks=b"".join(struct.pack("<I", m) for m in masks)) + body)
    whole = bmp_header(9, 13, 24, 0, (), 40) + noise(9, 13).astype(np.uint8).tobytes() + bytes(9)
    for n in (10, 20, 40, 53, 54, 60, len(whole) // 2, len(whole) - 1, len(whole) - 4):
        write("bmp-cut", "bmp", whole[:n])
    for at, value in ((28, 3), (28, 64), (30, 9), (18, 0), (22, 0), (14, 20), (14, 36), (10, 0), (10, 255), (46, 77)):
        damaged = bytearray(whole)
        damaged[at] = value
        write("bmp-damaged", "bmp", bytes(damaged))
    damaged = bytearray(bmp_header(9, 13, 8, 0, palette, 40) + bytes(16 * 9))
    damaged[47] = 2
    write("bmp-damaged", "bmp", bytes(damaged))


# TIFF, by PIL, libtiff's tools and ImageMagick.

def tiffs():
    tmp = f"{out}/tmp.tif"
    rgb = lambda: Image.fromarray(noise(33, 50).astype(np.uint8))
    kinds = {"rgb": rgb, "grey": lambda: rgb().convert("L"), "palette": lambda: rgb().quantize(draw.choice([2, 16, 200])), "bits": lambda: rgb().convert("1"),
             "alpha": lambda: Image.fromarray(noise(33, 50, 4).astype(np.uint8), "RGBA"), "cmyk": lambda: Image.fromarray(noise(33, 50, 4).astype(np.uint8), "CMYK"),
             "16": lambda: Image.fromarray(noise(33, 50, 1, 65535)[:, :, 0].astype(np.uint16)), "ga": lambda: Image.fromarray(noise(33, 50, 2).astype(np.uint8), "LA"),
             "float": lambda: Image.fromarray(noise(33, 50, 1)[:, :, 0].astype(np.float32)), "lab": lambda: Image.fromarray(noise(33, 50).astype(np.uint8), "LAB"),
             "ycc": lambda: Image.fromarray(noise(33, 50).astype(np.uint8), "YCbCr")}
    for name, make in kinds.items():
        for method in (None, "packbits", "tiff_lzw", "tiff_adobe_deflate", "tiff_deflate", "lzma", "zstd", "jpeg", "group3", "group4", "tiff_ccitt", "webp"):
            try:
                make().save(tmp, compression=method)
            except Exception:
                continue
            os.rename(tmp, path(f"tiff-{name}-{method or 'raw'}", "tif"))
    kinds["deep"] = lambda: Image.open(deep)
    deep = f"{out}/deep.tif"
    run("convert", "-seed", str(draw.randrange(10**6)), "-size", "50x33", "plasma:", "-depth", "16", "-define", "quantum:format=unsigned", deep)
    for name in ("rgb", "grey", "palette", "bits", "alpha", "cmyk", "16", "ga", "deep"):
        ways = [("-t", "-w", "16", "-l", "16"), ("-t", "-w", "32", "-l", "16", "-p", "separate"), ("-s", "-r", "5"), ("-s", "-r", "7", "-p", "separate"), ("-B",), ("-L",), ("-8",)]
        ways += [("-c", "lzw:2", "-r", "6"), ("-c", "zip:2", "-t", "-w", "16", "-l", "32"), ("-c", "lzma", "-r", "10"), ("-c", "zstd:2", "-r", "10"), ("-f", "lsb2msb"),
                 ("-c", "zip:2", "-p", "separate"), ("-c", "zip:2", "-B"), ("-c", "packbits", "-r", "3")]
        if name == "bits":
            ways += [("-c", f"g3{o}", *w) for o in ("", ":1d", ":2d", ":fill", ":2d:fill") for w in ((), ("-r", "5"), ("-f", "lsb2msb"))]
            ways += [("-c", "g4", *w) for w in ((), ("-r", "5"), ("-f", "lsb2msb"), ("-t", "-w", "16", "-l", "16"))]
        if name in ("rgb", "grey"):
            ways += [("-c", f"jpeg{o}", *w) for o in ("", ":r", ":50") for w in ((), ("-r", "16"), ("-t", "-w", "32", "-l", "16"))]
            ways += [("-c", "jpeg", "-p", "separate")]
        if name == "deep":
            source = deep
        else:
            kinds[name]().save(tmp)
            source = tmp
        for way in ways:
            to = path(f"tiff-{name}-tiffcp", "tif")
            try:
                run("tiffcp", *way, source, to)
            except subprocess.CalledProcessError:
                counts[f"tiff-{name}-tiffcp"] -= 1
                if os.path.exists(to):
                    os.remove(to)
        for orientation in range(1, 9):
            for way in (("-r", "7"), ("-t", "-w", "16", "-l", "16")) if name in ("rgb", "grey", "16", "deep") else (("-r", "50"),):
                to = path(f"tiff-{name}-turned", "tif")
                run("tiffcp", *way, source, to)
                run("tiffset", "-s", "274", str(orientation), to)
    kinds["bits"]().save(tmp)
    run("tiffset", "-s", "262", "0", tmp)
    os.rename(tmp, path("tiff-white", "tif"))
    kinds["grey"]().save(tmp)
    run("tiffset", "-s", "262", "0", tmp)
    os.rename(tmp, path("tiff-white", "tif"))
    magick = [("-depth", str(d), "-colorspace", s, *extra) for d in (1, 2, 4, 8, 12, 16, 32) for s in ("sRGB", "Gray")
              for extra in ((), ("-define", "tiff:endian=msb"), ("-interlace", "plane"))]
    magick += [("-compress", "JPEG", "-sampling-factor", f, "-quality", q) for f in ("4:2:0", "4:2:2", "4:4:4", "1x2") for q in ("60", "90")]
    magick += [("-colors", "4", "-type", "palette", "-depth", d) for d in ("1", "2", "4", "8")] + [("-alpha", "set", "-channel", "A", "-evaluate", "set", "40%", "-define", f"tiff:alpha={a}", "-depth", d)
               for a in ("associated", "unassociated", "unspecified") for d in ("8", "16")] + [("-colorspace", c, "-depth", d) for c in ("CMYK", "Lab", "YCbCr") for d in ("8", "16")]
    for options in magick:
        to = path("tiff-magick", "tif")
        run("convert", "-seed", str(draw.randrange(10**6)), "-size", "23x17", "plasma:", *options, to)
    rgb().save(tmp)
    for method in ("none", "lzw", "zip", "packbits", "jpeg", "zstd", "lzma"):
        run("tiffcp", "-r", "16", "-c", method, tmp, f"{out}/whole.tif")
        with open(f"{out}/whole.tif", "rb") as f:
            whole = f.read()
        for at in (len(whole) // 3, len(whole) // 2, 100, 300):
            damaged = bytearray(whole)
            damaged[at : at + 5] = b"\x93\x00\xff\x51\x22"
            write("tiff-damaged", "tif", bytes(damaged))
        for cut in (2, 50, len(whole) // 2):
            write("tiff-cut", "tif", whole[:-cut])
    # The directory before the pixels, as libtiff's tools do not write it, and cut.
    v = noise(33, 50).astype(np.uint8).tobytes()
    tags = [(256, 50), (257, 33), (258, 8), (259, 1), (262, 2), (273, 200), (277, 3), (278, 33), (279, len(v))]
    head = b"II*\0\x08\0\0\0" + struct.pack("<H", len(tags)) + b"".join(struct.pack("<HHII", t, 4, 1, x) for t, x in tags) + bytes(4)
    for n in (0, 1, 50, 2500, len(v)):
        write("tiff-head", "tif", head.ljust(200, b"\0") + v[: len(v) - n])
    for missing in (256, 258, 259, 262, 273, 277, 278, 279):
        rest = [t for t in tags if t[0] != missing]
        head = b"II*\0\x08\0\0\0" + struct.pack("<H", len(rest)) + b"".join(struct.pack("<HHII", t, 4, 1, x) for t, x in rest) + bytes(4)
        write("tiff-missing", "tif", head.ljust(200, b"\0") + v)
    for name in ("tmp.tif", "whole.tif", "deep.tif"):
        if os.path.exists(f"{out}/{name}"):
            os.remove(f"{out}/{name}")


def webps():
    tmp = f"{out}/tmp.png"
    for h, w in SIZES + [(64, 65), (100, 3)]:
        for channels in (3, 4):
            Image.fromarray(noise(h, w, channels).astype(np.uint8)).save(tmp)
            for options in (("-q", "20"), ("-q", "90"), ("-lossless",), ("-q", "50", "-f", "0"), ("-q", "60", "-strong", "-f", "80", "-sns", "100"), ("-q", "70", "-nostrong", "-segments", "1"),
                            ("-q", "40", "-alpha_q", "30", "-alpha_filter", "best"), ("-lossless", "-z", "9")):
                run("cwebp", *options, tmp, "-o", path("webp-alpha" if channels == 4 else "webp-lossless" if "-lossless" in options else "webp-lossy", "webp"))
    exif = Image.Exif()
    exif[274] = 6
    Image.open(tmp).save(path("webp-exif", "webp"), exif=exif)
    frames = [Image.fromarray(noise(20, 20).astype(np.uint8)) for _ in range(3)]
    frames[0].save(path("webp-animated", "webp"), save_all=True, append_images=frames[1:])
    for options in ((), ("-lossless",)):
        Image.fromarray(noise(33, 50).astype(np.uint8)).save(tmp)
        run("cwebp", *options, tmp, "-o", f"{out}/whole.webp")
        with open(f"{out}/whole.webp", "rb") as f:
            whole = f.read()
        for n in (10, 20, 29, 40, len(whole) // 2, len(whole) - 30, len(whole) - 1):
            write("webp-cut", "webp", whole[:n])
        write("webp-damaged", "webp", whole + b"tail")
        for at in (14, 24, 27, 40, len(whole) // 2, len(whole) - 9):
            damaged = bytearray(whole)
            damaged[at] ^= 0x55
            write("webp-damaged", "webp", bytes(damaged))
    os.remove(tmp)
    os.remove(f"{out}/whole.webp")


def jpegs():
    tmp = f"{out}/tmp.ppm"
    for options in ((), ("-progressive",), ("-grayscale",), ("-arithmetic",), ("-sample", "1x1"), ("-sample", "2x1"), ("-sample", "1x2"), ("-sample", "4x1"), ("-restart", "1"), ("-rgb",), ("-quality", "20", "-progressive")):
        for h, w in draw.sample(SIZES, 2):
            Image.fromarray(noise(h, w).astype(np.uint8)).save(tmp)
            run("cjpeg", *options, "-outfile", path("jpeg" + "".join(o for o in options if not o.isdigit()), "jpg"), tmp)
    for orientation in range(0, 10):
        exif = Image.Exif()
        exif[274] = orientation
        for mode in ("RGB", "L"):
            Image.fromarray(noise(21, 37).astype(np.uint8)).convert(mode).save(path("jpeg-turned", "jpg"), exif=exif, quality=draw.choice([50, 90]))
    with open(path("jpeg-whole", "jpg"), "wb") as f:
        Image.fromarray(noise(33, 50).astype(np.uint8)).save(f, "JPEG")
    with open(f.name, "rb") as f:
        whole = f.read()
    for cut in (2, 20, len(whole) // 4, len(whole) // 2):
        write("jpeg-cut", "jpg", whole[:-cut])
    run("convert", "-size", "20x14", "plasma:", "-colorspace", "CMYK", path("jpeg-cmyk", "jpg"))
    os.remove(tmp)


def pnms():
    for letter, c in ((1, 1), (2, 1), (3, 3), (4, 1), (5, 1), (6, 3)):
        for most in (1,) if letter in (1, 4) else (255, 100, 1000, 65535):
            h, w = draw.choice(SIZES)
            v = noise(h, w, c, most)
            if letter == 4:
                bits = np.packbits(v[:, :, 0].astype(np.uint8), axis=1).tobytes()
            elif letter < 4:
                bits = " ".join(str(x) for x in v.reshape(-1)).encode() + b"\n"
            else:
                bits = v.astype(">u2" if most > 255 else np.uint8).tobytes()
            head = f"P{letter}\n# a comment\n{w} {h}\n" + ("" if letter in (1, 4) else f"{most}\n")
            write("pnm", {1: "pbm", 4: "pbm", 2: "pgm", 5: "pgm"}.get(letter, "ppm"), head.encode() + bits)
            if most in (255, 1):
                write("pnm-cut", "pnm", (head.encode() + bits)[: -max(2, len(bits) // 3)])


def others():
    for ending in ("gif", "ras", "jp2", "j2k", "hdr", "pfm", "pam", "ico", "pcx", "tga", "psd", "dds", "xpm"):
        run("convert", "-seed", "1", "-size", "12x9", "plasma:", path("other-" + ending, ending))


def cuts():
    """JPEGs that end early, in ways that matter where they are items of a database: near the end, in each row of MCUs, before the first one, in the headers."""
    tmp = f"{out}/tmp.ppm"
    for name, options in {"plain": (), "quality": ("-quality", "98"), "full": ("-sample", "1x1"), "flat": ("-sample", "2x1"), "tall": ("-sample", "1x2"), "far": ("-sample", "1x4"),
                          "mixed": ("-sample", "2x2,1x2"), "grey": ("-grayscale",), "restart": ("-restart", "1B"), "rows": ("-restart", "1"), "rgb": ("-rgb",),
                          "progressive": ("-progressive",), "arithmetic": ("-arithmetic",), "optimized": ("-optimize", "-quality", "30")}.items():
        h, w = draw.randint(20, 70), draw.randint(1, 60)
        Image.fromarray(noise(h, w).astype(np.uint8)).save(tmp)
        run("cjpeg", *options, "-outfile", f"{out}/whole.jpg", tmp)
        with open(f"{out}/whole.jpg", "rb") as f:
            whole = f.read()
        scan = whole.rindex(b"\xff\xda") + 14
        few = name in ("progressive", "arithmetic")
        for n in [len(whole) - 1, len(whole) - 2, len(whole) - draw.randint(3, 9), draw.randint(scan, len(whole))] + \
                ([] if few else [draw.randint(scan, len(whole)) for _ in range(3)] + [scan + draw.randint(0, 9), draw.randint(20, scan)]):
            write(f"jpeg-cut-{name}", "jpg", whole[:n])
        if not few:  # damage before the end, and markers behind the image
            damaged = bytearray(whole[: -draw.randint(0, 30) or None])
            damaged[draw.randrange(scan, len(damaged))] = draw.choice([0, 255, 0xD2])
            write(f"jpeg-cut-{name}", "jpg", bytes(damaged))
            write(f"jpeg-cut-{name}", "jpg", whole[:-2] + draw.choice([b"\xff\xd8", b"\xff\xda\0\x08\1\1\0\0\x3f\0", b"\xff\xdb\0\5\1\2\3\xff\xd9", b"\xff\2\0\4ab"]))
    os.remove(tmp)
    os.remove(f"{out}/whole.jpg")


if __name__ == "__main__":
    for part in (pngs, png_chunks, bmps, tiffs, webps, jpegs, pnms, others, cuts, *users.parts):
        part()
    print(sum(counts.values()), "pictures")
