#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif
public import Tidelog

/// Times of the store as dates; the store counts milliseconds since 1970.
extension OperationStatus {
    /// The time of the operation.
    public var date: Date { Date(millisecondsSince1970: time) }
    /// The time since when the operation is in its state.
    public var sinceDate: Date { Date(millisecondsSince1970: since) }
    /// The earliest time of the next upload; `nil` if there is nothing to wait for.
    public var notBeforeDate: Date? { notBefore.map { Date(millisecondsSince1970: $0) } }
}

extension ErrorArchiveEntry {
    /// The time of the app's call.
    public var date: Date { Date(millisecondsSince1970: time) }
}

extension SyncProgress {
    /// The end of the wait; `nil` if the step does not wait.
    public var waitsUntilDate: Date? { waitsUntil.map { Date(millisecondsSince1970: $0) } }
}

extension PointInTime {
    /// Returns the point after the last record that was made by this date. A date that is not a number is before all
    /// records.
    public static func date(_ date: Date) -> PointInTime {
        let milliseconds = (date.timeIntervalSince1970 * 1000).rounded(.down)
        if milliseconds >= 0x1p63 { return .time(.max) }
        return .time(milliseconds >= -0x1p63 ? Int64(milliseconds) : .min)
    }
}
