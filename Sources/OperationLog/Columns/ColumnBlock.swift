/// The records of a block in column form, for searches that need few of many records.
///
/// A search decodes only the records that match. The form takes less memory than the records, and a search takes a
/// fraction of the time of decoding them all.
package struct ColumnBlock: Sendable {
    private let firstSequence: UInt64
    private let recordCount: UInt32
    /// The length of the raw bytes that the form decodes to.
    private let rawLength: Int
    private let form: [UInt8]
    private let steps: [ColumnStep]
    /// The parsed number columns, indexed by step.
    private let numbers: [ColumnNumbers]
    private let row: Range<Int>

    /// The memory that the block occupies, in bytes.
    package var byteCount: Int {
        form.count + steps.count * MemoryLayout<ColumnStep>.stride + numbers.reduce(0) { $0 + $1.byteCount }
    }

    /// The sequence number after the block's last record.
    package var nextSequence: UInt64 { firstSequence + UInt64(recordCount) }

    /// Creates a column block, or returns nil if the bytes are not a column form.
    ///
    /// The initializer does not validate the row and the columns. Errors in them are detected when they are read.
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

    /// Calls `body` for each record that matches the search, in order, and possibly for records that do not match.
    ///
    /// Stops early if the form is invalid. Only a faulty writer can cause that, because the block's checksums were
    /// verified.
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
