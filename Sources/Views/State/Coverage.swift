import Operations
import SyncCore

/// The coverage: the entities that each defining query has delivered, with the download run. Stored as one bitmap for
/// each query, run and 4,096 consecutive entity IDs.
///
/// Chunks in use are cached. ``flush()`` writes the changed ones, and has to be called before each commit. Not
/// `Sendable`: it belongs to the state's connection.
final class Coverage {
    private struct ChunkKey: Hashable {
        let query: String
        let chunk: UInt64
    }

    /// The bitmaps of one place, by run. At most one of them contains a given entity.
    private final class Chunk {
        let place: ChunkKey
        var runs: [(run: SequenceNumber, bits: EntityBits)]
        var isChanged = false

        init(_ place: ChunkKey, _ runs: [(run: SequenceNumber, bits: EntityBits)]) {
            self.place = place
            self.runs = runs
        }
    }

    private let connection: Connection
    private var chunks: [ChunkKey: Chunk] = [:]
    /// The chunk that was used last, because consecutive calls usually concern the same chunk.
    private var last: Chunk?
    /// Whether a cached chunk has changes that are not written yet.
    private var isChanged = false
    /// The maximum number of cached chunks, each of about half a kilobyte.
    private static let limit = 2_048

    private let read = Statement("SELECT run, entities FROM coverage WHERE query = ? AND chunk = ?")
    private let clear = Statement("DELETE FROM coverage WHERE query = ? AND chunk = ?")
    private let insert = Statement("INSERT INTO coverage VALUES (?, ?, ?, ?)")
    private let find = Statement("SELECT 1 FROM coverage WHERE query = ? LIMIT 1")
    private let before = Statement(
        "SELECT chunk, entities FROM coverage INDEXED BY coverage_by_run WHERE query = ? AND run < ? ORDER BY chunk")
    private let removeBefore = Statement("DELETE FROM coverage WHERE query = ? AND run < ?")
    private let everything = Statement("SELECT query, chunk, run, entities FROM coverage ORDER BY query, chunk")

    init(_ connection: Connection) { self.connection = connection }

    func cover(_ id: EntityID, query: String, run: SequenceNumber) throws(SQLiteError) {
        let chunk = try chunk(of: id, query)
        var isThere = false
        for index in chunk.runs.indices {
            if chunk.runs[index].run == run {
                if chunk.runs[index].bits.insert(id) { markChanged(chunk) }
                isThere = true
            } else if chunk.runs[index].bits.remove(id) {
                markChanged(chunk)
            }
        }
        if !isThere {
            var bits = EntityBits()
            bits.insert(id)
            chunk.runs.append((run, bits))
            markChanged(chunk)
        }
        try written()
    }

    func uncover(_ id: EntityID, query: String) throws(SQLiteError) {
        let chunk = try chunk(of: id, query)
        for index in chunk.runs.indices where chunk.runs[index].bits.remove(id) { markChanged(chunk) }
        try written()
    }

    func covers(_ id: EntityID, query: String) throws(SQLiteError) -> Bool {
        try chunk(of: id, query).runs.contains { $0.bits.contains(id) }
    }

    /// Returns the run that delivered the entity, which is 0 if it was created here; nil if the query does not cover
    /// it.
    func run(of id: EntityID, query: String) throws(SQLiteError) -> SequenceNumber? {
        try chunk(of: id, query).runs.first { $0.bits.contains(id) }?.run
    }

    /// Returns whether the query covers any entity.
    func hasEntities(query: String) throws(SQLiteError) -> Bool {
        try flush()
        return try connection.firstInteger(find) { $0.text(query) } != nil
    }

    /// Removes the query's coverage by runs before `run`.
    ///
    /// - Returns: The entities that these runs covered, in ascending order.
    func drainUncovered(query: String, before run: SequenceNumber) throws(SQLiteError) -> [EntityID] {
        try flush()
        forgetChunks()
        // The highest number stands for all runs; it is clamped because SQLite's integers are signed.
        let bind: (inout Binding) -> Void = { binding in
            binding.text(query)
            binding.integer(Int64(clamping: run))
        }
        var found: [EntityID] = []
        var isInOrder = true
        try connection.eachRow(before, bind) { row in
            let start = found.count
            EntityBits(row.blob(1)).forEach(in: UInt64(bitPattern: row.integer(0))) { found.append($0) }
            if start > 0, start < found.count, found[start] < found[start - 1] { isInOrder = false }
        }
        guard !found.isEmpty else { return [] }
        try connection.run(removeBefore, bind)
        return isInOrder ? found : found.sorted()
    }

    /// Calls `body` with every covered entity, by query and entity.
    func forEach(_ body: (_ query: String, _ id: EntityID, _ run: SequenceNumber) throws -> Void) throws {
        try flush()
        var query = ""
        var chunk: UInt64 = 0
        var entities: [(id: EntityID, run: SequenceNumber)] = []
        func emit() throws {
            for entity in entities.sorted(by: { $0.id < $1.id }) { try body(query, entity.id, entity.run) }
            entities.removeAll(keepingCapacity: true)
        }
        try connection.each(everything, { _ in }) { row in
            let place = (row.text(0) ?? "", UInt64(bitPattern: row.integer(1)))
            if place != (query, chunk) { try emit() }
            (query, chunk) = place
            let run = UInt64(bitPattern: row.integer(2))
            EntityBits(row.blob(3)).forEach(in: chunk) { entities.append(($0, run)) }
        }
        try emit()
    }

