public import Operations

/// What the next upload waits for, and when it was put off.
public struct Postponement: Sendable, Hashable {
    public var upload: UploadPostponed
    /// By the clock that `upload.notBefore` goes by.
    public var since: Timestamp

    public init(_ upload: UploadPostponed, since: Timestamp) {
        self.upload = upload
        self.since = since
    }

    /// How long it is still to be waited for, a day after it was put off at most. Nothing where the clock has not come to
    /// that time: it was put back, and what it said then means nothing.
    public func delay(from now: Timestamp) -> Duration {
        guard now >= since else { return .zero }
        let (latest, overflow) = since.addingReportingOverflow(86_400_000)
        let end = min(upload.notBefore, overflow ? .max : latest)
        guard end > now else { return .zero }
        return .milliseconds(end.subtractingReportingOverflow(now).partialValue)
    }
}
