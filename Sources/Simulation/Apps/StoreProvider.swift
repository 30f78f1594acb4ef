import EDM
import ODataQuery
import ODataWire
import OfflineStore
import Operations
import SyncEngine
import Tidelog

/// The store of a device as the provider of a `DataService`, so that the simulation uses the calls of apps that the
/// module `Tidelog` composes of several intents.
final class StoreProvider: ServiceBackend {
    private let store: LocalStore
    private let reader: StoreReader
    private let plants: Set<SeededBug>
    let loadedModel: EntityDataModel?

    init(_ store: LocalStore, root: String, plants: Set<SeededBug>) async throws(TidelogError) {
        self.store = store
        self.plants = plants
        loadedModel = try await store.model
        reader = StoreReader(store: store, root: root, parameters: OfflineODataParameters(storePath: ""))
    }

    func model() async throws(TidelogError) -> EntityDataModel { try await store.model }

    func refreshMetadata(_ policy: CompatibilityPolicy) async throws(TidelogError) -> MetadataRefresh {
        throw TidelogError(.unsupported, "The simulation refreshes no metadata by a service.")
    }

    func perform(
        _ intents: [(intent: Intent, options: IntentOptions)], asChangeSet: Bool
    ) async throws(TidelogError) -> [IntentResult] {
        let intents = intents.compactMap { call in defective(call.intent).map { (intent: $0, options: call.options) } }
        return intents.isEmpty ? [] : try await store.perform(intents, asChangeSet: asChangeSet)
    }

    /// Returns the intent as a store with the seeded bugs would execute it, or nil if it would not.
    private func defective(_ intent: Intent) -> Intent? {
        switch intent {
        case .delete(.link(let link)) where plants.contains(.keptDrafts):
            FieldService.draftSets.contains { link.hasPrefix($0) } ? nil : intent
        case .deleteLink where plants.contains(.keptLinks): nil
        case .update(let entity, let changes, let bindings, let inline) where plants.contains(.keptValues):
            .update(
                entity, changes: PropertyValues(changes.filter { !$0.value.isNull }.map { ($0.name, $0.value) }),
                bindings: bindings, inline: inline)
        default: intent
        }
    }

    func query(_ request: QueryRequest, headers: HTTPHeaders) async throws(TidelogError) -> QueryAnswer {
        try await reader.query(request, headers: headers)
    }

    func queryWaiting(_ request: QueryRequest) throws(TidelogError) -> QueryAnswer {
        try store.queryWaiting(request)
    }

    func linkedEntities(
        _ address: EntityAddress, _ property: Property, isBackwards: Bool
    ) throws(TidelogError) -> [EntityID] {
        try store.linkedEntitiesWaiting(address, property, isBackwards: isBackwards)
    }

    func load(
        _ address: EntityAddress, options: QueryOptions, headers: HTTPHeaders
    ) async throws(TidelogError) -> EntitySnapshot {
        try await store.load(address, options: options)
    }

    func trace(_ trace: RequestTrace?) {}
}
