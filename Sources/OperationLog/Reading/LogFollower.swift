/// The records of a log, those that are there and those that come, for as long as somebody asks.
///
/// Each iterator begins at the same record. Where there is nothing new it looks again after a pause that grows up to
/// 80 milliseconds; there is no other way that works between processes and on all file systems. It reads on the
/// thread that asks.
public struct LogFollower: AsyncSequence, Sendable {
    public typealias Element = LogRecord
    public typealias Failure = LogError

    let reader: LogReader
    let first: UInt64?

    public func makeAsyncIterator() -> Iterator {
        Iterator(cursor: reader.records(from: first))
    }

    public struct Iterator: AsyncIteratorProtocol {
        private let cursor: LogCursor
        private var pause = PollingPause()

        init(cursor: LogCursor) { self.cursor = cursor }

        /// The next record, as soon as there is one; nil when the task is cancelled.
        ///
        /// - Throws: ``LogError/compacted(first:)`` where the record was removed before the iterator came to it, and
        ///   what else ``LogCursor/next()`` throws. Calling again throws again.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(LogError) -> LogRecord? {
            while !Task.isCancelled {
                if let record = try cursor.next() {
                    pause.end()
                    return record
                }
                do {
                    try await Task.sleep(for: .milliseconds(pause.next()))
                } catch {
                    return nil
                }
            }
            return nil
        }
    }
}

extension LogReader {
    /// The records from this one on, and then each one that is appended, by whatever process. Ends when the task that
    /// iterates is cancelled.
    ///
    /// - Parameter first: Nil begins with the first record that the log has.
    public func follow(from first: UInt64? = nil) -> LogFollower {
        LogFollower(reader: self, first: first)
    }
}

/// How long to wait before looking again whether there is something new: short at first, longer while there is not.
package struct PollingPause {
    private static let shortest = 5
    private static let longest = 80
    private var milliseconds = Self.shortest

    package init() {}

    package mutating func next() -> Int {
        defer { milliseconds = min(milliseconds * 2, Self.longest) }
        return milliseconds
    }

    /// There was something new.
    package mutating func end() { milliseconds = Self.shortest }
}
