/// Makes a block's raw bytes of its column form again. Costs no more memory than the raw length and the form itself,
/// whatever the bytes say.
package struct ColumnDecoder {
    package init() {}

    fileprivate struct Step {
        var ending = ColumnForm.Ending.end
        var size = 0
        var literal = 0..<0
        /// Where the column goes on, and where it ends.
        var at = 0
        var end = 0
        /// 0: the numbers are plain.
        var factor: UInt64 = 0
        var isFirst = true
        var number: UInt64 = 0
    }

    private var steps: [Step] = []

    /// Nil where the form does not give exactly so many records and bytes.
    package mutating func decode(_ form: [UInt8], recordCount: UInt32, rawLength: Int) -> [UInt8]? {
        form.withUnsafeBytes { form in
            var offset = 0
            guard let row = table(form, &offset) else { return nil }
            var isSound = false
            // A record's length is not known before its end, so a record may for a while stand a little too far to the right.
            let raw = [UInt8](unsafeUninitializedCapacity: rawLength + RecordCoding.maximumLengthBytes) {
                target, count in
                let end = records(form, row, recordCount, UnsafeMutableRawBufferPointer(target))
                isSound = end == rawLength
                count = isSound ? rawLength : 0
            }
            return isSound ? raw : nil
        }
    }

    /// Reads the steps and finds their columns. The place of the row, or nil.
    private mutating func table(_ form: UnsafeRawBufferPointer, _ offset: inout Int) -> Range<Int>? {
        func number() -> Int? {
            guard let value = LEB128.read(form, at: &offset, end: form.count) else { return nil }
            return Int(exactly: value)
        }
        func place() -> Range<Int>? {
            guard let length = number(), length <= form.count - offset else { return nil }
            defer { offset += length }
            return offset..<offset + length
        }
        steps.removeAll(keepingCapacity: true)
        guard let count = number(), count <= ColumnForm.maximumSteps else { return nil }
        for _ in 0..<count {
            var step = Step()
            guard offset < form.count, let ending = ColumnForm.Ending(rawValue: form[offset]) else { return nil }
            offset += 1
            step.ending = ending
            if ending == .fixed {
                guard let size = number(), size > 0 else { return nil }
                step.size = size
            }
            guard let literal = place() else { return nil }
            step.literal = literal
            steps.append(step)
        }
        guard let row = place() else { return nil }
        for index in steps.indices where steps[index].ending != .end {
            guard let column = place() else { return nil }
            steps[index].at = column.lowerBound
            steps[index].end = column.upperBound
            guard steps[index].ending != .number || steps[index].readMode(form) else { return nil }
        }
        return offset == form.count ? row : nil
    }

    /// Where the records end in the target; nil where something does not hold.
    private mutating func records(
        _ form: UnsafeRawBufferPointer, _ row: Range<Int>, _ recordCount: UInt32,
        _ target: UnsafeMutableRawBufferPointer
    ) -> Int? {
        var next = row.lowerBound
        var writer = Writer(target: target)
        for _ in 0..<recordCount {
            writer.beginRecord()
            while true {
                guard let number = LEB128.read(form, at: &next, end: row.upperBound), number < UInt64(steps.count)
                else {
                    return nil
                }
                guard let isAtEnd = steps[Int(number)].write(form, &writer) else { return nil }
                if isAtEnd { break }
            }
            guard writer.endRecord() else { return nil }
        }
        return next == row.upperBound ? writer.at : nil
    }
}

extension ColumnDecoder.Step {
    /// Reads the head of a column of numbers.
    fileprivate mutating func readMode(_ form: UnsafeRawBufferPointer) -> Bool {
        guard at < end, let mode = ColumnForm.NumberMode(rawValue: form[at]) else { return false }
        at += 1
        guard mode == .differences else { return true }
        guard let factor = LEB128.read(form, at: &at, end: end), factor > 0 else { return false }
        self.factor = factor
        return true
    }

    /// Writes the literal and the next value. Whether the record is at its end; nil where something does not hold.
    @inline(__always)
    fileprivate mutating func write(_ form: UnsafeRawBufferPointer, _ writer: inout ColumnDecoder.Writer) -> Bool? {
        guard writer.copy(form, literal) else { return nil }
        switch ending {
        case .end: return true
        case .number:
            guard let value = nextNumber(form), writer.write(value) else { return nil }
            return false
        case .text, .rest:
            let start = at
            guard let length = LEB128.read(form, at: &at, end: end), length <= UInt64(end - at) else { return nil }
            let bytes = at..<at + Int(length)
            at = bytes.upperBound
            let isText = ending == .text
            guard writer.copy(form, isText ? start..<at : bytes) else { return nil }
            return !isText
        case .fixed:
            guard size <= end - at else { return nil }
            at += size
            return writer.copy(form, at - size..<at) ? false : nil
        }
    }

    @inline(__always)
    private mutating func nextNumber(_ form: UnsafeRawBufferPointer) -> UInt64? {
        guard let read = LEB128.read(form, at: &at, end: end) else { return nil }
        guard factor > 0 else { return read }
        let difference = (read >> 1) ^ (0 &- (read & 1))
        number = number &+ (isFirst ? difference : difference &* factor)
        isFirst = false
        return number
    }
}

extension ColumnDecoder {
    /// Raw bytes as they come. What does not fit the target is refused.
    fileprivate struct Writer {
        let target: UnsafeMutableRawBufferPointer
        /// Behind the last byte.
        private(set) var at = 0
        private var record = 0
        /// How many bytes the last record's length took: the next one's will mostly take as many.
        private var lengthBytes = 1

        init(target: UnsafeMutableRawBufferPointer) { self.target = target }

        /// A record's first byte is its kind, the length goes behind it when it is known. Until then the kind stands so
        /// far to the right that the payload behind it need not be moved if the length takes as many bytes as the last.
        mutating func beginRecord() {
            record = at
            at += lengthBytes
        }

        mutating func endRecord() -> Bool {
            let length = at - record - 1 - lengthBytes
            guard length >= 0, length <= LogFormat.maximumPayload, let start = target.baseAddress else { return false }
            let needed = LEB128.size(UInt64(length))
            guard record + 1 + needed + length <= target.count else { return false }
            let kind = target[record + lengthBytes]
            if needed != lengthBytes {
                (start + record + 1 + needed).copyMemory(from: start + record + 1 + lengthBytes, byteCount: length)
                lengthBytes = needed
            }
            target[record] = kind
            var rest = length
            for index in 1...needed {
                target[record + index] = UInt8(rest & 0x7F) | (index < needed ? 0x80 : 0)
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
            (start + at).copyMemory(from: source + range.lowerBound, byteCount: range.count)
            at += range.count
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
}
