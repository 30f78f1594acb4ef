/// The numbers of a step's column, read once to be looked through often: reading them is most of what a look at a block costs.
struct ColumnNumbers: Sendable {
    /// Nil where there are none.
    private let range: ClosedRange<UInt64>?
    /// All of them; empty where they do not fit, as times do not.
    private let values: [UInt32]

    var byteCount: Int { MemoryLayout<Self>.stride + values.count * MemoryLayout<UInt32>.stride }

    init(_ step: ColumnStep, _ form: UnsafeRawBufferPointer) {
        guard step.ending == .number else {
            range = nil
            values = []
            return
        }
        var (least, most, count) = (UInt64.max, UInt64(0), 0)
        // A number takes a byte at least.
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

    /// The number at the place; nil where it has to be read again, and where there is none.
    func number(at place: Int) -> UInt64? { values.indices.contains(place) ? UInt64(values[place]) : nil }

    /// Whether one of the numbers may be among them.
    func mayHave(_ numbers: IdentifierSet) -> Bool {
        guard let range, let first = numbers.all.first, let last = numbers.all.last else { return false }
        guard first <= range.upperBound, last >= range.lowerBound else { return false }
        return numbers.all.contains { range.contains($0) }
    }

    /// Calls with the place of each of the numbers; false where they have to be read again.
    func find(_ numbers: IdentifierSet, _ body: (Int) -> Void) -> Bool {
        guard !values.isEmpty else { return false }
        values.withUnsafeBufferPointer { values in
            if numbers.all.count == 1, let number = UInt32(exactly: numbers.all[0]) {
                Self.find(number, in: values, body)
            } else {
                for place in values.indices where numbers.contains(UInt64(values[place])) { body(place) }
            }
        }
        return true
    }

    /// By stretches, which are compared several numbers at once.
    private static func find(_ number: UInt32, in values: UnsafeBufferPointer<UInt32>, _ body: (Int) -> Void) {
        var start = 0
        while start < values.count {
            let end = min(start + 64, values.count)
            var found: UInt32 = 0
            for place in start..<end { found |= values[place] == number ? 1 : 0 }
            if found != 0 { for place in start..<end where values[place] == number { body(place) } }
            start = end
        }
    }
}
