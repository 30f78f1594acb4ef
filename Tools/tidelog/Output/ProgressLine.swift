internal import OperationLog

/// One line on the terminal that says how far a long reading has come. Nothing where standard error is no terminal, or the
/// log is short.
enum ProgressLine {
    /// Fewer are read before anybody wonders.
    private static let shortestLog = 4

    static func showing<T>(_ body: ((LogVerification.Progress) -> Void) throws -> T) rethrows -> T {
        guard Console.isWatched else { return try body { _ in } }
        var isShown = false
        // Carriage return and "erase to the end of the line".
        defer { if isShown { Console.writeError("\r\u{1B}[K") } }
        return try body { progress in
            guard progress.segments >= shortestLog else { return }
            isShown = true
            Console.writeError("\r\u{1B}[KReading segment \(progress.segment) of \(progress.segments) …")
        }
    }
}
