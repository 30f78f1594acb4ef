import Dispatch
import OperationLog
import Operations
import Synchronization

/// All blocks of a log at the time of its creation, decompressed on all cores, for repeated scans. Columnar records
/// stay columnar.
///
/// The decompressed blocks of a log of usual size are cached. A larger log is decompressed again for each scan.
struct LogBlocks {
    private let reader: LogReader
    /// The parts of the log, in order and without gaps.
    private let parts: [ClosedRange<SequenceNumber>]
    /// The cached blocks by part; nil if they exceed the limit.
    private let kept: [[SearchedBlock]]?

    /// The limit of the cache in bytes.
    static let keptLimit = 192 << 20
    /// The number of records in a part: small enough to keep all cores busy until the end, large enough to make the
    /// overhead negligible.
    private static let recordsOfPart: UInt64 = 40_000

    init(_ reader: LogReader, keptLimit: Int = Self.keptLimit) throws(LogError) {
        self.reader = reader
        let last = try reader.nextSequence() - 1
        let parts = try reader.parts(ofAbout: Self.recordsOfPart).compactMap { part in
            part.lowerBound > last ? nil : part.lowerBound...min(part.upperBound, last)
        }
        self.parts = parts
        let bytes = Atomic(0)
        let kept = try Self.map(parts) { part throws(LogError) -> [SearchedBlock] in
            var blocks: [SearchedBlock] = []
            let cursor = reader.records(from: part.lowerBound, through: part.upperBound)
            while bytes.load(ordering: .relaxed) <= keptLimit, let block = try cursor.nextBlock() {
                bytes.add(block.byteCount, ordering: .relaxed)
                blocks.append(block)
            }
            return bytes.load(ordering: .relaxed) <= keptLimit ? blocks : []
        }
        self.kept = bytes.load(ordering: .relaxed) <= keptLimit ? kept : nil
    }

    /// Scans all blocks. The blocks of one part are scanned in order, several parts concurrently.
    ///
    /// - Returns: The result of each part, in order.
    func map<Result: Sendable>(
        _ initial: Result, _ look: @Sendable (inout Result, SearchedBlock) -> Void
    ) throws(LogError) -> [Result] {
        if let kept {
            return try Self.map(kept) { blocks throws(LogError) in
                var result = initial
                for block in blocks { look(&result, block) }
                return result
            }
        }
        return try Self.map(parts) { part throws(LogError) in
            var result = initial
            let cursor = reader.records(from: part.lowerBound, through: part.upperBound)
            while let block = try cursor.nextBlock() { look(&result, block) }
            return result
        }
    }

    private static func map<Item: Sendable, Result: Sendable>(
        _ items: [Item], _ body: @Sendable (Item) throws(LogError) -> Result
    ) throws(LogError) -> [Result] {
        let results = Mutex<[Swift.Result<Result, LogError>?]>(Array(repeating: nil, count: items.count))
        DispatchQueue.concurrentPerform(iterations: items.count) { place in
            let result = Swift.Result { () throws(LogError) in try body(items[place]) }
            results.withLock { $0[place] = result }
        }
        var all: [Result] = []
        for result in results.withLock({ $0 }) {
            if let result { all.append(try result.get()) }
        }
        return all
    }
}
