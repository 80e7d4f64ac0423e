"""Writes the files that the cases need, byte by byte: protobuf messages, PNG images, LMDB and LevelDB databases."""
import struct
import zipfile
import zlib


def varint(n):
    out = b''
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def field(number, value):
    """A field of a message: an int as a varint, anything else with its length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def floats(values):
    return struct.pack('<%df' % len(values), *values)


def blob(shape, values, form='packed'):
    """A BlobProto in one of the forms that versions of Caffe wrote."""
    if form == 'legacy':  # num, channels, height, width
        dims = b''.join(field(i + 1, d) for i, d in enumerate([1] * (4 - len(shape)) + list(shape)))
        return dims + field(5, floats(values))
    head = field(7, field(1, b''.join(map(varint, shape))))
    if form == 'unpacked':
        return head + b''.join(varint(5 << 3 | 5) + floats([v]) for v in values)
    if form == 'double':
        return head + field(8, struct.pack('<%dd' % len(values), *values))
    return head + field(5, floats(values))


def net(layers, form='packed'):
    """A NetParameter of (name, type, blobs); a blob is (shape, values). Form v1 has layers as Caffe had them before types were words."""
    if form == 'v1':
        return b''.join(field(2, field(4, name) + field(5, {'InnerProduct': 14}[kind]) + b''.join(field(6, blob(*b, 'legacy')) for b in blobs))
                        for name, kind, blobs in layers)
    return b''.join(field(100, field(1, name) + field(2, kind) + b''.join(field(7, blob(*b, form)) for b in blobs))
                    for name, kind, blobs in layers)


def state(iteration, step, model, history):
    return field(1, iteration) + field(2, model) + b''.join(field(3, blob(*b)) for b in history) + field(4, step)


def datum(shape, values=None, label=None, encoded=None, as_floats=False):
    """A Datum of channels, height and width."""
    out = b'' if encoded else b''.join(field(i + 1, d) for i, d in enumerate(shape))
    if encoded:
        out += field(4, encoded)
    elif as_floats:
        out += b''.join(varint(6 << 3 | 5) + floats([v]) for v in values)
    else:
        out += field(4, bytes(values))
    if label is not None:
        out += field(5, label)
    return out + (field(7, 1) if encoded else b'')


def png(height, width, channels, values):
    """values lie row by row, the channels of a pixel together: red, green, blue."""
    def chunk(kind, data):
        return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
    rows = b''.join(b'\0' + bytes(values[y * width * channels:(y + 1) * width * channels]) for y in range(height))
    head = struct.pack('>IIBBBBB', width, height, 8, {1: 0, 3: 2}[channels], 0, 0, 0)
    return b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', head) + chunk(b'IDAT', zlib.compress(rows, 0)) + chunk(b'IEND', b'')


FILES = {}


def put(path, data):
    """Keeps a file for the archive; the last one of a path counts."""
    FILES[path] = data if isinstance(data, bytes) else data.encode()


def archive(path):
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED) as z:
        for name in sorted(FILES):
            z.writestr(zipfile.ZipInfo(name), FILES[name], zipfile.ZIP_DEFLATED, 9)


PAGE = 4096


def lmdb(path, records):
    """Two meta pages and one leaf, behind which values stand that are too long for it (lmdb's mdb.c, version 0.9)."""
    nodes, long_values, page = [], [], 3
    for key, value in sorted(records):
        if len(key) + len(value) + 8 > (PAGE - 16) // 2 - 2:
            count = (16 + len(value) + PAGE - 1) // PAGE
            head = struct.pack('<QHHI', page, 0, 4, count)  # P_OVERFLOW
            long_values.append((head + value).ljust(count * PAGE, b'\0'))
            node = struct.pack('<IHH', len(value), 1, len(key)) + key + struct.pack('<Q', page)  # F_BIGDATA
            page += count
        else:
            node = struct.pack('<IHH', len(value), 0, len(key)) + key + value
        nodes.append(node + b'\0' * (len(node) % 2))
    leaf, upper, offsets = bytearray(PAGE), PAGE, b''
    for node in nodes:
        upper -= len(node)
        leaf[upper:upper + len(node)] = node
        offsets += struct.pack('<H', upper)
    assert 16 + len(offsets) <= upper
    leaf[:16 + len(offsets)] = struct.pack('<QHHHH', 2, 0, 2, 16 + len(offsets), upper) + offsets  # P_LEAF

    def meta(number, transaction, main):
        free = struct.pack('<IHHQQQQQ', PAGE, 0, 0, 0, 0, 0, 0, 2**64 - 1)
        return (struct.pack('<QHHHH', number, 0, 8, 0, 0) + struct.pack('<IIQQ', 0xBEEFC0DE, 1, 0, 1 << 20) + free + main +
                struct.pack('<QQ', page - 1 if transaction else 1, transaction)).ljust(PAGE, b'\0')
    empty = struct.pack('<IHHQQQQQ', 0, 0, 0, 0, 0, 0, 0, 2**64 - 1)
    main = struct.pack('<IHHQQQQQ', 0, 0, 1, 0, 1, sum(len(v) // PAGE for v in long_values), len(records), 2)
    put(path + '/data.mdb', meta(0, 0, empty) + meta(1, 1, main) + bytes(leaf) + b''.join(long_values))


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def log_record(data):
    """A whole record of LevelDB's log format, whose first block it must fit."""
    crc = crc32c(b'\1' + data)
    masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
    assert len(data) + 7 <= 32768
    return struct.pack('<IHB', masked, len(data), 1) + data


def leveldb(path, records):
    """A database that was never closed: all records are in its journal."""
    batch = struct.pack('<QI', 1, len(records))
    for key, value in records:
        batch += b'\1' + varint(len(key)) + key + varint(len(value)) + value
    edit = field(1, 'leveldb.BytewiseComparator')[1:]
    manifest = varint(1) + edit + varint(2) + varint(3) + varint(3) + varint(4) + varint(4) + varint(0)
    put(path + '/CURRENT', 'MANIFEST-000002\n')
    put(path + '/MANIFEST-000002', log_record(manifest))
    put(path + '/000003.log', log_record(batch))
