/// An operation of apps that the module `Tidelog` composes of several ones, or a property of the service that only some
/// runs have. The counts show that the runs contain it.
package enum AppFeature: String, Sendable, Hashable, CaseIterable, Comparable {
    /// A draft was copied from an entity.
    case draftCopies
    /// A draft was created without an entity.
    case newDrafts
    /// A draft was changed, or got a child.
    case draftEdits
    case activations
    /// Activations whose changes are all at the service at the end.
    case activationsUploaded
    case discardedDrafts
    /// Drafts that an undo brought back.
    case restoredDrafts
    /// Drafts at the end that were neither activated nor discarded.
    case openDrafts
    /// Created entities that the store removed after their upload.
    case removals
    case linkReplacements
    /// Links that a replacement created or deleted.
    case replacedLinks
    /// Updates with all properties.
    case valueReplacements
    /// Change sets that create two linked entities.
    case linkedCreations
    /// `PUT` requests for a service without `PATCH`.
    case putRequests
    /// Entities without keys that were in quarantine at the end.
    case keylessEntities
    /// Runs with encrypted stores.
    case encryptedRuns
    /// Runs with logs whose commits share syncs.
    case groupedRuns
    /// Runs with logs that acknowledge commits before they are synced.
    case unsyncedRuns
    /// Sealed segments of logs that were rewritten with larger blocks.
    case recompressedSegments
    /// Segments of logs that a compaction removed.
    case compactedSegments
    /// Operations that a power loss undid in a log that acknowledges commits before they are synced.
    case lostUnsynced
    /// Delta links that the service had forgotten.
    case expiredDeltas
    /// Delta links that returned changes.
    case deltas
    /// Runs with a gateway between the devices and the service.
    case gatewayRuns
    /// Requests that the ledger of the gateway answered without the service.
    case ledgerReplays
    /// Requests that waited for the end of an earlier attempt.
    case ledgerWaits
    /// Requests that the ledger refused, mostly because the outcome of an earlier attempt was lost.
    case ledgerRefusals
    /// Calls of the gateway's storage that failed without an effect.
    case storageRefusals
    /// Calls of the gateway's storage that failed after their commit.
    case storageDoubts

    package static func < (a: AppFeature, b: AppFeature) -> Bool { a.rawValue < b.rawValue }
}

/// The findings of one or more calls of an app.
struct AppReport {
    var lines: [String] = []
    var violations: [String] = []
    var counts: [AppFeature: Int] = [:]
    var operations = 0
    var refused = 0
}
