import DiskSimulation
import EDM
import Foundation
import OfflineStore
import Operations
import Simulation
import Testing

@testable import LogInspection

/// Provenance agrees with the content of the store after random operations and faults.
struct ProvenanceSimulationTests {
    /// `TIDELOG_PROVENANCE_RUNS` sets the number of runs.
    private static let runs = max(
        1, ProcessInfo.processInfo.environment["TIDELOG_PROVENANCE_RUNS"].flatMap { UInt64($0) } ?? 12)
    private static let navigations = [
        "Customers": ["Labels", "Orders"], "Orders": ["Customer", "Items"], "Items": ["Order"], "Labels": ["Customers"],
        "Visits": [],
    ]

    @Test(arguments: 1...runs)
    func `the provenance of each value agrees with the store and states its cause`(_ seed: UInt64) async throws {
        let simulation = Simulation(seed: seed)
        _ = await simulation.run()
        for disk in await simulation.disks {
            let inspected = InspectedStore(directory: "/store", keys: simulation.keys, fileSystem: disk)
            let past = try await inspected.past(at: .sequence(.max))
            for (set, navigations) in Self.navigations {
                let expansion = navigations.isEmpty ? "" : "?$expand=" + navigations.joined(separator: ",")
                for entity in try await past.store.query(set + expansion).entities {
                    let id = try #require(entity.entityID)
                    let provenance = try inspected.provenance(of: try #require(EntityReference("\(set)(\(id))")))
                    let shown = Self.shown(entity)
                    #expect(Self.reported(provenance) == shown, "seed \(seed), \(entity.readLink) (\(id))")
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

    private static func reported(_ provenance: Provenance) -> [String: String] {
        var parts: [String: String] = [:]
        for line in provenance.lines {
            // A link without a navigation property at this end has the name of the other end with its set.
            guard let name = line.aspect.name, !name.contains("/") else { continue }
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

    /// Returns the final content of each property according to the visible changes. Entities have the names of that
    /// time, so of links only the number is returned.
    private static func afterChanges(_ provenance: Provenance) -> [String: String] {
        var parts: [String: String] = [:]
        var links: [String: Int] = [:]
        for change in provenance.changes where change.isVisible {
            if change.aspect == .existence, change.after == .absent { (parts, links) = ([:], [:]) }
            guard let name = change.aspect.name, !name.contains("/") else { continue }
            if case .link = change.aspect {
                links[name, default: 0] += count(change.after) - count(change.before)
            } else if case .value(let value) = change.after {
                parts[name] = "\(value)"
            } else {
                parts[name] = nil
            }
        }
        let reported = reported(provenance)
        for (name, count) in links where count != 0 {
            let now = reported[name] ?? ""
            parts[name] = now.split(separator: " ").count == count ? now : "\(count) entities"
        }
        return parts
    }

    private static func count(_ content: Provenance.AspectValue) -> Int {
        if case .entities(let entities) = content { entities.count } else { 0 }
    }
}
