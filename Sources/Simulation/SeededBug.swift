/// Injected defects of the simulated world that no engine can handle. They verify that the simulation detects
/// violations.
package enum SeededBug: String, Sendable, Hashable, CaseIterable {
    /// The transport reports that a request was not sent although the service executed it.
    case lyingTransport
    /// The network delivers modifications twice.
    case repeatedRequests
    /// The service ignores ETags.
    case uncheckedETags
    /// The service loses some confirmed changes.
    case forgetfulService
    /// The disk loses the end of synced data.
    case forgetfulDisk
    /// The log acknowledges commits that it has not synced, whatever its durability is.
    case unsyncedCommits
    /// The disk gives a lock that another process has.
    case sharedLocks
    /// The store does not delete drafts that are activated or discarded.
    case keptDrafts
    /// A replacement of links does not delete any.
    case keptLinks
    /// A replacement of values keeps those that are null.
    case keptValues
    /// The store keeps created entities after their upload.
    case keptCreations
    /// A log that was closed does not contain its extent.
    case forgottenExtents
    /// The service returns deltas without changes.
    case emptyDeltas
    /// The gateway loses its ledger when one of its processes ends.
    case forgetfulLedger
    /// The database of the gateway acknowledges commits of the ledger that it loses.
    case lostLedgerCommits
    /// The gateway does not record who has changed data, so that its feeds lack the changes of their readers.
    case unmarkedWrites

    /// Whether the bug is a bug of the gateway.
    var isOfGateway: Bool {
        switch self {
        case .forgetfulLedger, .lostLedgerCommits, .unmarkedWrites: true
        default: false
        }
    }
}
