/// One entry of the log: a local intent or a fact, with the time at which it was recorded.
public struct Record: Sendable, Hashable {
    public var time: Timestamp
    public var body: Body

    public init(time: Timestamp, body: Body) {
        self.time = time
        self.body = body
    }

    /// Everything that can change state. Each case is one record kind of the codec.
    public enum Body: Sendable, Hashable {
        /// The service's root and metadata, at the start of a store and whenever its model changes.
        case serviceInstalled(ServiceDescription)
        case operation(Operation)
        case definingQueryAdded(DefiningQuery)
        case definingQueryRemoved(name: String)
        /// These queries are about to be downloaded, each in its way.
        case downloadStarted([QueryStart])
        case downloadPage(DownloadPage)
        case downloadFinished(DownloadFinished)
        /// The links that wait for an entity which no download has brought yet, in place of all that waited before.
        case linksLeftOpen([OpenLink])
        /// Entities that the download of a query brought and the store could not take, in addition to those before.
        case entitiesQuarantined([QuarantinedEntity])
        /// Entities read outside a download, to learn keys or ETags that an answer left out.
        case entitiesRead([EntityImage])
        case batchPrepared(BatchPrepared)
        case batchAccepted(BatchAccepted)
        case batchAnswered(BatchAnswered)
        case batchInterrupted(BatchInterrupted)
        /// The outcome of operations in doubt is settled: they were not carried out and may be sent again.
        case operationsReleased([SequenceNumber])
        /// The app took operations back that were never sent, or that the service refused. They are kept, and can be redone.
        case operationsUndone([SequenceNumber])
        /// Undone operations are as they were, at their old places.
        case operationsRedone([SequenceNumber])
        /// The next upload is to wait. Holds until the service has answered a batch.
        case uploadPostponed(UploadPostponed)
        /// The app released drafts, or held operations back that were queued.
        case deliveryChanged([SequenceNumber], to: Delivery)
        /// Operations that cancelled each other out have ended: nothing of them was sent, and nothing has to be.
        case operationsElided([SequenceNumber])
        /// What was decided where somebody else changed what an operation changes as well.
        case conflictResolved(ConflictResolved)
        /// The service was asked for these entities, outside of a download, and has none of them.
        case entitiesMissing([EntityID])
        /// Pending operations that the service's new metadata have no place for.
        case operationsUnfit([UnfitOperation])
        /// Operations say less than they did, as the app decided, and are to be sent so.
        case operationsAmended([AmendedOperation])
        /// Streams lie in the store now, or do not any more: they were downloaded, or the service has told their ETags.
        case streamsStored([StreamImage])
        /// Stands for a record that was lost to damage, so that those behind it keep their numbers. What it said is not
        /// known: it may have been anything. It has no time.
        case lost
        /// A record of a later version. It is kept and shown, and the fold passes over it.
        case unknown(kind: UInt8, payload: [UInt8])
    }
}
