import EDM
import Operations
import SyncEngine
import Synchronization
import Transport

/// The open store of a provider, if there is one, and what applies to each store that the provider opens.
final class StoreSettings: Sendable {
    private struct Values {
        var engine: SyncEngine?
        var model: EntityDataModel?
        var queries: [DefiningQuery] = []
        var trace: RequestTrace?
        var headers: SessionHeaders
        var classes: ClassMetadata?
    }

    private let values: Mutex<Values>

    init(_ parameters: OfflineODataParameters) {
        let headers = SessionHeaders(headers: parameters.customHeaders, cookies: parameters.customCookies)
        values = Mutex(Values(headers: headers))
    }

    /// The engine of the open store.
    var engine: SyncEngine? { values.withLock { $0.engine } }

    /// The metadata of the last opened store.
    var model: EntityDataModel? {
        get { values.withLock { $0.model } }
        set { values.withLock { $0.model = newValue } }
    }

    /// The queries that were added before the store was opened.
    var queries: [DefiningQuery] { values.withLock { $0.queries } }

    var classes: ClassMetadata? {
        get { values.withLock { $0.classes } }
        set { values.withLock { $0.classes = newValue } }
    }

    var headers: SessionHeaders { values.withLock { $0.headers } }

    var trace: RequestTrace? {
        get { values.withLock { $0.trace } }
        set {
            let engine = values.withLock { values in
                values.trace = newValue
                return values.engine
            }
            engine?.session.trace = newValue
        }
    }

    func changeHeaders(_ change: (inout SessionHeaders) -> Void) {
        values.withLock { values in
            change(&values.headers)
            values.engine?.session.headers = values.headers
        }
    }

    /// Adds a query, if the store is not open. Otherwise returns the engine, which has to add it.
    func add(_ query: DefiningQuery) -> SyncEngine? {
        values.withLock { values in
            if values.engine == nil { values.queries.append(query) }
            return values.engine
        }
    }

    func adopt(_ engine: SyncEngine, _ model: EntityDataModel) {
        values.withLock { ($0.engine, $0.model) = (engine, model) }
    }

    /// Returns the engine of a store that is to be closed. The metadata stay.
    func takeEngine() -> SyncEngine? {
        values.withLock { values in
            defer { values.engine = nil }
            return values.engine
        }
    }

    /// Forgets a store that was deleted.
    func clear() { values.withLock { ($0.engine, $0.model) = (nil, nil) } }
}
