"""A reader of recordings written from src/record/FORMAT.md alone: it shares nothing with the one in C, and believes everything."""
import struct
import subprocess
import zlib

U64 = (1 << 64) - 1


def signed(value):
    value &= U64
    return value - (1 << 64) if value >> 63 else value


def unzigzag(value):
    return (value >> 1) ^ -(value & 1)


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def more(self):
        return self.at < len(self.data)

    def u8(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.u8()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def zigzag(self):
        return unzigzag(self.varint())

    def part(self):
        n = self.varint()
        self.at += n
        return Bytes(self.data[self.at - n:self.at])


class Bits:
    def __init__(self, data):
        self.bits = int.from_bytes(data, "little")

    def number(self, length):
        """Whose highest bit only its length tells."""
        n = max(length - 1, 0)
        value = self.bits & ((1 << n) - 1)
        self.bits >>= n
        return value | (1 << n if length else 0)


class Reader:
    """`samples`: (time since the start, weight, ticks, [function names from the leaf on])."""

    def __init__(self, path):
        self.strings, self.functions, self.frames, self.stacks, self.samples = [], [], [], [(None, None)], []
        self.threads, self.thread, self.highest, self.weight, self.share = {}, 0, 0, 0, 0
        with open(path, "rb") as file:
            data = file.read()
        assert data[:8] == b"\x89TACHY\r\n" and struct.unpack_from("<HHI", data, 8) == (2, 0, 0)
        at, number = 16, 0
        while at < len(data):
            magic, told, stored, full, tail, crc, zero, head_crc = struct.unpack_from("<4s7I", data, at)
            assert (magic, told, zero) == (b"TBLK", number, 0)
            assert head_crc == zlib.crc32(data[at:at + 28]) and crc == zlib.crc32(data[at + 32:at + 32 + stored + tail])
            body = data[at + 32:at + 32 + stored]
            if stored < full:
                body = subprocess.run(["zstd", "-dc"], input=body, stdout=subprocess.PIPE, check=True).stdout
            assert len(body) == full
            self.block(Bytes(body), Bits(data[at + 32 + stored:at + 32 + stored + tail]))
            at += 32 + stored + tail
            number += 1

    def block(self, body, tail):
        take = {1: self.start, 2: self.take_strings, 3: self.take_functions, 4: self.take_frames, 5: self.take_stacks,
                9: lambda part: self.take_samples(part, tail)}
        sections = []
        while body.more():
            sections.append(body.varint())
            part = body.part()
            if sections[-1] in take:
                take[sections[-1]](part)
                assert not part.more(), sections
        assert len(set(sections)) == len(sections), sections

    def start(self, part):
        part.part()
        rate, = struct.unpack_from("<d", part.data, part.at)
        part.at += 8
        part.varint(), part.varint()
        self.unit = part.varint()
        part.varint()
        self.start_ns = part.varint()
        self.tick = int(1e9 / rate / self.unit + 0.5) if rate else 0
        self.time = self.start_ns // self.unit
        self.grid = 16 * self.time

    def take_strings(self, part):
        self.strings += [part.part().data.decode() for _ in range(part.varint())]

    def take_functions(self, part):
        for _ in range(part.varint()):
            self.functions.append((self.strings[part.varint()], self.strings[part.varint()], part.zigzag(), part.varint()))

    def take_frames(self, part):
        function = 0
        for _ in range(part.varint()):
            function += part.zigzag()
            self.frames.append((function, [part.zigzag() for _ in range(4)], part.varint(), part.varint()))

    def take_stacks(self, part):
        n = part.varint()
        far, low, frames = part.part(), part.part(), part.part()
        for _ in range(n):
            how_far = far.varint()
            caller = (how_far - 1) << 8 | low.u8() if how_far else len(self.stacks) - 1
            self.stacks.append((caller, frames.varint()))
        assert not far.more() and not low.more() and not frames.more()

    def names(self, stack):
        names = []
        while stack:
            stack, frame = self.stacks[stack]
            names.append(self.functions[self.frames[frame][0]][0])
        return names

    def middle(self, time):
        if not self.tick:
            return 16 * time & U64
        n = signed(16 * time - self.grid + 8 * self.tick) // (16 * self.tick)
        return (self.grid + n * 16 * self.tick) & U64

    def take_samples(self, part, tail):
        n = part.varint()
        columns = [part.part() for _ in range(8)]
        for _ in range(n):
            self.sample(columns, tail)
        assert not any(column.more() for column in columns)

    def sample(self, columns, tail):
        self.thread += columns[0].zigzag()
        thread = self.threads.setdefault(self.thread, {"end": 0, "stack": 0, "states": 0})
        thread["states"] ^= columns[1].varint()
        ticks, weight_code, time_code, stack_code = (columns[2].varint(), columns[3].u8(), columns[4].u8(),
                                                     columns[5].varint())
        if stack_code == 1:
            thread["stack"] = self.highest - (columns[6].varint() << 8 | columns[7].u8())
        elif stack_code > 1:
            thread["stack"] = self.highest + stack_code - 1
        self.highest = max(self.highest, thread["stack"])
        self.tell_times(thread, ticks, weight_code, time_code, tail)
        self.samples.append((self.time * self.unit - self.start_ns, self.weight * self.unit, ticks,
                             self.names(thread["stack"])))

    def tell_times(self, thread, ticks, weight_code, time_code, tail):
        tick, end = self.tick or self.share, thread["end"]
        if time_code:
            expected = self.middle(end or self.time) // 16 + tick
            self.time = (expected + unzigzag(tail.number(time_code - 1))) & U64
        if weight_code:
            gap = (self.time - end) & U64
            if not end or gap > 8 * tick:
                gap = tick
            lead = self.middle(self.time) // 16 - self.time if ticks > 1 else 0
            self.weight = (gap + lead + (ticks - 1) * tick + unzigzag(tail.number(weight_code - 1))) & U64
        first = self.weight // ticks
        if end and (self.time - end) & U64 < self.weight:
            first = self.time - end
        thread["end"] = self.time + self.weight - first
        self.share = self.weight // ticks
        middle = self.middle(self.time)
        off = signed(16 * self.time - middle)
        if self.tick:
            self.grid = (middle + (off // 8 if off >= 0 else -(-off // 8))) & U64
