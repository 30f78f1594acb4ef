public import Operations

/// Something that happened while an engine worked.
public enum SyncEvent: Sendable {
    case uploadBegan(pending: Int)
    case downloadBegan
    /// A record is in the log: an operation, a batch that is about to be sent, what the service made of it, a page.
    case recorded(SequenceNumber, Record)
    /// A piece of an answer's body that is read while it arrives; ``exchanged(sent:received:status:)`` tells the whole of it
    /// when it has ended.
    case received(Int)
    /// One request and its answer. The sizes are those of the bodies; the status is nil where no answer came.
    case exchanged(sent: Int, received: Int, status: Int?)
    /// The engine waits before it tries again.
    case waiting(until: Timestamp, attempt: Int, reason: String)
    /// The upload or download is over.
    case ended(TidelogError?)
}
