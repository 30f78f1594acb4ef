/// One entry of the log: a local intent or a fact, with the time at which it was recorded.
package struct Record: Sendable, Hashable {
    package var time: Timestamp
    package var body: Body

    package init(time: Timestamp, body: Body) {
        self.time = time
        self.body = body
    }

    /// All contents that can change the state. Each case is one or more record kinds of the codec.
    package enum Body: Sendable, Hashable {
        /// The service's root and metadata, at the creation of a store and whenever its model changes.
        case serviceInstalled(ServiceDescription)
        case operation(Operation)
        case definingQueryAdded(DefiningQuery)
        case definingQueryRemoved(name: String)
        /// The queries that are about to be downloaded, each with its mode.
        case downloadStarted([QueryStart])
        case downloadPage(DownloadPage)
        case downloadFinished(DownloadFinished)
        /// The links that wait for an entity that has not been downloaded yet. Replaces all earlier ones.
        case linksLeftOpen([OpenLink])
        /// Downloaded entities of a query that the store could not apply, in addition to earlier ones.
        case entitiesQuarantined([QuarantinedEntity])
        /// Entities read outside of a download, to obtain keys or ETags that a response did not contain.
        case entitiesRead([EntityImage])
        case batchPrepared(BatchPrepared)
        case batchAccepted(BatchAccepted)
        case batchAnswered(BatchAnswered)
        case batchInterrupted(BatchInterrupted)
        /// Operations in doubt were not executed and may be sent again.
        case operationsReleased([SequenceNumber])
        /// The app undid operations that were not sent or that the service rejected. They are kept and can be redone.
        case operationsUndone([SequenceNumber])
        /// Undone operations are restored at their former positions.
        case operationsRedone([SequenceNumber])
        /// The next upload is postponed. Applies until the service has answered a batch.
        case uploadPostponed(UploadPostponed)
        /// The app released drafts, or turned queued operations into drafts.
        case deliveryChanged([SequenceNumber], to: Delivery)
        /// Operations that cancelled each other out have ended without being sent.
        case operationsElided([SequenceNumber])
        /// The changes of client-only operations became part of the base state. They cannot be undone any more.
        case clientChangesKept([SequenceNumber])
        /// The resolution of a conflict between an operation and a change by another client.
        case conflictResolved(ConflictResolved)
        /// The service does not have these entities, according to a request outside of a download.
        case entitiesMissing([EntityID])
        /// Pending operations that do not fit the service's new metadata.
        case operationsIncompatible([IncompatibleOperation])
        /// Operations that the app reduced to a smaller content, to be sent in this form.
        case operationsAmended([AmendedOperation])
        /// Streams were downloaded to the store or removed from it, or the service returned their ETags.
        case streamsStored([StreamImage])
        /// The placeholder of a record that was lost to damage, so that the following records keep their numbers. The
        /// lost content is unknown. It has no time.
        case lost
        /// A record of a later version. It is kept and shown, and the fold ignores it.
        case unknown(kind: UInt8, payload: [UInt8])
    }
}
