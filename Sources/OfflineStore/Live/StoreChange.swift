import Operations
import Views

/// The effect of a transaction on the state.
struct StoreChange: Sendable {
    var causes: Set<ChangeCause>
    /// The changed tables of the views, or nil for any table.
    var tables: Set<String>?

    /// Creates the change of a transaction that recorded these.
    init(_ records: [Record], tables: Set<String>) {
        causes = Set(records.compactMap { ChangeCause($0.body) })
        let startsDownload = records.contains { if case .downloadStarted = $0.body { true } else { false } }
        // New metadata lead to other tables.
        self.tables =
            causes.contains(.metadata) ? nil : startsDownload ? tables.union([SQLiteState.lastDownload]) : tables
    }

    private init(causes: Set<ChangeCause>, tables: Set<String>?) {
        self.causes = causes
        self.tables = tables
    }

    /// A change of unknown extent, after the views caught up with the log.
    static let unknown = StoreChange(causes: [.other], tables: nil)
}
