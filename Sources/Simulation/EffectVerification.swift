import EDM
import Operations

/// Verifies that each completed operation has exactly one effect, and any other operation none.
struct EffectVerification {
    let ledger: Ledger
    let orphaned: OrphanedRequests

    /// Returns the violations as sentences.
    func violations(in accounts: [DeviceHistory]) -> [String] {
        var violations: [String] = []
        for (mark, count) in ledger.created.sorted(by: { $0.key < $1.key }) {
            if count > 1 + orphaned.created[mark, default: 0] {
                violations.append("\(mark) was created \(count) times.")
            }
        }
        for account in accounts {
            let tags = Set(account.operations.compactMap(\.operation.customTag))
            let lost = account.acknowledged.subtracting(tags).sorted()
            if !lost.isEmpty { violations.append("d\(account.device) lost acknowledged operations: \(lost)") }
            var covered: Set<OverwrittenItem> = []
            for (sequence, operation) in account.operations.reversed() {
                for effect in effects(of: operation, sequence, account, &covered) where !effect.isPossible {
                    violations.append(
                        "d\(account.device): operation \(sequence) (\(effect.name)) is \(effect.standing) and had "
                            + "\(effect.count) effects.")
                }
            }
        }
        return violations
    }

    /// A new entity or value, and the number of times that it was created.
    private struct Effect {
        let name: String
        let standing: DeviceHistory.Outcome
        let count: Int
        let allowed: ClosedRange<Int>

        var isPossible: Bool { allowed.contains(count) }
    }

    /// An entity or property that a later operation of the same change set writes. The effect of earlier operations of
    /// that change set on it is never visible.
    private struct OverwrittenItem: Hashable {
        let entity: EntityID
        var property: String?
        let place: History.ChangeSetPosition
    }

    /// - Parameter covered: The entities and properties that later operations of the device write.
    private func effects(
        of operation: Operation, _ sequence: SequenceNumber, _ account: DeviceHistory,
        _ covered: inout Set<OverwrittenItem>
    ) -> [Effect] {
        let standing = account.standing(of: sequence)
        let place = account.history.sentWith[sequence]
        func isCovered(_ entity: EntityID, _ property: String? = nil) -> Bool {
            place.map { covered.contains(OverwrittenItem(entity: entity, property: property, place: $0)) } ?? false
        }
        func cover(_ entity: EntityID, _ property: String? = nil) {
            guard standing != .without, let place else { return }
            covered.insert(OverwrittenItem(entity: entity, property: property, place: place))
        }
        let call = operation.calledMark.map { mark in
            let extra = orphaned.created[mark, default: 0]
            return Effect(
                name: mark, standing: standing, count: ledger.created[mark] ?? 0,
                allowed: (standing == .done ? 1 : 0)...(standing == .without ? extra : 1 + extra))
        }
        switch operation.action {
        case .create(let creation, _):
            return creation.all.map { created in
                let mark = account.mark(created.entity)
                let extra = orphaned.created[mark, default: 0]
                let least = standing == .done && !isCovered(created.entity) ? 1 : 0
                return Effect(
                    name: mark, standing: standing, count: ledger.created[mark] ?? 0,
                    allowed: least...(standing == .without ? extra : 1 + extra))
            }
        case .update(let entity, let changes, _):
            var effects = call.map { [$0] } ?? []
            for (name, value) in changes where Ledger.texts.contains(name) {
                guard let text = value.stringValue else { continue }
                let isCovered = isCovered(entity) || isCovered(entity, name)
                effects.append(
                    Effect(
                        name: text, standing: standing, count: ledger.written[text] ?? 0,
                        allowed: allowed(text, standing, sequence, account, isCovered: isCovered)))
            }
            for change in changes { cover(entity, change.name) }
            return effects
        case .delete(let entity):
            cover(entity)
            return []
        default: return []
        }
    }

    private func allowed(
        _ text: String, _ standing: DeviceHistory.Outcome, _ sequence: SequenceNumber, _ account: DeviceHistory,
        isCovered: Bool
    ) -> ClosedRange<Int> {
        // A faster client may have hidden from the device that the value had existed. A conflict resolution then
        // decided whether to write it again.
        let isHidden = account.history.doubted.contains(sequence) && isOverwritten(text)
        let isAgain = isHidden && account.history.decided.contains(sequence)
        switch standing {
        case .done: return (isCovered ? 0 : 1)...(isAgain ? 2 : 1)
        case .unknown: return 0...1
        case .without: return 0...(isHidden ? 1 : orphaned.written[text, default: 0])
        }
    }

    /// Returns whether a value existed and does not exist any more.
    private func isOverwritten(_ text: String) -> Bool {
        return ledger.writes.contains { $0.before == text }
            || ledger.written[text] != nil && !ledger.values.values.contains(text)
    }
}
