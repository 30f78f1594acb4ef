internal import OfflineStore
internal import Tidelog

/// An operation that was undone or redone, as a line or as JSON.
struct UndoText {
    private let operation: OperationStatus
    private let reason: String?

    /// - Parameter because: The reason why it was included, or nil if it was requested.
    init(_ operation: OperationStatus, because reason: String?) {
        self.operation = operation
        self.reason = reason
    }

    func line(json isJSON: Bool) -> String {
        let text = StatusText(operation)
        guard isJSON else {
            return "\(operation.sequence) \(text.action)" + (reason.map { " (\(oneLine($0)))" } ?? "")
        }
        return text.json(because: reason)
    }

    static func summary(_ report: UndoReport, isDryRun: Bool) -> String {
        let count = counted(report.undone.count, "operation", "operations")
        let dependants = report.dependants.count
        let along = dependants > 0 ? ", \(dependants) of them because of dependencies" : ""
        return isDryRun ? "\(count) would be undone\(along)." : "\(count) undone\(along)."
    }
}
