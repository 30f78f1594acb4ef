import EDM
import ODataQuery

/// A cache of parsed and checked queries by their texts, for one model and service root. Apps repeat the same queries.
struct ParsedQueries {
    /// A class, because a copy of the request has many references.
    final class Query: Sendable {
        /// The request with its aliases resolved.
        let request: ServiceRequest
        /// The original path, with which a next link begins.
        let path: String

        fileprivate init(request: ServiceRequest, path: String) { (self.request, self.path) = (request, path) }
    }

    /// The queries by the code units of their texts. Equal strings may have different literals because of Unicode
    /// equivalence.
    private var known: [ExactText: Query] = [:]
    private var model: EntityDataModel?
    private var root: String?

    /// The largest number of queries, and their largest length in bytes.
    private static let limit = (count: 256, length: 2_000)

    /// Returns a query that ``query(_:model:root:)`` has returned for the text before, or nil.
    mutating func known(_ url: String, model: EntityDataModel, root: String?) -> Query? {
        if model !== self.model || root != self.root {
            known = [:]
            (self.model, self.root) = (model, root)
        }
        return known[ExactText(url)]
    }

    mutating func query(_ url: String, model: EntityDataModel, root: String?) throws -> Query {
        try known(url, model: model, root: root) ?? parse(url, URLText.encoded(url), model: model, root: root)
    }

    /// Parses a query that is not known.
    ///
    /// - Parameter encoded: The text, percent-encoded.
    mutating func parse(_ url: String, _ encoded: String, model: EntityDataModel, root: String?) throws -> Query {
        let query = try Self.parse(encoded, model, root)
        if url.utf8.count <= Self.limit.length {
            if known.count >= Self.limit.count { known = [:] }
            known[ExactText(url)] = query
        }
        return query
    }

    private static func parse(_ encoded: String, _ model: EntityDataModel, _ root: String?) throws -> Query {
        let request = try ServiceRequest.parse(encoded, serviceRoot: root, model: model, version: model.version)
        if let name = request.options.withoutDollar(model.version) {
            throw TidelogError(
                .invalidRequest, "The store does not support the query option \(name).", recovery: "Write $\(name).")
        }
        let path = ServiceURL.split(try ServiceURL.relativePart(of: encoded, serviceRoot: root)).path
        do throws(EvaluationError) {
            return Query(request: try request.resolvingAliases(), path: path)
        } catch {
            throw TidelogError(error)
        }
    }
}
