import EDM
import Operations

/// Exactly one effect for each operation that is through, and none for any other.
extension Simulation {
    func verifyEffects(_ accounts: [Account]) {
        for (mark, count) in service.ledger.created.sorted(by: { $0.key < $1.key }) {
            if count > 1 + stray.created[mark, default: 0] { violated("\(mark) was created \(count) times.") }
        }
        for account in accounts {
            let tags = Set(account.operations.compactMap(\.operation.customTag))
            let lost = account.acknowledged.subtracting(tags).sorted()
            if !lost.isEmpty { violated("d\(account.device) lost what it had acknowledged: \(lost)") }
            // Of what is written and written again in one request only the last is ever seen.
            var covered: Set<String> = []
            for (sequence, operation) in account.operations.reversed() {
                for effect in effects(of: operation, sequence, account, &covered) where !effect.isPossible {
                    violated(
                        "d\(account.device): operation \(sequence) (\(effect.name)) is \(effect.standing) and had "
                            + "\(effect.count) effects.")
                }
            }
        }
    }

    /// A new entity or a new value, and how often it came to be.
    private struct Effect {
        let name: String
        let standing: Account.Standing
        let count: Int
        let allowed: ClosedRange<Int>

        var isPossible: Bool { allowed.contains(count) }
    }

    /// - Parameter covered: entities, and properties of entities, that later operations of the device write to.
    private func effects(
        of operation: Operation, _ sequence: SequenceNumber, _ account: Account, _ covered: inout Set<String>
    ) -> [Effect] {
        let (ledger, standing) = (service.ledger, account.standing(of: sequence))
        switch operation.action {
        case .create(let creation, _):
            return creation.all.compactMap { $0.values["Mark"]?.stringValue }.map { mark in
                let extra = stray.created[mark, default: 0]
                return Effect(
                    name: mark, standing: standing, count: ledger.created[mark] ?? 0,
                    allowed: standing == .done ? 1...1 + extra : 0...(standing == .without ? extra : 1 + extra))
            }
        case .update(let entity, let changes, _):
            var effects: [Effect] = []
            for (name, value) in changes {
                guard let text = value.stringValue else { continue }
                let isCovered = covered.contains("\(entity)") || covered.contains("\(entity) \(name)")
                effects.append(
                    Effect(
                        name: text, standing: standing, count: ledger.written[text] ?? 0,
                        allowed: allowed(text, standing, sequence, account, isCovered: isCovered)))
            }
            if standing != .without { covered.formUnion(changes.map { "\(entity) \($0.name)" }) }
            return effects
        case .delete(let entity):
            if standing != .without { covered.insert("\(entity)") }
            return []
        default: return []
        }
    }

    private func allowed(
        _ text: String, _ standing: Account.Standing, _ sequence: SequenceNumber, _ account: Account, isCovered: Bool
    ) -> ClosedRange<Int> {
        // Whoever was faster may have hidden from the device that the value had been there. Somebody decided then whether it
        // was to be there again.
        let isHidden = account.history.doubted.contains(sequence) && isOverwritten(text)
        let isAgain = isHidden && account.history.decided.contains(sequence)
        switch standing {
        case .done: return (isCovered ? 0 : 1)...(isAgain ? 2 : 1)
        case .unknown: return 0...1
        case .without: return 0...(isHidden ? 1 : stray.written[text, default: 0])
        }
    }

    /// Whether a value was there and is not there any more.
    private func isOverwritten(_ text: String) -> Bool {
        let ledger = service.ledger
        return ledger.writes.contains { $0.before == text }
            || ledger.written[text] != nil && !ledger.values.values.contains(text)
    }
}
