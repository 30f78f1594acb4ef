import EDM

/// Builds the refusal for entities that would lose a mandatory partner: the entities, the reasons, and legal
/// alternatives.
struct CardinalityRefusal {
    /// The reason why the partner is missing.
    enum Cause: Hashable {
        /// There was never a partner.
        case isNew
        case deleted(String)
        case pushedOut(of: String, by: String)
        case unlinked(String?)
    }

    private struct Group {
        let end: RelationshipIndex.End
        let cause: Cause
        var names: [String]
    }

    private var groups: [Group] = []

    mutating func add(_ name: String, at end: RelationshipIndex.End, because cause: Cause) {
        if let index = groups.firstIndex(where: { $0.end == end && $0.cause == cause }) {
            groups[index].names.append(name)
        } else {
            groups.append(Group(end: end, cause: cause, names: [name]))
        }
    }

    /// The refusal, or nil if nothing was added.
    var refused: OperationRefused? {
        guard !groups.isEmpty else { return nil }
        return OperationRefused(
            .mandatoryEnd, message, recovery: pair ?? advice(groups[0]))
    }

    private var message: String {
        let sentences = groups.prefix(2).map(sentence)
        let others = groups.dropFirst(2).flatMap(\.names)
        return (sentences + (others.isEmpty ? [] : ["The same applies to \(Self.list(others))."])).joined(
            separator: " ")
    }

    private func sentence(_ group: Group) -> String {
        let names = (group.cause == .isNew ? "The new " : "") + Self.list(group.names)
        let each = group.names.count == 1 ? "it" : "each"
        let text =
            "\(names) would have no \(group.end.name), which \(each) must have (multiplicity 1)"
        return switch group.cause {
        case .isNew, .unlinked(nil): "\(text)."
        case .deleted(let partner): "\(text): \(partner) would be deleted."
        case .pushedOut(let partner, let other): "\(text): \(other) would take its place at \(partner)."
        case .unlinked(let partner?): "\(text): it would be unlinked from \(partner)."
        }
    }

    /// The advice for two entities that displace each other's partners: to link them to each other.
    private var pair: String? {
        guard groups.count == 2, groups.allSatisfy({ $0.names.count == 1 && $0.cause.isPushedOut }),
            groups[0].end.relationship == groups[1].end.relationship, groups[0].end.isFirst != groups[1].end.isFirst
        else { return nil }
        return "Link \(groups[0].names[0]) and \(groups[1].names[0]) to each other in the same change set, or each to "
            + "another partner, or delete them there."
    }

    private func advice(_ group: Group) -> String {
        let names = Self.list(group.names)
        let partners = group.end.partners
        switch group.cause {
        case .isNew where group.end.partnerMultiplicity == .one:
            return
                "Create it together with a new entity of \(partners): by a deep insert, or in one change set that links "
                + "the two."
        case .isNew:
            return
                "Create it with a partner: bind one of \(partners), create it through a navigation property of one, or "
                + "put both into one change set."
        case .deleted:
            return
                "Add the delete of \(names) to the same change set, or link \(group.names.count == 1 ? "it" : "them") to "
                + "another entity of \(partners) there."
        case .pushedOut:
            return "Link \(names) to another entity of \(partners) in the same change set, or delete it there."
        case .unlinked(let partner?) where group.end.partnerMultiplicity == .one:
            return
                "Link \(names) to another entity of \(partners) instead, or delete \(names) and \(partner) in one change "
                + "set."
        case .unlinked:
            return "Link \(names) to another entity of \(partners) instead, or delete it."
        }
    }

    /// Returns a list such as `A`, `A and B`, or `A, B and C`, with at most five names.
    private static func list(_ names: [String]) -> String {
        let shown = names.prefix(5)
        let rest = names.count - shown.count
        let all = shown + (rest > 0 ? ["\(rest) more"] : [])
        guard let last = all.last, all.count > 1 else { return all.first ?? "" }
        return all.dropLast().joined(separator: ", ") + " and " + last
    }
}

extension CardinalityRefusal.Cause {
    fileprivate var isPushedOut: Bool { if case .pushedOut = self { true } else { false } }
}
