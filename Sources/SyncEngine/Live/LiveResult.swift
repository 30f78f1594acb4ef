public import SyncCore

/// What a live query says now, and what that changes.
public struct LiveResult: Sendable, Hashable {
    public var answer: QueryAnswer
    /// From the result before to this one. Of the first result, everything is inserted.
    public var difference: ListDifference<ResultIdentity>
    /// Of all that happened since the result before; empty for the first.
    public var causes: Set<ChangeCause>

    init(_ answer: QueryAnswer, after last: QueryAnswer?, causes: Set<ChangeCause>) {
        self.answer = answer
        difference = ListDifference(
            from: last?.entities ?? [], to: answer.entities, identity: ResultIdentity.init)
        self.causes = causes
        if let last, Self.hasNewLinks(last.entities, answer.entities) { self.causes.insert(.keyAssignment) }
    }

    /// Whether an entity, on any level, is read by another link than before: an entity without a key is read by its ID.
    private static func hasNewLinks(_ old: [EntitySnapshot], _ new: [EntitySnapshot]) -> Bool {
        var links: [ResultIdentity: String] = [:]
        visit(old) { links[ResultIdentity($0)] = $0.readLink }
        var isNew = false
        visit(new) { entity in
            if let link = links[ResultIdentity(entity)], link != entity.readLink { isNew = true }
        }
        return isNew
    }

    private static func visit(_ entities: [EntitySnapshot], _ body: (EntitySnapshot) -> Void) {
        for entity in entities {
            body(entity)
            for level in entity.expanded { visit(level.entities, body) }
        }
    }
}
