/// A step of a column form, with the read position in its column.
struct ColumnStep: Sendable {
    private(set) var ending = ColumnForm.Ending.end
    /// The byte count of a fixed value.
    private(set) var size = 0
    private(set) var literal = 0..<0
    /// The read position in the column, and the column's end.
    private(set) var at = 0
    private(set) var end = 0
    /// The factor of the differences. 0: the numbers are plain.
    private var factor: UInt64 = 0
    private var isFirst = true
    private var number: UInt64 = 0

    /// Parses the steps and locates their columns.
    ///
    /// - Returns: The range of the row, or nil if the bytes are not a column form.
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

    /// Parses the mode of a column of numbers.
    private mutating func readMode(_ form: UnsafeRawBufferPointer) -> Bool {
        guard at < end, let mode = ColumnForm.NumberMode(rawValue: form[at]) else { return false }
        at += 1
        guard mode == .differences else { return true }
        guard let factor = LEB128.read(form, at: &at, end: end), factor > 0 else { return false }
        self.factor = factor
        return true
    }

    /// Writes the literal and the next value.
    ///
    /// - Returns: Whether the record ends with this step, or nil if the form is invalid.
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

    /// Returns the next number, or nil after the last one.
    @inline(__always)
    mutating func nextNumber(_ form: UnsafeRawBufferPointer) -> UInt64? {
        guard let read = LEB128.read(form, at: &at, end: end) else { return nil }
        guard factor > 0 else { return read }
        let difference = Self.difference(read)
        number = number &+ (isFirst ? difference : difference &* factor)
        isFirst = false
        return number
    }

    /// Calls `body` with each remaining number, in order.
    @inline(__always)
    func forEachNumber(_ form: UnsafeRawBufferPointer, _ body: (UInt64) -> Void) {
        // A local copy is faster than the member, and searches read millions of numbers.
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

    /// Returns the range of the next value, or nil after the last one. Must not be called for numbers.
    ///
    /// The range has the bytes as they occur in the record. The length that precedes a rest is excluded.
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

    /// Skips `count` values. Returns false if there are fewer.
    mutating func skip(_ count: Int, _ form: UnsafeRawBufferPointer) -> Bool {
        switch ending {
        case .end: break
        case .number:
            // A local copy is not written back after each number.
            var step = self
            for _ in 0..<count { guard step.nextNumber(form) != nil else { return false } }
            self = step
        case .text, .rest, .fixed: for _ in 0..<count { guard nextBytes(form) != nil else { return false } }
        }
        return true
    }
}
