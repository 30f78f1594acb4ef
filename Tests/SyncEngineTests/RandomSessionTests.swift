import EDM
import Foundation
import ODataSandbox
import ODataWire
import Operations
import SeededRandom
import SyncCore
import TestSupport
import Testing
@testable import OfflineStore

/// Random sessions: many legal operations in any order, an upload, and a comparison of the store with the service. A
/// failure prints its seed.
struct RandomSessionTests {
    struct Session {
        let shop: Shop
        var random: SeededRandom
        var next = 0

        mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

        mutating func any(_ set: String) async throws -> EntitySnapshot? {
            try await shop.store.query(set).entities.randomElement(using: &random)
        }

        mutating func draft(_ set: String, depth: Int = 0) async throws -> EntityDraft {
            let model = try await shop.store.model
            guard let entitySet = model.findEntitySet(set) else { fatalError("no set \(set)") }
            var draft = try await shop.draft(next, set)
            next += 1
            for property in entitySet.entityType.properties where property.type.primitive == .string {
                if chance(60) || !property.isNullable { draft.values[property.name] = .string("t\(next)") }
            }
            for navigation in entitySet.entityType.navigationProperties {
                guard let target = model.target(of: navigation, in: entitySet) else { continue }
                let isMandatory = navigation.navigation?.multiplicity == .one
                if depth < 2, chance(isMandatory ? 40 : 12) {
                    var entities: [EntityDraft] = []
                    for _ in 0..<(navigation.isCollection ? 2 : 1) {
                        entities.append(try await self.draft(target.name, depth: depth + 1))
                    }
                    draft.inline.append(InlineDraft(navigation: navigation.name, entities: entities))
                } else if chance(isMandatory ? 90 : 35), let found = try await any(target.name) {
                    draft.bindings.append(bind(navigation.name, found.readLink))
                }
            }
            return draft
        }

        mutating func intent() async throws -> Intent? {
            let model = try await shop.store.model
            let set = RandomSessionTests.sets.randomElement(using: &random)!
            guard let entitySet = model.findEntitySet(set) else { return nil }
            let navigations = entitySet.entityType.navigationProperties
            switch Int.random(in: 0..<12, using: &random) {
            case 0...3: return .create(try await draft(set), in: nil)
            case 4:
                guard let owner = try await any(set), let navigation = navigations.randomElement(using: &random),
                    let target = model.target(of: navigation, in: entitySet)
                else { return nil }
                return .create(
                    try await draft(target.name, depth: 2),
                    in: Intent.Parent(entity: .link(owner.readLink), navigation: navigation.name))
            case 5, 6:
                guard let entity = try await any(set) else { return nil }
                var changes: PropertyValues = [:]
                for property in entitySet.entityType.properties
                where property.type.primitive == .string && property.isNullable {
                    changes[property.name] = chance(20) ? .null : .string("u\(next)")
                }
                next += 1
                return changes.isEmpty ? nil : update(entity.readLink, changes)
            case 7:
                guard let entity = try await any(set) else { return nil }
                return .delete(.link(entity.readLink))
            default:
                guard let entity = try await any(set), let navigation = navigations.randomElement(using: &random),
                    let target = model.target(of: navigation, in: entitySet), let to = try await any(target.name)
                else { return nil }
                let (from, link) = (EntityAddress.link(entity.readLink), EntityAddress.link(to.readLink))
                switch Int.random(in: 0..<4, using: &random) {
                case 0:
                    let linked = try await shop.targets(entity.readLink, navigation.name)
                    guard let other = linked.randomElement(using: &random) else { return nil }
                    return .deleteLink(from: from, navigation: navigation.name, to: .link(other))
                case 1 where !navigation.isCollection:
                    return .updateLink(from: from, navigation: navigation.name, to: link)
                case 2:
                    return update(
                        entity.readLink, [:], bind: [BindingDraft(navigation: navigation.name, targets: [link])])
                default: return .createLink(from: from, navigation: navigation.name, to: link)
                }
            }
        }
    }

    static let sets = [
        "Customers", "Orders", "Owners", "Cars", "Cities", "Mayors", "Fathers", "Children", "Persons", "IDCards",
        "Suppliers", "Products",
    ]

    @Test(arguments: Dialect.allCases, [1, 2, 3, 4, 5, 17, 24] as [UInt64])
    func `the store and the service agree after random operations and uploads`(_ dialect: Dialect, _ seed: UInt64)
        async throws
    {
        try await run(try await Shop(dialect), seed, rounds: 2, "\(dialect), seed \(seed)")
    }

    /// A combination of missing service capabilities, the options of the store for it, and whether changes remain for
    /// which the service has no request.
    struct MissingCapability: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let options: ServiceOptions
        let holds: Bool
        let capabilities: Capabilities

        init(
            _ name: String, _ options: ServiceOptions, holds: Bool = false, _ change: (inout Capabilities) -> Void
        ) {
            testDescription = name
            self.options = options
            self.holds = holds
            var capabilities = Capabilities()
            change(&capabilities)
            self.capabilities = capabilities
        }

