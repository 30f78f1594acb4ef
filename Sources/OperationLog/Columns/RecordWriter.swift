/// Writes records part by part in the log's framing. Rejects parts that exceed the target.
struct RecordWriter {
    let target: UnsafeMutableRawBufferPointer
    /// The offset after the last byte written.
    private(set) var at = 0
    private var record = 0
    /// The number of bytes of the last record's length. The next length usually has the same size.
    private var lengthBytes = 1

    /// The payload of the record that was ended last.
    var payload: Range<Int> { record + 1 + lengthBytes..<at }

    init(target: UnsafeMutableRawBufferPointer) { self.target = target }

    /// Begins a record, whose first byte is its kind.
    ///
    /// The length is inserted after the kind once it is known. Until then the kind is written as far to the right as
    /// the size of the last length, so that the payload need not be moved if the new length has the same size.
    mutating func beginRecord() {
        record = at
        at += lengthBytes
    }

    mutating func endRecord() -> Bool {
        let length = at - record - 1 - lengthBytes
        guard length >= 0, length <= LogFormat.maximumPayload, let start = target.baseAddress else { return false }
        let needed = LEB128.size(UInt64(length))
        guard record + 1 + needed + length <= target.count else { return false }
        let kind = start.load(fromByteOffset: record + lengthBytes, as: UInt8.self)
        if needed != lengthBytes {
            (start + record + 1 + needed).copyMemory(from: start + record + 1 + lengthBytes, byteCount: length)
            lengthBytes = needed
        }
        start.storeBytes(of: kind, toByteOffset: record, as: UInt8.self)
        var rest = length
        for index in 1...needed {
            let byte = UInt8(rest & 0x7F) | (index < needed ? 0x80 : 0)
            start.storeBytes(of: byte, toByteOffset: record + index, as: UInt8.self)
            rest >>= 7
        }
        at = record + 1 + needed + length
        return true
    }

    @inline(__always)
    mutating func copy(_ form: UnsafeRawBufferPointer, _ range: Range<Int>) -> Bool {
        guard at <= target.count, range.count <= target.count - at, let start = target.baseAddress,
            let source = form.baseAddress
        else {
            return false
        }
        let (from, to, count) = (source + range.lowerBound, start + at, range.count)
        // Most parts are a few bytes long, for which a function call costs more than the copy. Two overlapping copies
        // cover any such length.
        switch count {
        case 8...16:
            let last = from.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
            to.storeBytes(of: from.loadUnaligned(as: UInt64.self), as: UInt64.self)
            to.storeBytes(of: last, toByteOffset: count - 8, as: UInt64.self)
        case 4..<8:
            let last = from.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)
            to.storeBytes(of: from.loadUnaligned(as: UInt32.self), as: UInt32.self)
            to.storeBytes(of: last, toByteOffset: count - 4, as: UInt32.self)
        case 0..<4:
            for place in 0..<count {
                to.storeBytes(of: from.load(fromByteOffset: place, as: UInt8.self), toByteOffset: place, as: UInt8.self)
            }
        default: to.copyMemory(from: from, byteCount: count)
        }
        at += count
        return true
    }

    @inline(__always)
    mutating func write(_ value: UInt64) -> Bool {
        guard target.count - at >= LEB128.size(value), let start = target.baseAddress else {
            return false
        }
        var rest = value
        while rest >= 0x80 {
            start.storeBytes(of: UInt8(truncatingIfNeeded: rest) | 0x80, toByteOffset: at, as: UInt8.self)
            at += 1
            rest >>= 7
        }
        start.storeBytes(of: UInt8(truncatingIfNeeded: rest), toByteOffset: at, as: UInt8.self)
        at += 1
        return true
    }
}
