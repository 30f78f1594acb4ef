import EDM
import ODataSandbox
import ODataWire
import Operations
import SyncCore

extension PureSession {
    /// Adds the queries that download these sets with all their links.
    mutating func define(_ sets: [String]) throws {
        for query in DefaultQueries.of(model) where sets.contains(query.name) { try log(.definingQueryAdded(query)) }
    }

    /// Performs the steps of the engine's download round, with one page for each query.
    mutating func pull() throws {
        let queries = try state.bookkeeping.queries().map(\.query)
        try log(.downloadStarted(queries: queries.map(\.name)))
        let encoder = RequestEncoder(version: model.version, model: model, serviceRoot: root)
        let reader = PayloadReader(version: model.version, model: model)
        for query in queries {
            guard let set = model.findEntitySet(query.name) else { continue }
            let response = sandbox.handle(
                WireRequest(method: "GET", url: "/\(dialect.rawValue)/" + query.query, headers: encoder.headers))
            let feed = try reader.feed(response.body, type: set.entityType)
            var builder = try ImageBuilder(storage: state, model: model)
            var images: [EntityImage] = []
            for payload in feed.entities { images += try builder.images(of: payload, in: set) ?? [] }
            try log(.downloadPage(DownloadPage(query: query.name, entities: images)))
            try log(.downloadFinished(query: query.name))
        }
    }
}
