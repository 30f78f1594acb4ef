public import OfflineStore
import OperationLog
public import Operations
import SyncCore
import Views

/// The state of a store's views file compared with the log.
public enum StoredViews: Sendable, Hashable {
    /// There is no file: the store was not opened yet.
    case missing
    /// The views correspond to the log up to this record.
    case sound(through: SequenceNumber)
    /// The views will be rebuilt when the store is opened, for this reason, which is no damage.
    case stale(String)
    /// Another process has the store open, so its views cannot be read.
    case inUse
    /// The views do not correspond to the log, or are damaged: a sentence.
    case wrong(String)

    /// A Boolean value that indicates whether the views are damaged or do not correspond to the log.
    public var isWrong: Bool { if case .wrong = self { true } else { false } }
}

extension InspectedStore {
    /// Compares the views in the store's directory with the log, replayed from the newest snapshot before their end. It
    /// changes nothing and takes no lock.
    ///
    /// - Throws: `damaged` if the log is damaged, and the other errors of reading it.
    public func checkStoredViews() throws(TidelogError) -> StoredViews {
        try StoredViewsCheck(store: self).run()
    }
}

/// Compares the views in the directory of a store with its log.
private struct StoredViewsCheck {
    let store: InspectedStore

    func run() throws(TidelogError) -> StoredViews {
        guard let kind = FileKind.of(store.files.views) else { return .missing }
        guard kind == .regular else { return .wrong("It is \(kind), not a regular file.") }
        let log: (identifier: StoreIdentifier, first: SequenceNumber, next: SequenceNumber) = try store.readable {
            reader in
            (reader.storeIdentifier, try reader.firstSequence(), try reader.nextSequence())
        }
        do {
            let hasLog = (try? store.disk.open(store.files.views + "-wal", .read).size()).map { $0 > 0 } ?? false
            let views = try SQLiteState(
                path: store.files.views, key: ViewsKey(store.keys, in: log.identifier),
                store: log.identifier.description, readOnly: true,
                isUnchanging: !hasLog)
            defer { views.close() }
            return try views.reading { try check(views, log.first, log.next) }
        } catch let error as TidelogError {
            throw error
        } catch let error as StateError where error == SQLiteState.ofAnotherKey {
            return .stale(error.message)
        } catch let error as StateError where error.code == .damaged {
            return .wrong(error.message)
        } catch let error as StateError where error == SQLiteState.inUse {
            return .inUse
        } catch {
            if !store.keys.isEmpty, FileKind.of(store.files.views + "-wal") != nil {
                return .stale("The process that wrote them did not close them; the next open does.")
            }
            return .stale("They cannot be read now: \(error)")
        }
    }

    private func check(
        _ views: SQLiteState, _ first: SequenceNumber, _ next: SequenceNumber
    ) throws -> StoredViews {
        if try ViewsVerification(views).isOfAnotherVersion() { return .stale("They have another version.") }
        let applied = try views.header().applied
        // A writer may have appended since.
        if applied >= next, try store.readable({ applied >= (try $0.nextSequence()) }) {
            return .wrong("They contain operation \(applied), but the log ends with \(next - 1).")
        }
        if applied == 0 { return .stale("They are still empty.") }
        guard applied + 1 >= first else { return .stale("They are older than the first record of the log.") }
        try ViewsVerification(views).verify()
        let replay = try Replay(store, from: applied, buildsBatches: false)
        _ = try replay.digest()
        if let difference = try StateComparison.firstDifference(of: views, from: replay.state) {
            return .wrong(difference)
        }
        return .sound(through: applied)
    }
}
