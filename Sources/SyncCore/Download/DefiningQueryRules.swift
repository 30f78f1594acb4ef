package import EDM
import ODataQuery
package import Operations

/// The rules for defining queries.
///
/// They ensure that a download can determine the content of its result. There is no limit on combinations of queries;
/// `Docs/DefiningQueries.md` explains the reason.
package enum DefiningQueryRules {
    /// Returns the reason why the query cannot be downloaded under these metadata, or nil if it can.
    package static func refusal(of query: DefiningQuery, in model: EntityDataModel) -> DefiningQueryRefused? {
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
                "Begin with an entity set, and select its entities with $filter.")
        }
        if let path = ContainmentPath(request.path, model), path.set.isContained,
            path.steps.contains(where: { if case .entityID? = $0.key { true } else { false } })
        {
            return refused(
                "The defining query \(name) names an entity by its entity ID, which the service does not know.",
                "Name the entity by its key.")
        }
        if case .entitySet(let set)? = request.path.segments.first, set.isClientOnly {
            return refused("The defining query \(name) reads \(set.name), which exists only in the store.")
        }
        if model.hasClientOnly, case .entitySet(let set)? = request.path.segments.first,
            let property = request.options.clientOnlyProperty(of: set.entityType, in: model)
        {
            return refused(
                "The defining query \(name) contains \(property.name), which exists only in the store.",
                "Remove the property; use it in queries of the store.")
        }
        let options = request.options
        // The result has to be entities of the set, not values derived from them.
        if !options.apply.isEmpty {
            return refused("The defining query \(name) contains $apply, whose results are not entities of the service.")
        }
        // The service receives the text unchanged.
        if request.expressions.contains(where: { $0.calls(CanonicalFunction.ofStore) }) {
            return refused(
                "The defining query \(name) contains a function sap.…, which only the store can evaluate.",
                "Remove these functions from the defining query, and use them in queries of the store.")
        }
        // The service generates these tokens for one download each.
        if options.skipToken != nil || options.deltaToken != nil {
            return refused(
                "The defining query \(name) contains a token of the service, which is valid for one response only.",
                "Remove the token; the download follows the links of the service.")
        }
        return nil
    }

    /// Returns whether the path leads to entities of its first set, so that membership of locally created entities can
    /// be determined.
    private static func leadsToEntities(_ path: ResourcePath) -> Bool {
        switch path.target {
        case .entities, .entity: break
        default: return false
        }
        guard case .entitySet? = path.segments.first else { return false }
        return isOfOneSet(path)
    }

    /// Returns whether only keys, types and containment properties follow the first set.
    private static func isOfOneSet(_ path: ResourcePath) -> Bool {
        path.segments.dropFirst().allSatisfy { segment in
            switch segment {
            case .key, .type: true
            case .navigation(let property): property.navigation?.containsTarget == true
            default: false
            }
        }
    }

    /// Returns the reason why a defining query cannot be removed together with the entities that no other query
    /// contains, or nil if it can.
    ///
    /// - Parameters:
    ///   - settings: The settings of the query, or nil for the defaults.
    ///   - hasEntities: Whether the store contains entities of the query. This is possible even if the query was
    ///     never downloaded completely, or not since it was replaced, a record was lost, or the metadata changed.
    ///   - pending: The operations on the affected entities, each with the name of an entity.
    package static func refusalOfRemoval(
        of state: QueryState, _ settings: DefiningQuerySettings?, hasEntities: Bool,
        pending: [(operation: SequenceNumber, entity: String)]
    ) -> DefiningQueryRefused? {
        guard state.run != 0 || hasEntities else { return nil }
        let name = state.query.name
        if settings?.allowsRemoval == false, !state.query.isOfOneStream {
            return DefiningQueryRefused(
                query: state.query, message: "The defining query \(name) cannot be removed after its first download.",
                recovery: "Set allow_defining_query_removal to Y in its section of the configuration file.")
        }
        guard !pending.isEmpty else { return nil }
        let named = pending.prefix(5).map { "\($0.operation) (\($0.entity))" }.joined(separator: ", ")
        let more = pending.count > 5 ? " and \(pending.count - 5) more" : ""
        return DefiningQueryRefused(
            query: state.query,
            message: "Entities that only the defining query \(name) covers have pending operations: \(named)\(more).",
            recovery: "Upload or undo them first.")
    }
}

extension DefiningQuery {
    /// Whether the query serves the stream of a single entity.
    fileprivate var isOfOneStream: Bool {
        automaticallyRetrievesStreams && query.prefix { $0 != "?" }.contains("(")
    }
}

/// A defining query that violates a rule.
package struct DefiningQueryRefused: Error, Sendable, Hashable {
    package let query: DefiningQuery
    /// The violation: one sentence that names the query.
    package let message: String
    /// A permitted alternative.
    package let recovery: String?
}