    // MARK: Chunks

    private func chunk(of id: EntityID, _ query: String) throws(SQLiteError) -> Chunk {
        let number = EntityBits.chunk(of: id)
        if let last, last.place.chunk == number, last.place.query == query { return last }
        let place = ChunkKey(query: query, chunk: number)
        let chunk = if let known = chunks[place] { known } else { try stored(place) }
        last = chunk
        return chunk
    }

    private func stored(_ place: ChunkKey) throws(SQLiteError) -> Chunk {
        if chunks.count >= Self.limit {
            try flush()
            forgetChunks()
        }
        var runs: [(run: SequenceNumber, bits: EntityBits)] = []
        try connection.eachRow(read, { $0.place(place.query, place.chunk) }) { row in
            runs.append((UInt64(bitPattern: row.integer(0)), EntityBits(row.blob(1))))
        }
        let chunk = Chunk(place, runs)
        chunks[place] = chunk
        return chunk
    }

    private func markChanged(_ chunk: Chunk) {
        chunk.isChanged = true
        isChanged = true
    }

    /// Writes a change at once outside a transaction.
    private func written() throws(SQLiteError) { if isChanged, !connection.isInTransaction { try flush() } }

    /// Writes the changed chunks.
    func flush() throws(SQLiteError) {
        guard isChanged else { return }
        for (place, chunk) in chunks where chunk.isChanged {
            try connection.run(clear) { $0.place(place.query, place.chunk) }
            chunk.runs.removeAll { $0.bits.isEmpty }
            for (run, bits) in chunk.runs {
                try connection.run(insert) { binding in
                    binding.place(place.query, place.chunk)
                    binding.integer(Int64(bitPattern: run))
                    binding.blob(bits.bytes)
                }
            }
            chunk.isChanged = false
        }
        isChanged = false
    }

    /// Discards the cached chunks after a rollback.
    func invalidate() {
        forgetChunks()
        isChanged = false
    }

    private func forgetChunks() {
        chunks = [:]
        last = nil
    }
}

extension Binding {
    fileprivate mutating func place(_ query: String, _ chunk: UInt64) {
        text(query)
        integer(Int64(bitPattern: chunk))
    }
}

/// A bitmap of the entities in a chunk, whose IDs differ only in the last twelve bits.
struct EntityBits {
    private static let width: UInt64 = 12
    private var words: [UInt64]

    init() { words = Array(repeating: 0, count: Self.wordCount) }

    /// Creates a bitmap from bytes in the format of ``bytes``. Ignores excess bytes.
    init(_ bytes: [UInt8]) {
        self.init()
        for (index, byte) in bytes.prefix(Self.wordCount * 8).enumerated() {
            words[index / 8] |= UInt64(byte) << UInt64(index % 8 * 8)
        }
    }

    private static var wordCount: Int { (1 << Int(width)) / 64 }

    /// The bits, little-endian, without trailing zero bytes.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(words.count * 8)
        for word in words { for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift * 8))) } }
        while bytes.last == 0 { bytes.removeLast() }
        return bytes
    }

    static func chunk(of id: EntityID) -> UInt64 { id.rawValue >> width }

    private static func place(of id: EntityID) -> (word: Int, bit: UInt64) {
        let low = id.rawValue & ((1 << width) - 1)
        return (Int(low / 64), 1 << (low % 64))
    }

    var isEmpty: Bool { words.allSatisfy { $0 == 0 } }

    func contains(_ id: EntityID) -> Bool {
        let (word, bit) = Self.place(of: id)
        return words[word] & bit != 0
    }

    /// Inserts an entity.
    ///
    /// - Returns: True if the entity was newly inserted.
    @discardableResult
    mutating func insert(_ id: EntityID) -> Bool {
        let (word, bit) = Self.place(of: id)
        guard words[word] & bit == 0 else { return false }
        words[word] |= bit
        return true
    }

    /// Removes an entity.
    ///
    /// - Returns: True if the bitmap contained the entity.
    mutating func remove(_ id: EntityID) -> Bool {
        let (word, bit) = Self.place(of: id)
        guard words[word] & bit != 0 else { return false }
        words[word] &= ~bit
        return true
    }

    /// Calls `body` with each contained entity, in ascending order.
    func forEach(in chunk: UInt64, _ body: (EntityID) -> Void) {
        for (index, word) in words.enumerated() where word != 0 {
            var left = word
            while left != 0 {
                let low = UInt64(index * 64 + left.trailingZeroBitCount)
                body(EntityID(rawValue: chunk << Self.width | low))
                left &= left - 1
            }
        }
    }
}
