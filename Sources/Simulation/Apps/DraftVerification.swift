import EDM
import Operations

/// Verifies at the end of a run, by the logs of the devices and the history of the service, that drafts of entities
/// have an effect only by their activation, and then once and together.
struct DraftVerification {
    let ledger: Ledger
    let supportsBatch: Bool

    /// The number of activations whose changes are all at the service.
    private(set) var uploaded = 0
    private var violations: [String] = []

    init(ledger: Ledger, supportsBatch: Bool) {
        self.ledger = ledger
        self.supportsBatch = supportsBatch
    }

    /// Returns the violations as sentences.
    mutating func violations(in accounts: [DeviceHistory]) -> [String] {
        for account in accounts { verify(account) }
        return violations
    }

    private mutating func verify(_ account: DeviceHistory) {
        var activated: [String: SequenceNumber] = [:]
        var groups: [SequenceNumber: [SequenceNumber]] = [:]
        for (sequence, operation) in account.operations {
            var texts = operation.texts.filter { Self.isOfDraft($0, account.device) }
            // A replacement of all values repeats the mark of the entity that the activation created.
            if case .update = operation.action {
                texts = texts.filter { activated[$0] == nil || !$0.hasPrefix("n") }
            }
            for text in texts {
                if let first = activated.updateValue(sequence, forKey: text) {
                    violations.append(
                        "d\(account.device): \(text) of a draft is in operations \(first) and \(sequence).")
                }
            }
            if !texts.isEmpty { groups[operation.changeSet ?? sequence, default: []].append(sequence) }
        }
        for operation in account.history.draftOperations.sorted(by: { $0.key < $1.key }).map(\.value) {
            for text in operation.texts where Self.isOfDraft(text, account.device) && activated[text] == nil {
                guard ledger.written[text] != nil || ledger.created[text] != nil else { continue }
                violations.append("d\(account.device): \(text) of a draft is at the service without an activation.")
            }
        }
        for (_, members) in groups.sorted(by: { $0.key < $1.key }) { verify(members, account) }
    }

    /// Checks that the operations of an activation took effect in the same change set.
    private mutating func verify(_ members: [SequenceNumber], _ account: DeviceHistory) {
        let done = members.filter { if case .done = account.standing(of: $0) { true } else { false } }
        if done.count == members.count { uploaded += 1 }
        guard supportsBatch else { return }
        let places = Set(done.compactMap { account.history.sentWith[$0] })
        if places.count > 1 {
            violations.append("d\(account.device): the activation \(members) was sent in \(places.count) change sets.")
        }
    }

    /// Returns whether a value was first written into a draft of the device.
    private static func isOfDraft(_ text: String, _ device: Int) -> Bool {
        text.hasPrefix("w\(device)-") || text.hasPrefix("n\(device)-")
    }
}