        static let all = [
            MissingCapability("no batch", ServiceOptions(supportsBatch: false), holds: true) { $0.batch = false },
            MissingCapability("no bind", ServiceOptions(supportsBind: false)) { $0.bind = false },
            MissingCapability("no PATCH", ServiceOptions(supportsPatch: false)) { $0.patch = false },
            MissingCapability("references in URLs", ServiceOptions(contentIDReferences: .urlsOnly), holds: true) {
                $0.contentIDReferences = .urlsOnly
            },
            MissingCapability("no references", ServiceOptions(contentIDReferences: .none), holds: true) {
                $0.contentIDReferences = .none
            },
            MissingCapability("deep inserts in order", ServiceOptions(deepInsertToMany: .inOrder)) { _ in },
            MissingCapability("deep inserts with Content-IDs", ServiceOptions(deepInsertToMany: .contentID)) {
                $0.deepInsertAnswer = .reversed
            },
            MissingCapability(
                "hardly anything",
                ServiceOptions(
                    supportsBatch: false, supportsBind: false, supportsPatch: false, contentIDReferences: .none,
                    deepInsertToMany: .inOrder, tunnelsMethods: true), holds: true
            ) {
                $0.batch = false
                $0.bind = false
                $0.patch = false
                $0.methods = false
            },
        ]
    }

    @Test(arguments: Dialect.allCases, MissingCapability.all)
    func `the store and a service that lacks capabilities agree after random operations and uploads`(
        _ dialect: Dialect, _ lack: MissingCapability
    ) async throws {
        for seed in Effort.seeds {
            let shop = try await Shop(dialect)
            shop.transport.change { $0.options.capabilities = lack.capabilities }
            await shop.store.use(lack.options)
            try await run(
                shop, seed, rounds: 1, holds: lack.holds, "\(dialect), seed \(seed), \(lack.testDescription)")
        }
    }

    /// - Parameter holds: Whether changes may remain for which the service has no request.
    private func run(
        _ shop: Shop, _ seed: UInt64, rounds: Int, holds: Bool = false, _ name: String
    ) async throws {
        var session = Session(shop: shop, random: SeededRandom(seed: seed))
        for round in 1...rounds {
            for _ in 0..<30 {
                var intents: [Intent] = []
                for _ in 0..<(session.chance(20) ? 3 : 1) {
                    if let intent = try await session.intent() { intents.append(intent) }
                }
                guard !intents.isEmpty else { continue }
                let before = try await session.shop.store.digest()
                do {
                    _ = try await session.shop.store.perform(
                        intents.map { ($0, IntentOptions()) }, asChangeSet: intents.count > 1)
                } catch let error {
                    // The random operations include refused ones.
                    guard case .refused = error.code else { throw error }
                    #expect(try await session.shop.store.digest() == before, "\(name): a refusal left a trace")
                }
            }
            let seen = try await session.shop.localLinks()
            let report = try await session.shop.push()
            let comment: Comment = "\(name), round \(round)"
            #expect(report.rejected.map(\.refusal.message) == [], comment)
            if report.remaining > 0, holds {
                let held = try await session.shop.store.uploads.plan().held.values
                #expect(held.count == report.remaining, comment)
                #expect(held.contains { if case .noLegalPlan = $0 { true } else { false } }, comment)
                #expect(
                    held.allSatisfy {
                        switch $0 {
                        case .noLegalPlan, .waitsFor: true
                        default: false
                        }
                    }, comment)
                #expect(try await session.shop.localLinks() == seen, "\(comment): the upload changed the links")
                return
            }
            #expect(report.remaining == 0, comment)
            #expect(try await session.shop.localLinks() == seen, "\(comment): the upload changed the links")
            let service = Set(try await session.shop.serviceState())
            let local = Set(try await session.shop.localState())
            #expect(local.symmetricDifference(service).sorted() == [], comment)
            try await session.shop.pull()
            let pulled = Set(try await session.shop.localState())
            #expect(pulled.symmetricDifference(service).sorted() == [], "\(comment), after the download")
        }
    }
}

extension Shop {
    /// Returns all links by entity ID. An upload assigns keys, but must not change these lines.
    func localLinks() async throws -> [String] {
        let model = try await store.model
        var lines: [String] = []
        for set in Shop.sets {
            let names = model.findEntitySet(set)?.entityType.navigationProperties.map(\.name) ?? []
            guard !names.isEmpty else { continue }
            for entity in try await store.query(set + "?$expand=" + names.joined(separator: ",")).entities {
                let id = entity.entityID.map(\.description) ?? ""
                lines.append(id)
                for level in entity.expanded {
                    for target in level.entities {
                        lines.append("\(id) \(level.navigation) \(target.entityID?.description ?? "")")
                    }
                }
            }
        }
        return lines.sorted()
    }
}

/// Number of random sessions for each combination of missing service capabilities. `TIDELOG_SESSIONS` increases it.
private enum Effort {
    static let seeds: [UInt64] = Array(
        1...max(2, ProcessInfo.processInfo.environment["TIDELOG_SESSIONS"].flatMap { UInt64($0) } ?? 2))
}
