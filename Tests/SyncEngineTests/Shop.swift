import EDM
import ODataSandbox
import ODataWire
import OperationLog
import Operations
import SyncCore
@testable import OfflineStore
@testable import SyncEngine
import TestSupport

enum Dialect: String, CaseIterable, Sendable, CustomStringConvertible {
    case v2, v4
    var description: String { rawValue }
}

/// A store on disk with the sandbox's Shop as its service, and shorthand for operations on both.
final class Shop: Sendable {
    let dialect: Dialect
    let directory = TemporaryDirectory()
    let transport: SandboxTransport
    let store: LocalStore
    let engine: SyncEngine

    static let sets = [
        "Customers", "Orders", "Owners", "Cars", "Cities", "Mayors", "Fathers", "Children", "Persons", "IDCards",
        "Suppliers", "Products", "Visits", "Prices",
    ]

    /// Creates a store and downloads everything.
    ///
    ///  - Parameter queries: The defining queries; one for each entity set if nil.
    init(
        _ dialect: Dialect, pageSize: Int? = nil, expanding: Bool = true, options: LocalStoreOptions = .init(),
        deltas: Deltas? = nil, queries: [DefiningQuery]? = nil
    ) async throws {
        self.dialect = dialect
        var sandbox = try Sandbox.shop()
        sandbox.origin = "http://shop.test"
        sandbox.options.pageSize = pageSize
        sandbox.options.deltas = deltas
        transport = SandboxTransport(sandbox)
        store = try await LocalStore(StoreFiles(directory: directory.path), options: options)
        engine = SyncEngine(
            store: store, session: ServiceSession(root: "http://shop.test/\(dialect.rawValue)/", transport: transport))
        try await engine.prepare()
        // Only an expansion delivers the links of a relationship without dependent properties.
        let expansions = ["Suppliers": "Products", "Owners": "Car", "Cities": "Mayor"]
        let all = Self.sets.map { set in
            let expansion = expanding ? expansions[set].map { "?$expand=\($0)" } ?? "" : ""
            return DefiningQuery(name: set, query: set + expansion)
        }
        for query in queries ?? all { try await store.definingQueries.add(query) }
        _ = try await engine.download()
    }

    // MARK: Operations of the app

    @discardableResult
    func perform(_ intents: Intent..., asChangeSet: Bool = false) async throws -> [IntentResult] {
        try await store.perform(intents.map { ($0, IntentOptions()) }, asChangeSet: asChangeSet)
    }

    /// Creates an entity and returns its readLink.
    @discardableResult
    func create(
        _ set: String, _ values: PropertyValues = [:], bind: [BindingDraft] = [], inline: [InlineDraft] = [],
        in parent: Intent.Parent? = nil
    ) async throws -> String {
        let draft = try await self.draft(0, set, values, bind: bind, inline: inline)
        let result = try await perform(.create(draft, in: parent))
        return result[0].entities[0]?.readLink ?? ""
    }

    func draft(
        _ number: Int, _ set: String, _ values: PropertyValues = [:], bind: [BindingDraft] = [],
        inline: [InlineDraft] = []
    ) async throws -> EntityDraft {
        let type = try await store.model.findEntitySet(set)?.entityType.name ?? ""
        return EntityDraft(number: number, set: set, type: type, values: values, bindings: bind, inline: inline)
    }

    func load(_ link: String) async throws -> EntitySnapshot { try await store.load(.link(link)) }

    func value(_ link: String, _ property: String) async throws -> Value? { try await load(link).values[property] }

    /// Returns the readLinks of the local targets of a navigation property.
    func targets(_ link: String, _ navigation: String) async throws -> [String] {
        try await store.query("\(link)/\(navigation)").entities.map(\.readLink)
    }

    @discardableResult
    func push() async throws -> UploadReport { try await engine.upload() }

    func pull() async throws { _ = try await engine.download() }

    // MARK: State of both sides, one line for each entity

