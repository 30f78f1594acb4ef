/// The division of the changes of a publication into portions, which are written one after the other.
///
/// A portion ends after the first row that reaches a limit, so each one has at least a row.
package struct FeedPortions: Sequence, IteratorProtocol, Sendable {
    /// The size at which a portion ends.
    package struct Limits: Sendable, Hashable {
        package var rows: Int
        package var bytes: Int

        /// - Parameters:
        ///   - rows: At least 1; a smaller number has the same effect.
        ///   - bytes: The bytes of keys and bodies, with 64 bytes for each row.
        package init(rows: Int = 2_000, bytes: Int = 4 << 20) {
            self.rows = rows
            self.bytes = bytes
        }
    }

    private let changes: [FeedChange]
    private let limits: Limits
    private var position = 0

    package init(_ changes: [FeedChange], _ limits: Limits = Limits()) {
        self.changes = changes
        self.limits = limits
    }

    /// Returns the next portion, or `nil` after the last change.
    package mutating func next() -> ArraySlice<FeedChange>? {
        guard position < changes.count else { return nil }
        let start = position
        var bytes = 0
        repeat {
            bytes += changes[position].size
            position += 1
        } while position < changes.count && position - start < limits.rows && bytes < limits.bytes
        return changes[start..<position]
    }
}

extension FeedChange {
    /// The approximate size of the change in memory and in a storage, in bytes.
    package var size: Int {
        if case .row(let row) = self { row.size } else { 64 + key.utf8.count }
    }
}
