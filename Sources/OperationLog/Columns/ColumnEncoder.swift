/// Encodes a block's records in column form.
///
/// The encoder processes whole blocks and is not safe for concurrent use.
package struct ColumnEncoder {
    private let layout: RecordLayout
    private var steps: [Step] = []
    private var numbers: [StepKey: Int] = [:]
    private var row: [UInt8] = []
    private var fields: [RecordField] = []

    fileprivate struct StepKey: Hashable {
        let ending: ColumnForm.Ending
        let size: Int
        let literal: [UInt8]
    }

    fileprivate struct Step {
        let key: StepKey
        /// The step that followed last time. Most often it also follows next time.
        var successor = -1
        var values: [UInt64] = []
        var bytes: [UInt8] = []
    }

    package init(_ layout: RecordLayout) { self.layout = layout }

    /// Returns the block's column form, or nil if it is not shorter than the raw bytes.
    package mutating func encode(_ raw: [UInt8], recordCount: UInt32) -> [UInt8]? {
        steps.removeAll(keepingCapacity: true)
        numbers.removeAll(keepingCapacity: true)
        row.removeAll(keepingCapacity: true)
        var offset = 0
        var previous = -1
        for _ in 0..<recordCount {
            guard let record = RecordCoding.decode(raw, at: &offset) else { return nil }
            raw.withUnsafeBytes { all in
                add(record.kind, UnsafeRawBufferPointer(rebasing: all[record.payload]), previous: &previous)
            }
            if steps.count > ColumnForm.maximumSteps { return nil }
        }
        let columns = assembled()
        return columns.count < raw.count ? columns : nil
    }

    private mutating func add(_ kind: UInt8, _ payload: UnsafeRawBufferPointer, previous: inout Int) {
        fields.removeAll(keepingCapacity: true)
        layout.fields(kind, payload, &fields)
        guard !fields.isEmpty, areSound(payload) else {
            let number = step(.rest, 0, kind, UnsafeRawBufferPointer(rebasing: payload[..<0]), &previous)
            LEB128.append(UInt64(payload.count), to: &steps[number].bytes)
            steps[number].bytes.append(contentsOf: payload)
            return
        }
        var done = 0
        var first: UInt8? = kind
        for field in fields {
            let literal = UnsafeRawBufferPointer(rebasing: payload[done..<field.range.lowerBound])
            let value = UnsafeRawBufferPointer(rebasing: payload[field.range])
            switch field.form {
            case .number:
                let number = step(.number, 0, first, literal, &previous)
                var at = 0
                guard let read = LEB128.read(value, at: &at, end: value.count) else {
                    preconditionFailure("areSound has read it")
                }
                steps[number].values.append(read)
            case .text:
                let number = step(.text, 0, first, literal, &previous)
                steps[number].bytes.append(contentsOf: value)
            case .fixed:
                let number = step(.fixed, value.count, first, literal, &previous)
                steps[number].bytes.append(contentsOf: value)
            }
            first = nil
            done = field.range.upperBound
        }
        _ = step(.end, 0, nil, UnsafeRawBufferPointer(rebasing: payload[done...]), &previous)
    }

    /// Returns whether the fields reported by the layout match the payload. A record that does not match is stored
    /// whole.
    private func areSound(_ payload: UnsafeRawBufferPointer) -> Bool {
        var done = 0
        for field in fields {
            guard field.range.lowerBound >= done, !field.range.isEmpty, field.range.upperBound <= payload.count else {
                return false
            }
            done = field.range.upperBound
            if field.form == .fixed { continue }
            var at = field.range.lowerBound
            guard let number = LEB128.read(payload, at: &at, end: done) else { return false }
            guard field.form == .number ? at == done : number == UInt64(done - at) else { return false }
        }
        return true
    }

    /// Appends a step to the row, adding it to the table if it is new, and returns the step's number.
    private mutating func step(
        _ ending: ColumnForm.Ending, _ size: Int, _ kind: UInt8?, _ literal: UnsafeRawBufferPointer,
        _ previous: inout Int
    ) -> Int {
        let number: Int
        let guess = previous >= 0 ? steps[previous].successor : -1
        if guess >= 0, steps[guess].key.isEqual(ending, size, kind, literal) {
            number = guess
        } else {
            let key = StepKey(ending: ending, size: size, literal: (kind.map { [$0] } ?? []) + literal)
            if let known = numbers[key] {
                number = known
            } else {
                number = steps.count
                numbers[key] = number
                steps.append(Step(key: key))
            }
            if previous >= 0 { steps[previous].successor = number }
        }
        LEB128.append(UInt64(number), to: &row)
        previous = number
        return number
    }

    private func assembled() -> [UInt8] {
        var result: [UInt8] = []
        LEB128.append(UInt64(steps.count), to: &result)
        for step in steps {
            result.append(step.key.ending.rawValue)
            if step.key.ending == .fixed { LEB128.append(UInt64(step.key.size), to: &result) }
            LEB128.append(UInt64(step.key.literal.count), to: &result)
            result.append(contentsOf: step.key.literal)
        }
        LEB128.append(UInt64(row.count), to: &result)
        result.append(contentsOf: row)
        for step in steps where step.key.ending != .end {
            let column = step.key.ending == .number ? NumberColumn.encoded(step.values) : step.bytes
            LEB128.append(UInt64(column.count), to: &result)
            result.append(contentsOf: column)
        }
        return result
    }
}

