import EDM
import ODataWire
import OperationLog
import Operations
import SyncCore
import Synchronization
import TestSupport
@testable import OfflineStore

/// Changes to the files of a closed store.
extension StoreFiles {
    func removeViews() { for file in viewFiles { TemporaryDirectory.remove(file: file) } }

    /// Changes a byte in the middle of a file of the log.
    func damage(_ path: String) {
        guard var bytes = TemporaryDirectory.read(path), !bytes.isEmpty else { return }
        bytes[bytes.count / 2] ^= 0x10
        TemporaryDirectory.write(bytes, to: path)
    }

    func snapshotPath(_ sequence: SequenceNumber) -> String {
        let digits = String(sequence)
        return log + "/" + String(repeating: "0", count: 20 - digits.count) + digits + ".snapshot"
    }
}

extension LocalStoreOptions {
    /// Returns options without automatic snapshots, with segments that hold a few operations, and a clock that advances
    /// by an hour at each reading.
    static func small(
        _ clock: TestClock = TestClock(), segmentSize: UInt64 = 4_096, snapshots: SnapshotPolicy = .manual
    ) -> LocalStoreOptions {
        LocalStoreOptions(
            environment: SyncEnvironment(now: { clock.now() }), log: .init(segmentSize: segmentSize),
            snapshots: snapshots)
    }
}

/// A clock that advances by an hour at each reading.
final class TestClock: Sendable {
    private let hours = Mutex<Int64>(500_000)

    func now() -> Timestamp {
        hours.withLock {
            $0 += 1
            return $0 * 3_600_000
        }
    }
}

extension Shop {
    /// Performs operations of several kinds: creates that refer to each other, updates, a link, a change set and a
    /// delete.
    func edit() async throws {
        let customer = try await create("Customers", ["Name": .string("New")])
        try await create("Orders", ["Note": .string("a")], bind: [bind("Customer", customer)])
        try await perform(update("Customers(2)", ["Name": .string("Renamed")]))
        try await perform(.updateLink(from: .link("Mayors(1)"), navigation: "City", to: .link("Cities(3)")))
        try await perform(
            update("Orders(1)", ["Note": .string("x")]), update("Orders(2)", ["Note": .string("y")]),
            asChangeSet: true)
        try await perform(.delete(.link("Products(1)")))
    }

    /// Uploads, and returns the bodies of the requests.
    func uploadedBytes() async throws -> [[UInt8]] {
        transport.forgetRequests()
        try await push()
        return transport.requests.filter { $0.method == "POST" }.map(\.body)
    }
}
