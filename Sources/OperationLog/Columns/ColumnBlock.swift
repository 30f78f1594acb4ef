/// A block's records in their column form: for who looks for a few among very many, and has only these made again.
///
/// It takes less memory than the records, and a look at it a fraction of the time.
package struct ColumnBlock: Sendable {
    private let firstSequence: UInt64
    private let recordCount: UInt32
    /// That the records would have.
    private let rawLength: Int
    private let form: [UInt8]
    private let steps: [ColumnStep]
    /// By step.
    private let numbers: [ColumnNumbers]
    private let row: Range<Int>

    /// What it takes of memory.
    package var byteCount: Int {
        form.count + steps.count * MemoryLayout<ColumnStep>.stride + numbers.reduce(0) { $0 + $1.byteCount }
    }

    /// The sequence number behind the block's last record.
    package var nextSequence: UInt64 { firstSequence + UInt64(recordCount) }

    /// Nil where the bytes are no column form. Whether the row and the columns are sound shows only where they are read.
    package init?(_ form: [UInt8], firstSequence: UInt64, recordCount: UInt32, rawLength: Int) {
        var steps: [ColumnStep] = []
        guard let row = form.withUnsafeBytes({ ColumnStep.read($0, into: &steps) }) else { return nil }
        numbers = form.withUnsafeBytes { form in steps.map { ColumnNumbers($0, form) } }
        self.form = form
        self.steps = steps
        self.row = row
        self.firstSequence = firstSequence
        self.recordCount = recordCount
        self.rawLength = rawLength
    }

    /// Calls for each record that is looked for, in order, and for some others. Ends early where the form is not sound, which
    /// only a writer's mistake can bring about: the block's checksums held.
    package func forEachCandidate(
        of search: ColumnSearch, _ body: (_ sequence: UInt64, _ kind: UInt8, _ payload: UnsafeRawBufferPointer) -> Void
    ) {
        form.withUnsafeBytes { form in
            let hits = zip(steps, numbers).map { search.hits(of: $0, $1, in: form) }
            guard !hits.allSatisfy(\.isEmpty) else { return }
            var walk = RowWalk(form, row, steps, numbers, hits, recordCount)
            defer { walk.finish() }
            var scratch: UnsafeMutableRawBufferPointer?
            defer { scratch?.deallocate() }
            while let (place, part) = walk.next() {
                let target = scratch ?? .allocate(byteCount: rawLength + RecordCoding.maximumLengthBytes, alignment: 1)
                scratch = target
                guard let payload = walk.makeRecord(part, in: target) else { return }
                body(firstSequence + UInt64(place), target[0], UnsafeRawBufferPointer(rebasing: target[payload]))
            }
        }
    }
}
