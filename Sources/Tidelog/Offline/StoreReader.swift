package import EDM
import ODataQuery
package import ODataWire
package import OfflineStore
package import Operations
import SyncCore
import Views

/// The read operations of a store, shared by the current and the historical one.
package struct StoreReader: Sendable {
    let store: LocalStore
    let root: String
    let parameters: OfflineODataParameters

    package init(store: LocalStore, root: String, parameters: OfflineODataParameters) {
        self.store = store
        self.root = root
        self.parameters = parameters
    }

    // MARK: Entities

    package func query(_ request: QueryRequest, headers: HTTPHeaders) async throws(TidelogError) -> QueryAnswer {
        let pageSize = try PagePreference(headers)?.size
        let usual = parameters.pageSize.map { Int64($0) }
        guard usual ?? 1 > 0 else {
            throw TidelogError(.invalidRequest, "The page size must be greater than 0, not \(usual ?? 0).")
        }
        return try await store.answer(request, pageSize: pageSize, usualPageSize: usual)
    }

    func keyMap() async throws(TidelogError) -> [KeyAssignment] {
        try await store.keyMap().map { KeyAssignment(entity: $0.entity, set: $0.set, key: $0.key) }
    }

    func stateDigest() async throws(TidelogError) -> String { try await store.digest() }

    func quarantine() async throws(TidelogError) -> [QuarantineEntry] { try await store.downloads.quarantine() }

    // MARK: The queue

    func operationStatus(_ options: UploadOptions?) async throws(TidelogError) -> [OperationStatus] {
        let plan = try await nextPlan(options)
        let pending = try await store.queue.pendingOperations()
        let postponed = try await store.postponement?.upload
        let links = try await store.localLinks(of: Set(pending.flatMap(\.operation.touchedEntities)))
        let outlook = UploadForecast(
            plan, awaited: Set(try await store.doubts.awaitedOperations().values.joined()),
            nextLooks: try await store.doubts.nextLooks())
        return pending.map { OperationStatus($0, outlook: outlook, postponed: postponed, links: links) }
    }

    func undoneOperations() async throws(TidelogError) -> [OperationStatus] {
        let undone = try await store.queue.undoneOperations()
        let links = try await store.localLinks(of: Set(undone.flatMap(\.operation.operation.touchedEntities)))
        return undone.map { OperationStatus($0, links: links) }
    }

    /// Returns the first plan of the next upload, including the reasons for held operations. Rejected and postponed
    /// operations are retried.
    private func nextPlan(_ options: UploadOptions?) async throws(TidelogError) -> UploadPlan {
        let upload = options ?? parameters.defaultUpload
        let refused = try await store.queue.pendingOperations(.rejected).map(\.sequence).filter(upload.refused.takes)
        let deferred = try await store.queue.pendingOperations(.deferred).map(\.sequence)
        let plan = try await store.uploads.plan(retrying: Set(refused + deferred), upload: upload)
        return plan.isEmpty ? plan : try await encoder().sendable(plan)
    }

    private func encoder() async throws(TidelogError) -> BatchEncoder {
        BatchEncoder(
            model: try await store.model, serviceRoot: root, options: try await store.serviceOptions)
    }

    func plannedBatches(_ options: UploadOptions?) async throws(TidelogError) -> [PlannedBatch] {
        let plan = try await nextPlan(options)
        guard !plan.isEmpty else { return [] }
        let options = try await store.serviceOptions
        let encoder = try await encoder()
        guard options.supportsBatch else {
            return plan.changeSets.flatMap(\.requests).map {
                PlannedBatch(encoder.encode($0), root: root, changeSets: [1])
            }
        }
        let encoded = try encoder.encode(encoder.batch(plan, number: try await store.nextBatch))
        return [PlannedBatch(encoded.request, root: root, changeSets: plan.changeSets.map(\.requests.count))]
    }
}

extension LocalStore {
    /// Blocks like ``withBlockingAccess(_:)``.
    package nonisolated func queryWaiting(_ request: QueryRequest) throws(TidelogError) -> QueryAnswer {
        try withBlockingAccess { store throws(TidelogError) in try store.answer(request) }
    }

    /// Blocks like ``withBlockingAccess(_:)``.
    package nonisolated func linkedEntitiesWaiting(
        _ address: EntityAddress, _ property: Property, isBackwards: Bool
    ) throws(TidelogError) -> [EntityID] {
        try withBlockingAccess { store throws(TidelogError) in
            try store.linkedEntities(address, property, isBackwards: isBackwards)
        }
    }

    fileprivate func answer(
        _ request: QueryRequest, pageSize: Int64? = nil, usualPageSize: Int64? = nil
    ) throws(TidelogError) -> QueryAnswer {
        switch request {
        case .url(let url): return try query(url, pageSize: pageSize, usualPageSize: usualPageSize)
        case .set(let set, let options):
            let path = ResourcePath(segments: [.entitySet(set)], target: .entities(set.entityType, in: set))
            return try query(path: path, options: options, pageSize: pageSize, usualPageSize: usualPageSize)
        case .related(let address, let property, let options):
            return try related(address, property, options, pageSize: pageSize)
        case .entity(let id): return QueryAnswer(entities: [try load(.id(id))], isSingle: true)
        case .sources(let address, let property, let options): return try sources(of: address, by: property, options)
        }
    }
}
