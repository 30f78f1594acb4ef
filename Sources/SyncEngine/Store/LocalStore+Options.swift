import EDM
public import ODataWire
public import OperationLog
public import SyncCore

extension LocalStore {
    /// How a store is opened.
    public struct Options: Sendable {
        /// Where the time that records carry comes from, and how the engine waits.
        public var environment: SyncEnvironment
        public var log: OperationLog.Options
        public var snapshots: SnapshotPolicy
        /// Whether the deletion of an entity that no service has seen undoes its creation.
        public var undoesLocalCreation: Bool
        /// Beside those that the defining queries ask for.
        public var indexes: [EntityIndex]
        /// What the service lacks; nil for what the metadata say of it.
        public var service: ServiceOptions?
        /// Whether the content of a stream goes from the store once the service has it.
        public var removesStreamsAfterUpload = false
        /// How defining queries are downloaded, by name, where it is not as usual.
        public var querySettings: [String: DefiningQuerySettings] = [:]
        /// Where the files are; a simulation brings its own.
        package var disk = StoreDisk.system
        /// How many operations make a long queue; see `Fold`. Nil for its own number; a simulation draws others, since what
        /// comes of it must not depend on it.
        package var longQueue: Int?
        /// How many changed items of the state are kept in memory until they are written to the views, also inside of a
        /// transaction, at whose end they always are. Nil for the number of `WorkingSet`; a simulation draws others.
        package var flushLimit: Int?
        /// Whether a download reads on while the store takes what it has read. Not in a simulation, where one thing happens at a
        /// time.
        package var readsAhead = true
        package var downloadLimits = DownloadLimits()
        /// Whether it is looked at as it was: nothing is done that opening a store does otherwise.
        package var isPast = false
        /// Whether the views of a past are folded record by record, as those of the store itself are: slower, for who holds the
        /// two ways against each other.
        package var foldsPastInViews = false

        public init(
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
}

extension LocalStore {
    // MARK: What the service lacks

    /// What the service lacks: as it was given, or as the metadata say, less what uploads have found out.
    public var serviceOptions: ServiceOptions {
        get throws(TidelogError) {
            if let givenServiceOptions, !hasModel { return givenServiceOptions }
            let model = try model
            return learned.applied(
                to: givenServiceOptions ?? ServiceOptions(declaredBy: model), version: model.version)
        }
    }

    /// Goes by these until the store is closed, whatever uploads have found out before; nil for what the metadata say.
    public func use(_ options: ServiceOptions?) {
        givenServiceOptions = options
        learned = LearnedOptions()
        rearrangements += 1
    }

    /// Remembers what an upload has found out about the service. Where it cannot be written it is found out again.
    func learn(_ change: (inout LearnedOptions) -> Void) {
        let known = learned
        change(&learned)
        guard learned != known else { return }
        rearrangements += 1
        guard disk.isSystem, var description = try? StoreDescription.read(files, keys: keys) else { return }
        change(&description.learned)
        try? description.write(files, keys: keys)
    }
}
