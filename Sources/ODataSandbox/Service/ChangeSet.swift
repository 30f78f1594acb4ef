internal import EDM
internal import ODataWire

/// The reason for the rollback of a change set, and the request that caused it, if it is known.
struct ChangeSetFailure: Error, Hashable {
    var error: SandboxError
    let contentID: String?
    /// The index of the request, counted from 0.
    var place: Int?
}

/// The modifications of one change set.
struct ChangeSet {
    private let members: [BatchPart.Member]
    private let view: ServiceView
    /// For each member, the Content-IDs of the change set that it refers to.
    private let references: [Set<String>]
    private let identifiers: Set<String>

    init(_ members: [BatchPart.Member], _ view: ServiceView) {
        self.members = members
        self.view = view
        let identifiers = Set(members.compactMap(\.contentID))
        self.identifiers = identifiers
        references = members.map { ContentIDReferences.all(in: $0.request).intersection(identifiers) }
    }

    /// Executes the members atomically. The returned transaction is finished and may be kept.
    ///
    /// - Parameter left: The changes that remain if the change set is rejected and the service does not roll back.
    func perform(
        on state: SandboxState, leaving left: inout Transaction?
    ) throws(ChangeSetFailure) -> ([ModificationOutcome], Transaction) {
        var modifications = Modifications(view: view, state: state)
        var outcomes: [ModificationOutcome] = Array(repeating: .done, count: members.count)
        var waiting = Array(members.indices)
        while !waiting.isEmpty {
            // V2 change sets are unordered: a request waits for those that it refers to. V4 permits backward references
            // only.
            let ready = waiting.firstIndex { references[$0].isSubset(of: modifications.contentIDs.keys) }
            let index = waiting.remove(at: view.isLegacy ? ready ?? 0 : 0)
            let member = members[index]
            do throws(SandboxError) {
                let request = try view.untunnelled(member.request)
                try view.requireReferences(of: member.request, among: identifiers)
                guard request.method != "GET", request.method != "HEAD" else {
                    throw SandboxError(400, .invalidBatch, "A change set must not contain \(request.method).")
                }
                outcomes[index] = try modifications.perform(request)
            } catch {
                throw ChangeSetFailure(error: error, contentID: member.contentID)
            }
            if let id = member.contentID, let row = outcomes[index].row { modifications.contentIDs[id] = row }
            if !view.capabilities.rollsBackChangeSets { keep(modifications.transaction, in: &left) }
        }
        do throws(SandboxError) {
            try modifications.transaction.finish()
        } catch {
            let culprit = members.indices.last { error.row != nil && outcomes[$0].row == error.row }
            throw ChangeSetFailure(error: error, contentID: culprit.flatMap { members[$0].contentID })
        }
        left = nil
        return (outcomes, modifications.transaction)
    }

    /// Keeps the changes so far if they satisfy all rules.
    private func keep(_ transaction: Transaction, in left: inout Transaction?) {
        var transaction = transaction
        do throws(SandboxError) {
            try transaction.finish()
            left = transaction
        } catch {}
    }
}
