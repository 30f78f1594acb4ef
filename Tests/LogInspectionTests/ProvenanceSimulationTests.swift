import DiskSimulation
import EDM
import Foundation
import Operations
import Simulation
import SyncEngine
import Testing

@testable import LogInspection

/// What blame says is what the store shows, after random work and random trouble.
struct ProvenanceSimulationTests {
    /// `TIDELOG_PROVENANCE_RUNS` asks for more.
    private static let runs = max(
        1, ProcessInfo.processInfo.environment["TIDELOG_PROVENANCE_RUNS"].flatMap { UInt64($0) } ?? 12)
    private static let navigations = [
        "Customers": ["Labels", "Orders"], "Orders": ["Customer", "Items"], "Items": ["Order"], "Labels": ["Customers"],
        "Visits": [],
    ]

    @Test(arguments: 1...runs)
    func `blame says what the store shows, and names who wrote it`(_ seed: UInt64) async throws {
        let simulation = Simulation(seed: seed)
        _ = await simulation.run()
        for disk in await simulation.disks {
            let inspected = InspectedStore(directory: "/store", fileSystem: disk)
            let past = try await inspected.past(at: .sequence(.max))
            for (set, navigations) in Self.navigations {
                let expansion = navigations.isEmpty ? "" : "?$expand=" + navigations.joined(separator: ",")
                for entity in try await past.store.query(set + expansion).entities {
                    let id = try #require(entity.entityID)
                    let provenance = try inspected.provenance(of: try #require(EntityReference("\(set)(\(id))")))
                    let shown = Self.shown(entity)
                    #expect(Self.told(provenance) == shown, "seed \(seed), \(entity.readLink) (\(id))")
                    for line in provenance.lines {
                        #expect(line.cause != nil, "seed \(seed), \(entity.readLink) (\(id)), \(line.aspect)")
                    }
                    #expect(
                        Self.afterChanges(provenance) == shown, "seed \(seed), history of \(entity.readLink) (\(id))")
                    let byKey = try inspected.provenance(of: try #require(EntityReference(entity.readLink)))
                    #expect(byKey.entity == id, "seed \(seed), \(entity.readLink)")
                }
            }
        }
    }

    private static func shown(_ entity: EntitySnapshot) -> [String: String] {
        var parts: [String: String] = [:]
        for (name, value) in entity.values { parts[name] = "\(value)" }
        for level in entity.expanded where !level.entities.isEmpty {
            parts[level.navigation] = level.entities.map(\.readLink).sorted().joined(separator: " ")
        }
        return parts
    }

    private static func told(_ provenance: Provenance) -> [String: String] {
        var parts: [String: String] = [:]
        for line in provenance.lines {
            guard let name = line.aspect.name else { continue }
            switch line.content {
            case .value(let value): parts[name] = "\(value)"
            case .entities(let entities):
                let others = parts[name].map { $0.split(separator: " ").map(String.init) } ?? []
                parts[name] = (others + entities).sorted().joined(separator: " ")
            case .absent, .present: break
            }
        }
        return parts
    }

    /// What the last visible change of each part led to. Entities are named as they were named then, so of links only whether
    /// there are any.
    private static func afterChanges(_ provenance: Provenance) -> [String: String] {
        var parts: [String: String] = [:]
        for change in provenance.changes where change.isVisible {
            if change.aspect == .existence, change.after == .absent { parts = [:] }
            guard let name = change.aspect.name else { continue }
            switch change.after {
            case .value(let value): parts[name] = "\(value)"
            case .entities: parts[name] = told(provenance)[name]
            case .absent, .present: parts[name] = nil
            }
        }
        return parts
    }
}
