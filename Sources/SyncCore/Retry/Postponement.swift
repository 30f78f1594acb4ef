package import Operations

/// A postponement of the next upload, with the time at which it was recorded.
package struct Postponement: Sendable, Hashable {
    package var upload: UploadPostponed
    /// The time of the recording, by the same clock as `upload.notBefore`.
    package var since: Timestamp

    package init(_ upload: UploadPostponed, since: Timestamp) {
        self.upload = upload
        self.since = since
    }

    /// Returns the remaining delay, limited to a day after the recording. Zero if the clock is before the recording,
    /// because a clock that was set back makes the times meaningless.
    package func delay(from now: Timestamp) -> Duration {
        guard now >= since else { return .zero }
        let (latest, overflow) = since.addingReportingOverflow(86_400_000)
        let end = min(upload.notBefore, overflow ? .max : latest)
        guard end > now else { return .zero }
        return .milliseconds(end.subtractingReportingOverflow(now).partialValue)
    }
}
