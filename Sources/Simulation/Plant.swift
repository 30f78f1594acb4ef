/// Faults of the simulated world that no engine can stand: they show that the simulation notices what it is there to notice.
package enum Plant: String, Sendable, Hashable, CaseIterable {
    /// The transport says that a request was not sent, although the service carried it out.
    case lyingTransport
    /// The network delivers modifications twice.
    case repeatedRequests
    /// The service does not look at ETags.
    case uncheckedETags
    /// The service forgets some of what it has confirmed.
    case forgetfulService
    /// The disk loses the end of what was synced.
    case forgetfulDisk
}
