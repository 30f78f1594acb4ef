/// The numbers of a step's column, parsed once and searched many times.
///
/// Parsing accounts for most of the cost of searching a block.
struct ColumnNumbers: Sendable {
    /// The range of the numbers, or nil if there are none.
    private let range: ClosedRange<UInt64>?
    /// All numbers, or an empty array if one exceeds 32 bits, as timestamps do.
    private let values: [UInt32]

    var byteCount: Int { MemoryLayout<Self>.stride + values.count * MemoryLayout<UInt32>.stride }

    init(_ step: ColumnStep, _ form: UnsafeRawBufferPointer) {
        guard step.ending == .number else {
            range = nil
            values = []
            return
        }
        var (least, most, count) = (UInt64.max, UInt64(0), 0)
        // A number takes at least one byte.
        let read = [UInt32](unsafeUninitializedCapacity: step.end - step.at) { target, initialized in
            step.forEachNumber(form) { number in
                least = min(least, number)
                most = max(most, number)
                target[count] = UInt32(truncatingIfNeeded: number)
                count += 1
            }
            initialized = count
        }
        range = count > 0 ? least...most : nil
        values = most <= UInt64(UInt32.max) ? read : []
    }

    /// Returns the number at an index, or nil if the column must be read again or has no such number.
    func number(at place: Int) -> UInt64? { values.indices.contains(place) ? UInt64(values[place]) : nil }

    /// Returns whether the column may contain one of the numbers.
    func mayHave(_ numbers: SearchedIdentifiers) -> Bool {
        guard let range, let first = numbers.all.first, let last = numbers.all.last else { return false }
        guard first <= range.upperBound, last >= range.lowerBound else { return false }
        return numbers.all.contains { range.contains($0) }
    }

    /// Calls `body` with the index of each match.
    ///
    /// - Returns: false if the numbers are not stored here and the column must be read again.
    func find(_ numbers: SearchedIdentifiers, _ body: (Int) -> Void) -> Bool {
        if numbers.all.count == 1 { return find(numbers.all[0], body) }
        guard !values.isEmpty else { return false }
        values.withUnsafeBufferPointer { values in
            for place in values.indices where numbers.contains(UInt64(values[place])) { body(place) }
        }
        return true
    }

    /// Calls `body` with the index of each occurrence of the number.
    ///
    /// - Returns: false if the numbers are not stored here and the column must be read again.
    func find(_ number: UInt64, _ body: (Int) -> Void) -> Bool {
        guard let range, range.contains(number) else { return true }
        guard !values.isEmpty, let number = UInt32(exactly: number) else { return false }
        values.withUnsafeBufferPointer { values in
            // In chunks, so that several numbers are compared at once.
            var start = 0
            while start < values.count {
                let end = min(start + 64, values.count)
                var found: UInt32 = 0
                for place in start..<end { found |= values[place] == number ? 1 : 0 }
                if found != 0 { for place in start..<end where values[place] == number { body(place) } }
                start = end
            }
        }
        return true
    }
}
