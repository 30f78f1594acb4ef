package import OfflineStore
package import Operations

/// An event during the work of an engine.
package enum SyncEvent: Sendable {
    case uploadBegan(pending: Int)
    case downloadBegan
    /// A record was appended to the log, such as an operation, a prepared batch, an outcome or a page.
    case recorded(SequenceNumber, Record)
    /// A chunk of a streamed response body arrived. ``exchanged(sent:received:status:)`` reports the total at the end.
    case received(Int)
    /// A request and its response ended. The sizes are those of the bodies; the status is nil if there was no response.
    case exchanged(sent: Int, received: Int, status: Int?)
    /// The engine waits before a retry.
    case waiting(until: Timestamp, attempt: Int, reason: String)
    /// The upload or download ended.
    case ended(TidelogError?)
}
