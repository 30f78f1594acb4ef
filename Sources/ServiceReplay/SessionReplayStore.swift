import EDM
import LogInspection
import OfflineStore
import OperationLog
import Operations
import SyncCore
import SyncEngine

/// The in-memory store of a session replay, and the mapping from the log to it.
struct SessionReplayStore {
    private let store: LocalStore
    private let engine: SyncEngine
    private let root: String
    private let options: UploadOptions
    let history: LogHistory
    /// The entities of the stage by those of the log.
    private var entities: [EntityID: EntityID] = [:]
    private(set) var sequences: [SequenceNumber: SequenceNumber] = [:]
    /// Operations that could not be made, with the reasons.
    private(set) var impossible: [SequenceNumber: String] = [:]
    /// Whether an upload has already run for the current sequence of prepared batches.
    private var hasUploaded = false

    init(
        _ source: InspectedStore, _ session: ServiceSession, _ options: UploadOptions
    ) async throws(TidelogError) {
        let disk = OverlayFileSystem(source.disk)
        // A name that no store has, so it does not exist on the disk below.
        let files = StoreFiles(directory: source.files.directory + "/replay")
        var storeOptions = LocalStoreOptions(
            log: OperationLog.Options(durability: .none), snapshots: .manual, service: source.serviceOptions)
        storeOptions.disk = .simulated(disk)
        store = try await LocalStore(files, options: storeOptions)
        engine = SyncEngine(store: store, session: session)
        root = session.root
        self.options = options
        history = LogHistory(logDirectory: files.log, fileSystem: disk)
    }

    /// Repeats the action of the app in a record. The service acts on its own.
    ///
    /// - Parameter state: The state of the log after the record.
    mutating func perform(_ entry: HistoryEntry, _ state: WorkingSet) async throws(TidelogError) {
        let body = entry.record.body
        switch body {
        case .batchPrepared: return try await uploadOnce()
        case .batchAnswered, .batchInterrupted, .batchAccepted, .entitiesRead, .entitiesMissing, .uploadPostponed,
            .operationsElided, .clientChangesKept, .downloadPage, .downloadFinished, .linksLeftOpen,
            .entitiesQuarantined, .streamsStored,
            .unknown, .lost,
            .operationsIncompatible:
            return
        default: break
        }
        hasUploaded = false
        switch body {
        case .serviceInstalled(let service):
            try await store.record([.serviceInstalled(ServiceDescription(root: root, metadata: service.metadata))])
        case .definingQueryAdded, .definingQueryRemoved: try await store.record([body])
        case .downloadStarted(let queries): _ = try await engine.download(queries.map(\.query))
        case .operation(let operation): try await make(operation, entry.sequence, state)
        case .operationsUndone(let list): try await replay(list) { .operationsUndone($0) }
        case .operationsRedone(let list): try await replay(list) { .operationsRedone($0) }
        case .operationsReleased(let list): try await replay(list) { .operationsReleased($0) }
        case .deliveryChanged(let list, let delivery): try await replay(list) { .deliveryChanged($0, to: delivery) }
        case .operationsAmended(let amended):
            for amended in amended { try await amend(amended, state) }
        case .conflictResolved(let resolved):
            try await replay(resolved.takenBack) { .operationsUndone($0) }
        default: break
        }
    }

    /// Runs one upload for a sequence of prepared batches, which belonged to one upload.
    private mutating func uploadOnce() async throws(TidelogError) {
        guard !hasUploaded else { return }
        hasUploaded = true
        _ = try await engine.upload(options)
    }

    // MARK: Operations

    private mutating func make(
        _ operation: Operation, _ sequence: SequenceNumber, _ state: WorkingSet
    ) async throws(TidelogError) {
        guard operation.stream == nil else {
            impossible[sequence] = "It writes a stream whose content is not in the log."
            return
        }
        for entity in operation.referencedEntities where entities[entity] == nil {
            entities[entity] = try await counterpart(of: entity, in: state)
        }
        var next = try await store.history.nextEntity
        for entity in operation.createdEntities {
            entities[entity] = next
            next = EntityID(rawValue: next.rawValue + 1)
        }
        guard var renamed = OperationRenaming(names: entities).renamed(operation) else {
            impossible[sequence] = "An entity that it refers to does not exist at this service."
            return
        }
        // Changes of the service are compared with its current response.
        renamed.baseETag = nil
        sequences[sequence] = try await store.record([.operation(renamed)]).lowerBound
    }

    /// Returns the entity of the stage with the same key. A contained entity is searched below the counterpart of its
    /// container.
    private func counterpart(of entity: EntityID, in state: WorkingSet) async throws(TidelogError) -> EntityID? {
        let model = try await store.model
        var path = [entity]
        while path.count <= 64, let last = path.last,
            let set = ((try? state.set(of: last)) ?? nil).flatMap(model.findEntitySet),
            set.isContained
        {
            guard let parent = try? state.container(of: last, in: set) else { return nil }
            path.append(parent)
        }
        var found: EntityID?
        for (place, id) in path.reversed().enumerated() {
            if let known = entities[id] {
                found = known
                continue
            }
            guard let (set, key) = Self.name(of: id, in: state, model) else { return nil }
            if place == 0 {
                found = try await store.entity(set: set, key: key)
            } else {
                guard let parent = found else { return nil }
                let isSingle = model.findEntitySet(set)?.isContainedSingle == true
                found = try await store.entity(set: set, key: ContainedKey.text(parent, isSingle ? nil : key))
            }
            if found == nil { return nil }
        }
        return found
    }

    /// Returns the set and key of an entity.
    private static func name(
        of entity: EntityID, in state: WorkingSet, _ model: EntityDataModel
    ) -> (set: String, key: String)? {
        guard let row = (try? state.serviceRow(entity) ?? state.row(entity)) ?? nil,
            let type = model.findEntityType(row.type),
            let key = KeyText.of(row.values, type: type)
        else { return nil }
        return (row.set, key)
    }

    private func amend(_ amended: AmendedOperation, _ state: WorkingSet) async throws(TidelogError) {
        guard let sequence = sequences[amended.operation],
            let content = OperationRenaming(names: entities).renamed(amended.content)
        else { return }
        try await store.record([.operationsAmended([AmendedOperation(operation: sequence, content: content)])])
    }

    private func replay(
        _ operations: [SequenceNumber], _ body: ([SequenceNumber]) -> Record.Body
    ) async throws(TidelogError) {
        let renamed = operations.compactMap { sequences[$0] }
        if !renamed.isEmpty { try await store.record([body(renamed)]) }
    }
}
