import EDM
import OfflineStore
import OperationLog
import Operations
import Synchronization
import TestSupport
import Testing

@testable import LogInspection

/// Records every call that could change the disk.
private final class CountingFileSystem: FileSystem {
    private let files = PosixFileSystem()
    private let calls = Mutex<[String]>([])

    var changes: [String] { calls.withLock { $0 } }

    private func note(_ call: String) { calls.withLock { $0.append(call) } }

    func open(_ path: String, _ mode: FileMode) throws(FileSystemError) -> any File {
        if mode != .read { note("open \(mode)") }
        return try files.open(path, mode)
    }
    func list(_ directory: String) throws(FileSystemError) -> [String] { try files.list(directory) }
    func createDirectory(_ path: String) throws(FileSystemError) { note("createDirectory") }
    func rename(_ path: String, to target: String) throws(FileSystemError) { note("rename") }
    func remove(_ path: String) throws(FileSystemError) { note("remove") }
    func syncDirectory(_ path: String) throws(FileSystemError) { note("syncDirectory") }
    func lock(_ path: String) throws(FileSystemError) -> LockOutcome {
        note("lock")
        return try files.lock(path)
    }
}

/// Inspection changes nothing on the disk, also if the log is damaged or encrypted.
@Suite struct InspectedDiskTests {
    private func used(_ shop: ShopLog) throws {
        try shop.append(
            update(1, ["Name": .string("Eve")]), prepared(1, 6), answered(1, (6, .confirmed(images: []))),
            update(2, ["City": .string("Bonn")]))
    }

    private func look(_ store: InspectedStore) async throws {
        let reference = try #require(EntityReference("Customers(1)"))
        _ = try store.provenance(of: reference)
        _ = try store.entities(of: reference)
        _ = try store.detail(of: 6)
        _ = try await store.why(9)
        _ = try store.history.operations(of: 1)
        _ = try store.history.files()
        _ = try store.history.statistics()
    }

    @Test func `an inspection opens nothing for writing, and locks, creates, moves and removes nothing`() async throws {
        let shop = try ShopLog()
        try used(shop)
        let disk = CountingFileSystem()
        try await look(InspectedStore(directory: shop.log.directory.path, fileSystem: disk))
        #expect(disk.changes == [])
    }

    @Test func `an inspection of a damaged log changes nothing, and reports the readable records`() async throws {
        // One record per segment: damage in the last segment would look like a commit that is being written.
        let shop = try ShopLog(segmentSize: 1)
        try used(shop)
        shop.log.log.close()
        let place = try #require(try shop.store.detail(of: 7).place)
        try shop.log.damage(shop.log.segment(7), at: Int(place.blockOffset) + 20)
        let disk = CountingFileSystem()
        let store = InspectedStore(directory: shop.log.directory.path, fileSystem: disk)
        try await look(store)
        #expect(disk.changes == [])
        let provenance = try store.provenance(of: try #require(EntityReference("Customers(2)/City")))
        #expect(provenance.lines.last?.sequence == 9)
        #expect(throws: TidelogError.self) { try store.provenance(of: try #require(EntityReference("Customers(7)"))) }
    }

    @Test func `the outcome of an operation before a lost record is unknown`() throws {
        let shop = try ShopLog()
        try shop.append(update(1, ["Name": .string("Eve")]))
        #expect(try shop.store.detail(of: 6).outcome == .pending)
        try shop.log.log.append([(kind: LogRepair.lostKind, payload: [])])
        let detail = try shop.store.detail(of: 6)
        #expect(detail.outcome == .unknown)
        #expect(detail.effects.isEmpty)
        try shop.append(prepared(1, 6), answered(1, (6, .confirmed(images: []))))
        #expect(try shop.store.detail(of: 6).outcome == .confirmed(1))
    }

    @Test func `an encrypted log is inspected only with its key`() throws {
        let directory = TemporaryDirectory()
        let key = try #require(LogKey(Array(repeating: 7, count: LogKey.byteCount)))
        let options = OperationLog.Options(durability: .none, keys: [key])
        let log = try OperationLog.open(directory: directory.path + "/log", options: options).log
        for body in [create(1, "Orders"), update(1, ["Note": .string("n")])] {
            try log.append([RecordCodec.encode(Record(time: SampleLog.time, body: body))])
        }
        #expect(try InspectedStore(directory: directory.path, keys: [key]).detail(of: 2).entry.kind == "operation")
        #expect(throws: TidelogError.self) { try InspectedStore(directory: directory.path).detail(of: 2) }
    }

    @Test func `a log that is too large for memory leads to the same results`() throws {
        let shop = try ShopLog(runSize: 1)
        try used(shop)
        let reader = try shop.store.reader()
        let selection = RecordSelection(entities: SearchedIdentifiers([1]))
        let kept = try selection.records(of: LogBlocks(reader))
        #expect(kept.map(\.sequence) == [4, 6])
        #expect(try selection.records(of: LogBlocks(reader, keptLimit: 0)) == kept)
    }
}
