public import EDM
import ODataWire
public import Operations

/// What a defining query may say.
///
/// The rules are those without which a download could not tell what it holds. Which queries may stand beside each other is
/// not limited; `Docs/DefiningQueries.md` says why.
public enum DefiningQueryRules {
    /// Why the query cannot be downloaded under these metadata; nil where it can.
    public static func refusal(of query: DefiningQuery, in model: EntityDataModel) -> DefiningQueryRefused? {
        func refused(_ message: String, _ recovery: String? = nil) -> DefiningQueryRefused {
            DefiningQueryRefused(query: query, message: message, recovery: recovery)
        }
        let name = query.name
        guard !name.isEmpty else { return refused("A defining query needs a name.") }
        let request: ServiceRequest
        do throws(URLSyntaxError) {
            request = try ServiceRequest.parse(query.query, model: model, version: model.version)
        } catch {
            return refused("The defining query \(name) cannot be used. \(error)")
        }
        guard leadsToEntities(request.path) else {
            return refused(
                "The defining query \(name) must lead to an entity set or a single entity.",
                "Begin with an entity set, and choose its entities by $filter.")
        }
        if let path = ContainmentPath(request.path, model), path.set.isContained,
            path.steps.contains(where: { if case .entityID? = $0.key { true } else { false } })
        {
            return refused(
                "The defining query \(name) names an entity by its number in the store, which the service does not know.",
                "Name it by its key.")
        }
        let options = request.options
        // What is asked for is a part of the set's entities, and not something made of them.
        if !options.apply.isEmpty {
            return refused("The defining query \(name) has $apply, whose results are no entities of the service.")
        }
        // The service gets the text as it is.
        if request.expressions.contains(where: { $0.calls(CanonicalFunction.ofStore) }) {
            return refused(
                "The defining query \(name) asks for what only the store knows: functions sap.… are no matter of the service.",
                "Leave them away; ask them of the store.")
        }
        // The service gives these, for one download each.
        if options.skipToken != nil || options.deltaToken != nil {
            return refused(
                "The defining query \(name) has a token of the service in it, which holds for one answer only.",
                "Leave it away; the download follows the links that the service gives.")
        }
        return nil
    }

    /// Whether it is entities of the set in front that the path leads to, so that what is created here can be told to belong
    /// to the query.
    private static func leadsToEntities(_ path: ResourcePath) -> Bool {
        switch path.target {
        case .entities, .entity: break
        default: return false
        }
        guard case .entitySet? = path.segments.first else { return false }
        return isOfOneSet(path)
    }

    /// Whether nothing but keys, types and navigation properties to contained entities follow the set in front.
    private static func isOfOneSet(_ path: ResourcePath) -> Bool {
        path.segments.dropFirst().allSatisfy { segment in
            switch segment {
            case .key, .type: true
            case .navigation(let property): property.navigation?.containsTarget == true
            default: false
            }
        }
    }

    /// Whether a defining query may be removed, with the entities that no other query brings.
    ///
    /// - Parameters:
    ///   - settings: nil for the standard ones.
    ///   - bringsEntities: whether the store has entities of it. It has some of a query that was never downloaded in full,
    ///     or not since it was replaced, since a record was lost, or since the metadata changed.
    ///   - pending: the operations on entities that would go, with a name of one of these each.
    public static func refusalOfRemoval(
        of state: QueryState, _ settings: DefiningQuerySettings?, bringsEntities: Bool,
        pending: [(operation: SequenceNumber, entity: String)]
    ) -> DefiningQueryRefused? {
        guard state.run != 0 || bringsEntities else { return nil }
        let name = state.query.name
        if settings?.allowsRemoval == false, !state.query.isOfOneStream {
            return DefiningQueryRefused(
                query: state.query, message: "The defining query \(name) may not be removed once it was downloaded.",
                recovery: "Set allow_defining_query_removal to Y for it.")
        }
        guard !pending.isEmpty else { return nil }
        let named = pending.prefix(5).map { "\($0.operation) (\($0.entity))" }.joined(separator: ", ")
        let more = pending.count > 5 ? " and \(pending.count - 5) more" : ""
        return DefiningQueryRefused(
            query: state.query,
            message: "Entities that only the defining query \(name) brings have pending operations: \(named)\(more).",
            recovery: "Upload or undo them first.")
    }
}

extension DefiningQuery {
    /// Whether it is there for the stream of one entity.
    fileprivate var isOfOneStream: Bool {
        automaticallyRetrievesStreams && query.prefix { $0 != "?" }.contains("(")
    }
}

/// A defining query that breaks a rule.
public struct DefiningQueryRefused: Error, Sendable, Hashable {
    public let query: DefiningQuery
    /// What is wrong, in one sentence that names the query.
    public let message: String
    /// What would be allowed.
    public let recovery: String?
}
