public import SyncCore

/// A result of a live query, and its difference from the previous one.
public struct LiveResult: Sendable, Hashable {
    package var answer: QueryAnswer
    /// The difference from the previous result. In the first result everything is inserted.
    public var difference: ListDifference<ResultIdentity>
    /// The causes of all changes since the previous result; empty for the first one.
    public var causes: Set<ChangeCause>

    init(_ answer: QueryAnswer, after last: QueryAnswer?, causes: Set<ChangeCause>) {
        self.answer = answer
        difference = ListDifference(
            from: last?.entities ?? [], to: answer.entities, identity: ResultIdentity.init)
        self.causes = causes
        if let last, Self.hasNewLinks(last.entities, answer.entities) { self.causes.insert(.keyAssignment) }
    }

    /// Returns whether an entity, on any level, has another readLink than before. The readLink of an entity without a
    /// key contains its ID.
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