extension ColumnEncoder.StepKey {
    fileprivate func isEqual(
        _ ending: ColumnForm.Ending, _ size: Int, _ kind: UInt8?, _ literal: UnsafeRawBufferPointer
    ) -> Bool {
        let front = kind == nil ? 0 : 1
        guard self.ending == ending, self.size == size, self.literal.count == literal.count + front else {
            return false
        }
        if let kind, self.literal[0] != kind { return false }
        return self.literal.withUnsafeBytes { UnsafeRawBufferPointer(rebasing: $0[front...]).elementsEqual(literal) }
    }
}

/// A column of numbers, stored as they are or as differences, whichever is shorter.
private enum NumberColumn {
    static func encoded(_ values: [UInt64]) -> [UInt8] {
        let differences = differences(values)
        let factor = differences.dropFirst().reduce(UInt64(0)) { greatestCommonDivisor($0, $1.magnitude) }
        let divisor = Int64(exactly: max(factor, 1)) ?? 1
        var size = LEB128.size(UInt64(divisor))
        for (index, difference) in differences.enumerated() {
            size += LEB128.size(zigzag(index == 0 ? difference : difference / divisor))
        }
        var result: [UInt8] = []
        if size < values.reduce(0, { $0 + LEB128.size($1) }) {
            result.append(ColumnForm.NumberMode.differences.rawValue)
            LEB128.append(UInt64(divisor), to: &result)
            for (index, difference) in differences.enumerated() {
                LEB128.append(zigzag(index == 0 ? difference : difference / divisor), to: &result)
            }
        } else {
            result.append(ColumnForm.NumberMode.plain.rawValue)
            for value in values { LEB128.append(value, to: &result) }
        }
        return result
    }

    /// Returns the differences modulo 2^64, so that every difference is representable and reversible.
    private static func differences(_ values: [UInt64]) -> [Int64] {
        var previous: UInt64 = 0
        return values.map { value in
            defer { previous = value }
            return Int64(bitPattern: value &- previous)
        }
    }

    private static func zigzag(_ value: Int64) -> UInt64 { UInt64(bitPattern: (value << 1) ^ (value >> 63)) }

    private static func greatestCommonDivisor(_ a: UInt64, _ b: UInt64) -> UInt64 {
        var (a, b) = (a, b)
        while b != 0 { (a, b) = (b, a % b) }
        return a
    }
}
