/// Goes along the row of a column form from one record that is looked for to the next, and makes these again.
struct RowWalk {
    private let form: UnsafeRawBufferPointer
    private let recordCount: UInt32
    private let hits: [ColumnSearch.Hits]
    /// By step. Memory of its own, and not an array's: millions of steps are walked over in a look at a log.
    private let marks: UnsafeMutableBufferPointer<Mark>
    private var at: Int
    private let end: Int
    /// How many records were walked over.
    private var records: UInt32 = 0
    /// How many of the hits are still to come; nil where some have no places.
    private var left: Int?
    /// As far as records were made of them: a step's values in front of a record are passed over when it is made.
    private var columns: [ColumnStep]
    private let numbers: [ColumnNumbers]
    private var made: [Int32]

    private struct Mark {
        /// How often the row came to the step.
        var count: Int32 = 0
        /// At which count there is the next hit, and the number of that hit.
        var upcoming: Int32
        var hit: Int32 = 0
        var isEnd: Bool
        var isHitFirst: Bool
    }

    /// ``finish()`` has to be called.
    init(
        _ form: UnsafeRawBufferPointer, _ row: Range<Int>, _ steps: [ColumnStep],
        _ numbers: [ColumnNumbers], _ hits: [ColumnSearch.Hits],
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

    /// The next record that is looked for: its place in the block, and in the row. Nil where there is none, and where the
    /// row is not sound.
    mutating func next() -> (place: UInt32, part: Range<Int>)? {
        guard left != 0 else { return nil }
        var at = self.at
        var start = at
        var wasEnd = true
        while let number = stepNumber(&at) {
            let mark = marks[number]
            // Where records end is not to be foretold, so that a branch for it would cost more than all of the rest.
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

    /// Goes on from the step that made a record one that is looked for to its end.
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

    /// Makes the record that was found last. Where its payload is in the target; nil where something does not hold.
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
