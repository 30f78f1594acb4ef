import Operations
import Views

/// What a transaction did to the state.
struct StoreChange: Sendable {
    var causes: Set<ChangeCause>
    /// The tables of the views that are not what they were; nil for any.
    var tables: Set<String>?

    /// Of a transaction that recorded these.
    init(_ records: [Record], tables: Set<String>) {
        causes = Set(records.compactMap { ChangeCause($0.body) })
        let startsDownload = records.contains { if case .downloadStarted = $0.body { true } else { false } }
        // Other metadata mean other tables.
        self.tables =
            causes.contains(.metadata) ? nil : startsDownload ? tables.union([SQLiteState.lastDownload]) : tables
    }

    private init(causes: Set<ChangeCause>, tables: Set<String>?) {
        self.causes = causes
        self.tables = tables
    }

    /// What was caught up with from the log.
    static let unknown = StoreChange(causes: [.other], tables: nil)
}
