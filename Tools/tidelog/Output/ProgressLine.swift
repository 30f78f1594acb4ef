internal import OperationLog

/// A progress line on the terminal for reading a long log. Shows nothing if standard error is no terminal, or if the
/// log is short.
enum ProgressLine {
    /// The number of segments from which progress is shown.
    private static let shortestLog = 4
    private static let fewestRecords: UInt64 = 50_000

    static func showing<T>(_ body: ((LogVerification.Progress) -> Void) throws -> T) rethrows -> T {
        guard Console.isWatched else { return try body { _ in } }
        var isShown = false
        defer { if isShown { erase() } }
        return try body { progress in
            guard progress.segments >= shortestLog else { return }
            isShown = true
            show("Reading", UInt64(progress.segment), UInt64(progress.segments), "segment")
        }
    }

    /// - Parameter verb: The action, such as `Replaying`.
    static func showing<T>(
        _ verb: String, _ body: ((_ done: UInt64, _ total: UInt64) -> Void) async throws -> T
    ) async rethrows -> T {
        guard Console.isWatched else { return try await body { _, _ in } }
        var isShown = false
        defer { if isShown { erase() } }
        return try await body { done, total in
            guard total >= fewestRecords else { return }
            isShown = true
            show(verb, done, total, "record")
        }
    }

    /// Returns a line such as `Replaying [#######·············]  35 %, record 350000 of 1000000 …`.
    static func text(_ verb: String, _ done: UInt64, _ total: UInt64, _ noun: String) -> String {
        let share = total == 0 ? 1 : min(1, Double(done) / Double(total))
        let filled = Int(share * 20)
        let bar = String(repeating: "#", count: filled) + String(repeating: "·", count: 20 - filled)
        let percent = String(Int(share * 100))
        return
            "\(verb) [\(bar)] \(String(repeating: " ", count: 3 - percent.count))\(percent) %, \(noun) \(done) of \(total) …"
    }

    private static func show(_ verb: String, _ done: UInt64, _ total: UInt64, _ noun: String) {
        Console.writeError("\r\u{1B}[K" + text(verb, done, total, noun))
    }

    /// Writes a carriage return and "erase to the end of the line".
    private static func erase() { Console.writeError("\r\u{1B}[K") }
}
