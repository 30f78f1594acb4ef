import EDM
import Operations

/// Verifies that the final state of the service is exactly the result of the operations that the devices report as done.
struct OutcomeVerification {
    let ledger: Ledger
    let orphaned: OrphanedRequests
    /// The values before the run, by `mark property`.
    let initialValues: [String: String]
    private var violations: [String] = []

    init(ledger: Ledger, orphaned: OrphanedRequests, initialValues: [String: String]) {
        self.ledger = ledger
        self.orphaned = orphaned
        self.initialValues = initialValues
    }

    /// Returns the violations as sentences.
    mutating func violations(in accounts: [DeviceHistory]) -> [String] {
        verifyPresence(accounts)
        verifyValues(accounts)
        verifyLabels(accounts)
        verifyCustomers(accounts)
        for account in accounts { verifyOverwriting(account) }
        return violations
    }

    private mutating func violated(_ violation: String) { violations.append(violation) }

    /// Checks that each created entity exists unless it was deleted, and that no deleted entity exists.
    private mutating func verifyPresence(_ accounts: [DeviceHistory]) {
        let deletions = accounts.flatMap(\.deletions)
        let deleted = Set(deletions.filter { $0.standing == .done }.map(\.mark))
        let perhapsDeleted = Set(deletions.filter { $0.standing != .without }.map(\.mark)).union(orphaned.removed)
        let present = ledger.present
        for mark in deleted.intersection(present).sorted() where orphaned.created[mark] == nil {
            violated("\(mark) was deleted but still exists.")
        }
        for mark in ledger.created.keys.sorted() where !present.contains(mark) && !perhapsDeleted.contains(mark) {
            violated("\(mark) is missing, but was not deleted.")
        }
    }

    /// Checks that each value is the last one that a device wrote. If several devices wrote it, any of their last
    /// values is valid.
    private mutating func verifyValues(_ accounts: [DeviceHistory]) {
        let claims = accounts.map(\.values)
        for place in Set(claims.flatMap(\.keys)).union(ledger.values.keys).sorted() {
            let mark = String(place.prefix { $0 != " " })
            guard ledger.present.contains(mark), orphaned.created[mark] == nil else { continue }
            var possible: Set<String?> = []
            for claim in claims.compactMap({ $0[place] }) {
                let texts = claim.perhaps.union(claim.last.map { [$0] } ?? [])
                possible.formUnion(texts.map { $0.isEmpty ? nil : $0 })
            }
            if !claims.contains(where: { $0[place]?.last != nil }) { possible.insert(initialValues[place]) }
            let value = ledger.values[place]
            guard !possible.contains(value), orphaned.written[value ?? ""] == nil else { continue }
            violated(
                "\(place) is \(value ?? "null"), not \(possible.map { $0 ?? "null" }.sorted().joined(separator: " or "))."
            )
        }
    }

    private mutating func verifyLabels(_ accounts: [DeviceHistory]) {
        let claims = accounts.map(\.labels)
        for place in Set(claims.flatMap(\.keys)).union(ledger.links.filter { $0.contains(" Labels ") }).sorted() {
            let ends = place.split(separator: " ").map(String.init)
            guard [ends[0], ends[2]].allSatisfy({ ledger.present.contains($0) && orphaned.created[$0] == nil }),
                !orphaned.links.contains(place)
            else { continue }
            let isLinked = ledger.links.contains(place)
            let those = claims.compactMap { $0[place] }
            guard !those.contains(where: { $0.last == isLinked || $0.perhaps.contains(isLinked) }) else { continue }
            if !isLinked, those.allSatisfy({ $0.last == nil }) { continue }
            violated("\(place) \(isLinked ? "exists" : "is missing"), but no operation caused that.")
        }
    }

    private mutating func verifyCustomers(_ accounts: [DeviceHistory]) {
        let claims = accounts.map(\.customers)
        for order in Set(claims.flatMap(\.keys)).sorted() {
            guard ledger.present.contains(order), orphaned.created[order] == nil,
                !orphaned.links.contains(where: { $0.hasPrefix("\(order) Customer ") })
            else { continue }
            let found = ledger.links.first { $0.hasPrefix("\(order) Customer ") }?.split(separator: " ").last.map(
                String.init)
            var possible: Set<String> = []
            for claim in claims.compactMap({ $0[order] }) {
                if let last = claim.last { possible.insert(last) }
                possible.formUnion(claim.perhaps)
            }
            if !claims.contains(where: { $0[order]?.last != nil }) { possible.insert(order == "s4" ? "s1" : "") }
            // Deleting a customer also deletes its links.
            if possible.contains(where: { !$0.isEmpty && !ledger.present.contains($0) }) { possible.insert("") }
            guard !possible.contains(found ?? "") else { continue }
            violated(
                "\(order) belongs to \(found ?? "no customer"), not to \(possible.sorted().joined(separator: " or ")).")
        }
    }

    /// Checks that an operation overwrites another device's value only if its own device had seen that value, or after
    /// a conflict resolution.
    private mutating func verifyOverwriting(_ account: DeviceHistory) {
        var own: [String: (sequence: SequenceNumber, entity: EntityID)] = [:]
        for (sequence, operation) in account.operations {
            guard case .update(let entity, let changes, _) = operation.action else { continue }
            for text in changes.compactMap(\.value.stringValue) { own[text] = (sequence, entity) }
        }
        var made: Set<String> = []
        for (_, operation) in account.operations {
            if case .create(let creation, _) = operation.action {
                made.formUnion(creation.all.flatMap { $0.values.compactMap(\.value.stringValue) })
            }
        }
        for write in ledger.writes {
            guard let after = write.after, let (sequence, entity) = own[after], orphaned.written[after] == nil,
                let before = write.before, own[before] == nil, !made.contains(before),
                initialValues["\(write.mark) \(write.property)"] != before
            else { continue }
            if let seen = account.history.seen[before], seen < sequence { continue }
            if let decision = account.history.decisions[entity], decision > sequence { continue }
            if account.history.redone.contains(sequence) || account.isUnguarded(sequence, entity)
                || account.followsCall(sequence, entity)
            {
                continue
            }
            violated(
                "d\(account.device): operation \(sequence) (\(after)) overwrote \(before), which the device had not read, "
                    + "without a decision.")
        }
    }
}
