import Operations

extension UploadPlan {
    /// Splits the plan into parts, in order.
    ///
    /// No part contains more than half of the suspects, or both suspects and other change sets. If one suspect makes
    /// the service fail, each upload therefore halves the number of suspects.
    func parts(halving suspects: Set<SequenceNumber>) -> [UploadPlan] {
        // The operations are listed only if there are suspects.
        if suspects.isEmpty { return isEmpty ? [] : [part(changeSets)] }
        let isSuspect = changeSets.map { !suspects.isDisjoint(with: $0.operations) }
        let limit = max(1, isSuspect.count { $0 } / 2)
        var parts: [[PlannedChangeSet]] = []
        for (index, changeSet) in changeSets.enumerated() {
            if index > 0, isSuspect[index] == isSuspect[index - 1],
                !isSuspect[index] || parts[parts.count - 1].count < limit
            {
                parts[parts.count - 1].append(changeSet)
            } else {
                parts.append([changeSet])
            }
        }
        return parts.map { part($0) }
    }

    /// The change sets in two plans. No change set is split.
    var halves: [UploadPlan] {
        let middle = changeSets.count / 2
        return [part(changeSets[..<middle]), part(changeSets[middle...])]
    }

    /// Each change set as a plan of its own.
    var singleRequests: [UploadPlan] { changeSets.map { part([$0]) } }

    /// The plan split into parts, in order, so that each stream write is alone.
    var partsByStream: [UploadPlan] {
        guard writesStream else { return [self] }
        var parts: [UploadPlan] = []
        for single in singleRequests {
            if let last = parts.last, !last.writesStream, !single.writesStream {
                parts[parts.count - 1].changeSets += single.changeSets
            } else {
                parts.append(single)
            }
        }
        return parts
    }
}
