import EDM
import ODataWire
import OfflineStore
import Operations
import SyncCore

/// The check of linked creations in doubt.
struct CreationVerification {
    private let pending: [PendingOperation]
    /// The entities of the store with these creations' marks, by mark: the created ones and downloaded ones.
    private var entities: [String: Set<EntityID>] = [:]
    private let ledger: Ledger

    private init(_ device: Device, in run: isolated Simulation) async throws {
        pending = try await device.store.queue.pendingOperations()
        ledger = run.service.ledger
        for set in FieldService.sets {
            for entity in try await device.store.query(set).entities {
                guard let mark = entity.values["Mark"]?.stringValue, mark.hasPrefix(LinkedCreations.mark),
                    let id = entity.entityID
                else { continue }
                entities[mark, default: []].insert(id)
            }
        }
    }

    /// Checks that no linked creations are in doubt after an upload without faults, which followed a download, if the
    /// service has each of their entities once and as it was sent: no decision of the user is required.
    static func check(_ device: Device, in run: isolated Simulation) async {
        // A gateway refuses requests whose outcome it lost. Removed entities are no evidence.
        guard run.serviceOptions.doubts == .evidence, run.gateway == nil, run.habits.removedSets.isEmpty else { return }
        do {
            let awaited = Set(try await device.store.doubts.awaitedOperations().values.joined())
            let sets = try await device.store.doubts.inDoubtSets().filter { members in
                members.contains { $0.createsLinked } && !members.contains { awaited.contains($0.sequence) }
            }
            guard !sets.isEmpty else { return }
            let verification = try await CreationVerification(device, in: run)
            for members in sets where verification.isUnambiguous(members) {
                run.violated("d\(device.number): the linked creations \(members.map(\.sequence)) stay in doubt.")
            }
        } catch {
            if !device.hasCrashed { run.violated("d\(device.number): the creations in doubt cannot be read: \(error)") }
        }
    }

    /// Returns whether the service shows that the operations took effect.
    private func isUnambiguous(_ members: [PendingOperation]) -> Bool {
        let own = Set(members.map(\.sequence))
        return members.allSatisfy { member in
            guard member.operation.call == nil, !DoubtReason.isOfRefusal(member.doubtReason) else { return false }
            switch member.operation.action {
            case .create(let creation, _): return creation.all.allSatisfy { isThere($0, own) }
            case .createLink, .updateLink: return true
            case .update, .delete, .deleteLink: return false
            }
        }
    }

    /// Returns whether the service has the entity once, with the values that were sent, and no other operation of the
    /// device refers to a downloaded copy of it.
    private func isThere(_ creation: Creation, _ members: Set<SequenceNumber>) -> Bool {
        guard let mark = creation.values["Mark"]?.stringValue, mark.hasPrefix(LinkedCreations.mark),
            ledger.created[mark] == 1, ledger.present.contains(mark),
            Ledger.texts.allSatisfy({ ledger.values["\(mark) \($0)"] == creation.values[$0]?.stringValue })
        else { return false }
        let copies = entities[mark, default: []].subtracting([creation.entity])
        return pending.allSatisfy {
            members.contains($0.sequence) || copies.isDisjoint(with: $0.operation.touchedEntities)
        }
    }
}

extension PendingOperation {
    /// Whether the operation creates an entity of ``LinkedCreations``.
    fileprivate var createsLinked: Bool {
        guard case .create(let creation, _) = operation.action else { return false }
        return creation.values["Mark"]?.stringValue?.hasPrefix(LinkedCreations.mark) ?? false
    }
}
