/// Support for documents that arrive in chunks: consumed bytes are released, and an incomplete value is read again.
extension JSONScanner {
    /// A position between two values to which the scanner can return.
    package struct Mark {
        fileprivate var offset: Int
        fileprivate var depth: Int
        fileprivate var isEmpty: Bool
    }

    package var mark: Mark { Mark(offset: offset, depth: openIsEmpty.count, isEmpty: openIsEmpty.last ?? true) }

    /// Returns to the mark, also if containers have been closed since.
    package mutating func rewind(to mark: Mark) {
        offset = mark.offset
        // A container with open contents is not empty.
        openIsEmpty = Array(repeating: false, count: mark.depth)
        if mark.depth > 0 { openIsEmpty[mark.depth - 1] = mark.isEmpty }
    }

    /// The number of available bytes that have not been read.
    package var unread: Int { bytes.count - offset }

    /// Appends bytes and removes those that have been read. Invalidates all marks.
    ///
    /// - Returns: The number of removed bytes.
    package mutating func append(_ chunk: [UInt8]) -> Int {
        let read = offset
        if unread == 0 {
            bytes = chunk
        } else {
            bytes.removeFirst(read)
            bytes += chunk
        }
        offset = 0
        return read
    }
}
