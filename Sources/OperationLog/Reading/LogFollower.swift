/// An asynchronous sequence of a log's existing and future records.
///
/// Each iterator begins at the same record. If there is no new record, an iterator polls with a pause that grows up to
/// 80 milliseconds; no other mechanism works between processes and on all file systems. The iterator reads on the
/// calling thread.
package struct LogFollower: AsyncSequence, Sendable {
    package typealias Element = LogRecord
    package typealias Failure = LogError

    let reader: LogReader
    let first: UInt64?

    package func makeAsyncIterator() -> Iterator {
        Iterator(cursor: reader.records(from: first))
    }

    package struct Iterator: AsyncIteratorProtocol {
        private let cursor: LogCursor
        private var pause = PollingBackoff()

        init(cursor: LogCursor) { self.cursor = cursor }

        /// Returns the next record as soon as there is one, or nil when the task is cancelled.
        ///
        /// - Throws: ``LogError/compacted(first:)`` if the record was removed before the iterator reached it, and the
        ///   other errors of ``LogCursor/next()``. Further calls throw again.
        package mutating func next(
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
    /// Returns the records from the given one on, followed by each record that any process appends.
    ///
    /// The sequence ends when the iterating task is cancelled.
    ///
    /// - Parameter first: The first record to return. Nil begins with the first record of the log.
    package func follow(from first: UInt64? = nil) -> LogFollower {
        LogFollower(reader: self, first: first)
    }
}

/// A polling interval that is short at first and doubles while there is nothing new.
package struct PollingBackoff {
    private static let shortest = 5
    private static let longest = 80
    private var milliseconds = Self.shortest

    package init() {}

    package mutating func next() -> Int {
        defer { milliseconds = min(milliseconds * 2, Self.longest) }
        return milliseconds
    }

    /// Resets the interval, because there was something new.
    package mutating func end() { milliseconds = Self.shortest }
}
