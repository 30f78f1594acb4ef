package import EDM
package import Operations

/// Write access to a state. The methods only store; all rules are in ``Fold`` and ``StateEditor``.
package protocol StateStorage: StateReader {
    func setHeader(_ header: StateHeader) throws(StateError)
    /// Creates storage for the entity sets of a new or changed model. Rows of sets that the model does not have are
    /// dropped; the log still contains them.
    func install(_ model: EntityDataModel) throws(StateError)

    func putRow(_ row: EntityRow) throws(StateError)
    func removeRow(_ id: EntityID) throws(StateError)
    /// Registers an entity with its set. The first set is permanent.
    func register(_ id: EntityID, set: String) throws(StateError)
    func assignKey(set: String, key: String, to id: EntityID) throws(StateError)

    /// Saves the base state of an entity. Replaces a saved one.
    func saveBase(_ id: EntityID, _ base: BaseState) throws(StateError)
    func removeBase(_ id: EntityID) throws(StateError)
    /// Removes and returns at most `limit` base states, in ascending order of entity.
    func drainBases(limit: Int) throws(StateError) -> [(EntityID, BaseState)]

    func putLink(_ link: LinkRow) throws(StateError)
    func removeLink(_ relationship: String, first: EntityID, second: EntityID) throws(StateError)

    func putPending(_ operation: PendingOperation) throws(StateError)
    /// Sets the status of an operation. Has no effect if the operation is not pending.
    func setPendingStatus(
        _ status: PendingOperation.Status, since: Timestamp, of sequence: SequenceNumber
    ) throws(StateError)
    func removePending(_ sequence: SequenceNumber) throws(StateError)
}

/// Write access to the bookkeeping of a state.
package protocol BookkeepingStorage: BookkeepingReader {
    func putUndone(_ operation: UndoneOperation) throws(StateError)
    func removeUndone(_ sequence: SequenceNumber) throws(StateError)
    func putOpenBatch(_ batch: OpenBatch) throws(StateError)
    func removeOpenBatch(_ batch: BatchID) throws(StateError)
    func putMergeBase(_ mergeBase: MergeBase) throws(StateError)
    func removeMergeBase(_ id: EntityID) throws(StateError)
    /// Stores the streams of an entity. Replaces all former ones.
    func putStreams(_ streams: [StreamImage], of id: EntityID) throws(StateError)
    func putQuery(_ query: QueryState) throws(StateError)
    func removeQuery(_ name: String) throws(StateError)
    /// Records that a run of a query delivered the entity.
    func cover(_ id: EntityID, query: String, run: SequenceNumber) throws(StateError)
    /// Removes the query's coverage by runs before `run`. Returns these entities in ascending order.
    func drainUncovered(query: String, before run: SequenceNumber) throws(StateError) -> [EntityID]
    /// Removes the coverage of the entity by the query, or by all queries if it is nil.
    func uncover(_ id: EntityID, query: String?) throws(StateError)
    /// Stores the dangling links. Replaces all former ones.
    func putOpenLinks(_ links: [OpenLink]) throws(StateError)
    /// Stores the quarantine. Replaces the former one.
    func putQuarantine(_ entries: [QuarantineEntry]) throws(StateError)
    /// Stores the events. Replaces all former ones.
    func putEvents(_ events: [StoreEvent]) throws(StateError)
}

extension BookkeepingStorage {
    /// Records that the query covers the entity until a download decides, unless one has delivered it already: then the
    /// next delta need not contain it.
    func coverUndelivered(_ id: EntityID, query: String) throws(StateError) {
        if try !isCovered(id, by: query) { try cover(id, query: query, run: 0) }
    }
}

/// The storage below a ``WorkingSet``, which reads unchanged items from it and writes its changes to it.
package protocol StateBacking: StateStorage {
    /// The installed metadata.
    var model: EntityDataModel? { get }
    /// Returns the lowest entity ID such that neither it nor a higher one has a row, a base state, a link or a
    /// registration.
    func firstUnusedEntity() throws(StateError) -> EntityID
    /// Returns the entities to which these keys were last assigned, in the order of the keys, which must be that of
    /// their bytes. Faster than separate lookups if most keys between the first and the last one are among them.
    func entities(set: String, ascendingKeys keys: [String]) throws(StateError) -> [EntityID?]

    /// Stores many rows, each of another entity, ordered by set and entity.
    func putRows(_ rows: [EntityRow]) throws(StateError)
    /// Stores many links, each once.
    func putLinks(_ links: [LinkRow]) throws(StateError)
    /// Assigns many keys, each once.
    func assignKeys(_ keys: [(set: String, key: String, entity: EntityID)]) throws(StateError)

    /// Runs `body` in one transaction, atomically. An open ``inSharedTransaction(_:)`` transaction is committed first.
    func transaction<T>(_ body: () throws -> T) throws -> T
    /// Runs `body` in a transaction that later calls join, until ``commitSharedTransaction()``. If `body` throws, the
    /// whole transaction is rolled back.
    func inSharedTransaction<T>(_ body: () throws -> T) throws -> T
    /// Commits the transaction of ``inSharedTransaction(_:)``, if one is open.
    func commitSharedTransaction() throws(StateError)
}

/// A backing without faster ways to read or write many items reads and stores one after the other.
extension StateBacking {
    package func entities(set: String, ascendingKeys keys: [String]) throws(StateError) -> [EntityID?] {
        var owners: [EntityID?] = []
        for key in keys { owners.append(try entity(set: set, key: key)) }
        return owners
    }

    package func putRows(_ rows: [EntityRow]) throws(StateError) { for row in rows { try putRow(row) } }

    package func putLinks(_ links: [LinkRow]) throws(StateError) { for link in links { try putLink(link) } }

    package func assignKeys(_ keys: [(set: String, key: String, entity: EntityID)]) throws(StateError) {
        for (set, key, id) in keys { try assignKey(set: set, key: key, to: id) }
    }
}

/// An error while a state is read or written.
package struct StateError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: Sendable, Hashable {
        /// The stored data is inconsistent: the views have to be rebuilt from the log.
        case damaged
        /// The storage failed: disk full, no permission, locked.
        case unavailable
        /// A record requires the metadata of a service, which no record has installed, or which does not parse.
        case noModel
        /// No request can be built for a pending operation.
        case unsendable
    }

    package let code: Code
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}
