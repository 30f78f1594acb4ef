import EDM
package import ODataWire
package import OperationLog
package import SyncCore

/// The options for opening a store.
package struct LocalStoreOptions: Sendable {
    /// The source of record times and of delays.
    package var environment: SyncEnvironment
    package var log: OperationLog.Options
    package var snapshots: SnapshotPolicy
    /// A Boolean value that indicates whether deleting an entity that the service has never seen undoes its
    /// creation.
    package var undoesLocalCreation: Bool
    /// Indexes in addition to those derived from the defining queries.
    package var indexes: [EntityIndex]
    /// The service capabilities, or nil to derive them from the metadata.
    package var service: ServiceOptions?
    /// The content that is removed from the store after its upload.
    package var removal = RemovalAfterUpload()
    /// The number of client-only operations that can be undone. Older ones become permanent.
    package var undoableClientChanges = 1_000
    /// Download settings of defining queries that differ from the defaults, by name.
    package var querySettings: [String: DefiningQuerySettings] = [:]
    /// The disk of the store. A simulation supplies its own.
    package var disk = StoreDisk.system
    /// The number of operations that makes a queue long; see `Fold`. Nil for the default. A simulation draws other
    /// numbers, because the results must not depend on it.
    package var longQueue: Int?
    /// The number of changed items and operations after which the changes of local operations are flushed to the
    /// stored views; 0 flushes with each commit. It limits the number of records that opening folds again after a
    /// crash.
    package var unflushedLimit = 2_000
    /// The number of changed items that are kept in memory within a transaction; nil for the default of
    /// `WorkingSet`. A simulation draws other numbers, because the results must not depend on it.
    package var flushLimit: Int?
    /// Whether a download reads ahead while the store ingests the previous part. Not in a simulation, which is
    /// sequential.
    package var readsAhead = true
    package var downloadLimits = DownloadLimits()
    /// Whether the store is a historical one, for which the side effects of opening are omitted.
    package var isHistorical = false
    /// Whether the views of a historical store are folded record by record like those of the store itself. This is
    /// slower, and serves to compare the two ways.
    package var foldsHistoryInViews = false
    /// The number of records from which a historical store folds further ones in memory; fewer are folded into its
    /// views. 0 always folds in memory.
    ///
    /// Folding a record into the views costs more than in memory, but folding in memory begins with a copy of the
    /// state, which costs as much as folding some hundred records. Tests choose other numbers, because the results
    /// must not depend on it.
    package var memoryFoldDistance: UInt64 = 500
    /// The number of records from which a trial of a historical store in memory keeps a second copy of the state
    /// halfway; see `HistoricalCheckpoint`.
    ///
    /// The copy saves folding half of the records if the trial is rolled back, and is worth its time and memory only
    /// for several thousand records. Tests choose a low number, because the results must not depend on it.
    package var checkpointDistance: UInt64 = 8_000

    package init(
        environment: SyncEnvironment = .system, log: OperationLog.Options = .init(),
        snapshots: SnapshotPolicy = .automatic(), service: ServiceOptions? = nil,
        undoesLocalCreation: Bool = false, indexes: [EntityIndex] = []
    ) {
        self.indexes = indexes
        self.environment = environment
        self.log = log
        self.snapshots = snapshots
        self.service = service
        self.undoesLocalCreation = undoesLocalCreation
    }
}
