import EDM
import ODataWire

/// Queries that were asked before, by their texts: read and checked against the model, as long as that and the service's root
/// are the same. Apps ask the same again and again.
struct ParsedQueries {
    struct Query {
        /// With what its aliases stand for in their place.
        let request: ServiceRequest
        /// As the text has it; a next link begins with it.
        let path: String
    }

    /// By the bytes of their texts: these can be equal where characters are composed in other ways, and their literals are not.
    private var known: [[UInt8]: Query] = [:]
    private var model: EntityDataModel?
    private var root: String?

    /// So many at most, of so many bytes each.
    private static let limit = (count: 256, length: 2_000)

    mutating func query(_ url: String, model: EntityDataModel, root: String?) throws -> Query {
        if model !== self.model || root != self.root {
            known = [:]
            (self.model, self.root) = (model, root)
        }
        let text = Array(url.utf8)
        if let query = known[text] { return query }
        let query = try Self.parse(url, model, root)
        if text.count <= Self.limit.length {
            if known.count >= Self.limit.count { known = [:] }
            known[text] = query
        }
        return query
    }

    private static func parse(_ url: String, _ model: EntityDataModel, _ root: String?) throws -> Query {
        let encoded = URLText.encoded(url)
        let request = try ServiceRequest.parse(encoded, serviceRoot: root, model: model, version: model.version)
        if let name = request.options.withoutDollar(model.version) {
            throw TidelogError(.invalidRequest, "The store has no query option \(name).", recovery: "Write $\(name).")
        }
        let path = ServiceURL.split(try ServiceURL.relativePart(of: encoded, serviceRoot: root)).path
        do throws(EvaluationError) {
            return Query(request: try request.resolvingAliases(), path: path)
        } catch {
            throw TidelogError(error)
        }
    }
}