    /// Returns the content of the store: values, and the keys of the targets of each navigation property.
    func localState(_ sets: [String] = Shop.sets) async throws -> [String] {
        let model = try await store.model
        var lines: [String] = []
        for set in sets {
            guard let type = model.findEntitySet(set)?.entityType else { continue }
            let names = type.navigationProperties.map(\.name)
            let expand = names.isEmpty ? "" : "?$expand=" + names.joined(separator: ",")
            for entity in try await store.query(set + expand).entities {
                let links = entity.expanded.map { level in
                    let keys = level.entities.map {
                        KeyText.of($0.values, type: model.findEntityType($0.type) ?? type) ?? "?"
                    }
                    return (level.navigation, keys)
                }
                lines.append(Self.line(set, entity.values, links))
            }
        }
        return lines.sorted()
    }

    /// Returns the content of the service, in the same form.
    func serviceState(_ sets: [String] = Shop.sets) async throws -> [String] {
        let model = try await store.model
        let reader = PayloadReader(version: model.version, model: model)
        var lines: [String] = []
        for set in sets {
            guard let type = model.findEntitySet(set)?.entityType else { continue }
            let names = type.navigationProperties.map(\.name)
            let expand = names.isEmpty ? "" : "?$expand=" + names.joined(separator: ",")
            var url: String? = "/\(dialect.rawValue)/\(set)\(expand)"
            while let next = url {
                let page = try reader.feed(transport.direct("GET", next).body, type: type)
                url = page.nextLink.map { String($0.drop { $0 != "/" }.dropFirst(2).drop { $0 != "/" }) }
                for entity in page.entities {
                    let links = names.map { name in
                        let targets = entity.expanded.first { $0.navigation == name }?.entities ?? []
                        let target =
                            type.findProperty(name)?.navigation.flatMap { model.findEntityType($0.targetType) } ?? type
                        return (name, targets.map { KeyText.of($0.values, type: target) ?? "?" })
                    }
                    lines.append(Self.line(set, entity.values, links))
                }
            }
        }
        return lines.sorted()
    }

    private static func line(_ set: String, _ values: PropertyValues, _ links: [(String, [String])]) -> String {
        let properties = values.map { "\($0.name)=\($0.value)" }.filter { !$0.hasSuffix("=null") }.sorted()
        let navigations = links.filter { !$0.1.isEmpty }.map { "\($0.0)→\($0.1.sorted())" }.sorted()
        return "\(set) " + (properties + navigations).joined(separator: " ")
    }
}

func bind(_ navigation: String, _ target: String) -> BindingDraft {
    BindingDraft(navigation: navigation, targets: [.link(target)])
}

func update(_ link: String, _ changes: PropertyValues, bind: [BindingDraft] = [], inline: [InlineDraft] = []) -> Intent
{
    .update(.link(link), changes: changes, bindings: bind, inline: inline)
}

/// The internals that tests look at.
extension LocalStore {
    var nextSequence: SequenceNumber { core.log.nextSequence }
    var planEpoch: Int { core.planEpoch }
    var log: OperationLog { core.log }
    nonisolated var observers: LiveObservers { core.observers }

    func reader() throws(LogError) -> LogReader { try core.reader() }

    func currentSnapshot() throws -> StoreSnapshot { try StoreSnapshots(core: core).current() }

    /// Prepares a plan, and throws if an operation was undone since the plan was made.
    func prepare(_ plan: UploadPlan) async throws -> BatchID {
        guard let batch = try await prepare(plan, since: core.planEpoch) else {
            throw TidelogError(.invalidRequest, "Something was undone.")
        }
        return batch
    }

    /// Prepares a plan. Returns the number of the batch, or nil if the plan is outdated.
    func prepare(_ plan: UploadPlan, since planEpoch: Int) async throws -> BatchID? {
        let number = try nextBatch
        return try await uploads.prepare(plan.prepared(as: number), since: planEpoch) ? number : nil
    }
}
