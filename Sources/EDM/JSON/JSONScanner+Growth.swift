/// For documents that arrive in pieces: what is read is let go, and what could not be read whole is read once more.
extension JSONScanner {
    /// A place between two values, to come back to.
    package struct Mark {
        fileprivate var offset: Int
        fileprivate var depth: Int
        fileprivate var isEmpty: Bool
    }

    package var mark: Mark { Mark(offset: offset, depth: openIsEmpty.count, isEmpty: openIsEmpty.last ?? true) }

    /// Goes back, also out of what was closed since.
    package mutating func goBack(to mark: Mark) {
        offset = mark.offset
        // Whatever holds something that is open is not empty.
        openIsEmpty = Array(repeating: false, count: mark.depth)
        if mark.depth > 0 { openIsEmpty[mark.depth - 1] = mark.isEmpty }
    }

    /// How many bytes are there and not read.
    package var unread: Int { bytes.count - offset }

    /// Puts more bytes behind those that are there. Those that were read go, and marks become worthless.
    ///
    /// - Returns: how many went.
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
