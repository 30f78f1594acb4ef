/// Records that are appended together and recovered all or none.
///
/// Records are stored in the form in which a block is compressed, so appending copies no record. A commit that is
/// reused after ``removeAll()`` keeps its memory.
package struct Commit: Sendable {
    /// The commit's blocks, uncompressed and consecutive. A record lies in one block.
    private(set) var raw: [UInt8] = []
    /// All blocks except the last.
    private(set) var fullBlocks: [Block] = []
    private var last = Block(start: 0, recordCount: 0)

    struct Block {
        /// The offset in ``Commit/raw``.
        let start: Int
        var recordCount: UInt32
    }

    package init() {}

    package var isEmpty: Bool { last.recordCount == 0 }

    package var recordCount: Int {
        fullBlocks.reduce(Int(last.recordCount)) { $0 + Int($1.recordCount) }
    }

    /// Adds a record.
    ///
    /// - Throws: ``LogError/recordTooLarge(bytes:maximum:)``. The commit is unchanged in that case.
    package mutating func add(kind: UInt8, payload: UnsafeRawBufferPointer) throws(LogError) {
        guard payload.count <= LogFormat.maximumPayload else {
            throw .recordTooLarge(bytes: payload.count, maximum: LogFormat.maximumPayload)
        }
        let size = RecordCoding.encodedSize(payload: payload.count)
        if last.recordCount > 0, raw.count - last.start + size > LogFormat.targetBlockRaw {
            fullBlocks.append(last)
            last = Block(start: raw.count, recordCount: 0)
        }
        RecordCoding.encode(kind: kind, payload: payload, into: &raw)
        last.recordCount += 1
    }

    /// Adds a record.
    ///
    /// - Throws: ``LogError/recordTooLarge(bytes:maximum:)``. The commit is unchanged in that case.
    package mutating func add(kind: UInt8, payload: [UInt8]) throws(LogError) {
        try withBytes(of: payload) { bytes throws(LogError) in try add(kind: kind, payload: bytes) }
    }

    /// Removes all records and keeps the memory for later ones.
    package mutating func removeAll() {
        raw.removeAll(keepingCapacity: true)
        fullBlocks.removeAll(keepingCapacity: true)
        last = Block(start: 0, recordCount: 0)
    }

    var blockCount: Int { fullBlocks.count + 1 }

    func block(_ index: Int) -> (raw: Range<Int>, recordCount: UInt32) {
        guard index < fullBlocks.count else { return (last.start..<raw.count, last.recordCount) }
        let end = index + 1 < fullBlocks.count ? fullBlocks[index + 1].start : last.start
        return (fullBlocks[index].start..<end, fullBlocks[index].recordCount)
    }
}

/// A variant of `withUnsafeBytes` with a typed error.
func withBytes<Value, Failure: Error>(
    of bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
) throws(Failure) -> Value {
    let outcome = bytes.withUnsafeBytes { buffer in
        do throws(Failure) { return Result<Value, Failure>.success(try body(buffer)) } catch { return .failure(error) }
    }
    return try outcome.get()
}
