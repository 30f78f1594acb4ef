/// A step of a block's column form, and how far its column was read.
struct ColumnStep: Sendable {
    private(set) var ending = ColumnForm.Ending.end
    /// Of a fixed value.
    private(set) var size = 0
    private(set) var literal = 0..<0
    /// Where the column goes on, and where it ends.
    private(set) var at = 0
    private(set) var end = 0
    /// 0: the numbers are plain.
    private var factor: UInt64 = 0
    private var isFirst = true
    private var number: UInt64 = 0

    /// Reads the steps and finds their columns. The place of the row, or nil where it is no column form.
    static func read(_ form: UnsafeRawBufferPointer, into steps: inout [ColumnStep]) -> Range<Int>? {
        var offset = 0
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
            var step = ColumnStep()
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

    /// Reads the head of a column of numbers.
    private mutating func readMode(_ form: UnsafeRawBufferPointer) -> Bool {
        guard at < end, let mode = ColumnForm.NumberMode(rawValue: form[at]) else { return false }
        at += 1
        guard mode == .differences else { return true }
        guard let factor = LEB128.read(form, at: &at, end: end), factor > 0 else { return false }
        self.factor = factor
        return true
    }

    /// Writes the literal and the next value. Whether the record is at its end; nil where something does not hold.
    @inline(__always)
    mutating func write(_ form: UnsafeRawBufferPointer, _ writer: inout RecordWriter) -> Bool? {
        guard writer.copy(form, literal) else { return nil }
        switch ending {
        case .end: return true
        case .number:
            guard let value = nextNumber(form), writer.write(value) else { return nil }
            return false
        case .text, .fixed, .rest:
            guard let bytes = nextBytes(form), writer.copy(form, bytes) else { return nil }
            return ending == .rest
        }
    }

    /// Nil behind the last one.
    @inline(__always)
    mutating func nextNumber(_ form: UnsafeRawBufferPointer) -> UInt64? {
        guard let read = LEB128.read(form, at: &at, end: end) else { return nil }
        guard factor > 0 else { return read }
        let difference = Self.difference(read)
        number = number &+ (isFirst ? difference : difference &* factor)
        isFirst = false
        return number
    }

    /// Calls with each number that is left, in order.
    @inline(__always)
    func forEachNumber(_ form: UnsafeRawBufferPointer, _ body: (UInt64) -> Void) {
        // Of its own, as that of the members is not: numbers are looked at by millions.
        var at = at
        guard factor > 0, var number = LEB128.read(form, at: &at, end: end) else {
            while let number = LEB128.read(form, at: &at, end: end) { body(number) }
            return
        }
        number = isFirst ? Self.difference(number) : self.number &+ Self.difference(number) &* factor
        body(number)
        while let read = LEB128.read(form, at: &at, end: end) {
            number = number &+ Self.difference(read) &* factor
            body(number)
        }
    }

    @inline(__always)
    private static func difference(_ zigzag: UInt64) -> UInt64 { (zigzag >> 1) ^ (0 &- (zigzag & 1)) }

    /// The next value as a record has it, without the length in front of a rest; nil behind the last one. Not for numbers.
    @inline(__always)
    mutating func nextBytes(_ form: UnsafeRawBufferPointer) -> Range<Int>? {
        let start = at
        switch ending {
        case .end, .number: return nil
        case .fixed:
            guard size <= end - at else { return nil }
            at += size
            return start..<at
        case .text, .rest:
            guard let length = LEB128.read(form, at: &at, end: end), length <= UInt64(end - at) else { return nil }
            let bytes = at..<at + Int(length)
            at = bytes.upperBound
            return ending == .text ? start..<at : bytes
        }
    }

    /// Passes over so many values; false where there are fewer.
    mutating func skip(_ count: Int, _ form: UnsafeRawBufferPointer) -> Bool {
        switch ending {
        case .end: break
        case .number:
            // By a copy, which is not written back for each number.
            var step = self
            for _ in 0..<count { guard step.nextNumber(form) != nil else { return false } }
            self = step
        case .text, .rest, .fixed: for _ in 0..<count { guard nextBytes(form) != nil else { return false } }
        }
        return true
    }
}
