/// Iterates over the matching records in the row of a column form, and decodes only these.
struct RowWalk {
    private let form: UnsafeRawBufferPointer
    private let recordCount: UInt32
    private let hits: [ColumnSearch.MatchingPositions]
    /// The state of each step. Manually allocated memory instead of an array, because a search walks over millions of
    /// steps.
    private let marks: UnsafeMutableBufferPointer<Mark>
    private var at: Int
    private let end: Int
    /// The number of records passed so far.
    private var records: UInt32 = 0
    /// The number of remaining hits, or nil if some hits have no positions.
    private var left: Int?
    /// The columns, read up to the last decoded record. Decoding a record first skips the values before it.
    private var columns: [ColumnStep]
    private let numbers: [ColumnNumbers]
    private var made: [Int32]

    private struct Mark {
        /// The number of occurrences of the step in the row so far.
        var count: Int32 = 0
        /// The occurrence that is the next hit, and the index of that hit.
        var upcoming: Int32
        var hit: Int32 = 0
        var isEnd: Bool
        var isHitFirst: Bool
    }

    /// Creates a walk. The caller must call ``finish()``.
    init(
        _ form: UnsafeRawBufferPointer, _ row: Range<Int>, _ steps: [ColumnStep],
        _ numbers: [ColumnNumbers], _ hits: [ColumnSearch.MatchingPositions],
        _ recordCount: UInt32
    ) {
        self.form = form
        self.recordCount = recordCount
        self.hits = hits
        at = row.lowerBound
        end = row.upperBound
        columns = steps
        self.numbers = numbers
        made = Array(repeating: 0, count: steps.count)
        let marks = zip(steps, hits).map { step, hits in
            Mark(
                upcoming: hits.areAll ? 0 : hits.places.first ?? .max,
                isEnd: step.ending == .end || step.ending == .rest, isHitFirst: hits.areAllFirst)
        }
        self.marks = .allocate(capacity: marks.count)
        _ = self.marks.initialize(from: marks)
        let areCounted = hits.allSatisfy { !$0.areAll && !$0.areAllFirst }
        left = areCounted ? hits.reduce(0) { $0 + $1.places.count } : nil
    }

    func finish() { marks.deallocate() }

    /// Returns the next matching record: its index in the block and its range in the row.
    ///
    /// Returns nil if there is no further match or if the row is invalid.
    mutating func next() -> (place: UInt32, part: Range<Int>)? {
        guard left != 0 else { return nil }
        var at = self.at
        var start = at
        var wasEnd = true
        while let number = stepNumber(&at) {
            let mark = marks[number]
            // The ends of records are unpredictable, so a branch for them would cost more than the rest of the loop.
            if mark.count == mark.upcoming || (wasEnd && mark.isHitFirst) {
                return found(from: start, stepBefore: at, number)
            }
            marks[number].count &+= 1
            wasEnd = mark.isEnd
            records &+= wasEnd ? 1 : 0
            start = wasEnd ? at : start
        }
        return nil
    }

    /// Continues from the step that made the record a match to the end of the record.
    private mutating func found(
        from start: Int, stepBefore: Int, _ number: Int
    ) -> (place: UInt32, part: Range<Int>)? {
        at = stepBefore
        var number = number
        while true {
            if marks[number].count == marks[number].upcoming { passHit(number) }
            marks[number].count &+= 1
            if marks[number].isEnd { break }
            guard let following = stepNumber(&at) else { return nil }
            number = following
        }
        guard records < recordCount else { return nil }
        records += 1
        return (records - 1, start..<at)
    }

    private mutating func passHit(_ number: Int) {
        if hits[number].areAll {
            marks[number].upcoming &+= 1
            return
        }
        marks[number].hit += 1
        let places = hits[number].places
        let hit = Int(marks[number].hit)
        marks[number].upcoming = hit < places.count ? places[hit] : .max
        left = left.map { $0 - 1 }
    }

    @inline(__always)
    private func stepNumber(_ at: inout Int) -> Int? {
        guard let number = LEB128.read(form, at: &at, end: end), number < UInt64(marks.count) else { return nil }
        return Int(number)
    }

    /// Decodes the record that was found last.
    ///
    /// - Returns: The range of its payload in the target, or nil if the form is invalid.
    mutating func makeRecord(_ part: Range<Int>, in target: UnsafeMutableRawBufferPointer) -> Range<Int>? {
        var at = part.lowerBound
        while at < part.upperBound, let number = stepNumber(&at) { marks[number].count -= 1 }
        at = part.lowerBound
        var writer = RecordWriter(target: target)
        writer.beginRecord()
        while at < part.upperBound, let number = stepNumber(&at) {
            let place = marks[number].count
            marks[number].count += 1
            if let known = numbers[number].number(at: Int(place)) {
                guard writer.copy(form, columns[number].literal), writer.write(known) else { return nil }
                continue
            }
            guard columns[number].skip(Int(place - made[number]), form), columns[number].write(form, &writer) != nil
            else { return nil }
            made[number] = place + 1
        }
        return writer.endRecord() ? writer.payload : nil
    }
}
