extension LogFault {
    /// Whether a crash while writing can leave this behind. Everything else cannot happen to bytes that a writer was
    /// about to write at the end of a file.
    var mayBeTorn: Bool {
        switch self {
        case .endsEarly, .zeroes, .wrongMagic, .headerChecksum, .payloadChecksum, .unfinishedCommit: true
        default: false
        }
    }
}

extension SegmentFile {
    /// Whether an invalid structure in the last segment is the trace of a crash.
    ///
    /// It is damage where an intact block behind it says that everything before it had been durable. The last commit
    /// has no such witness: there a flipped bit looks like a torn write.
    func isTorn(_ fault: LogFault, at position: Position) throws(LogError) -> Bool {
        guard fault.mayBeTorn else { return false }
        let witness = try nextHeader(after: position.offset) { header in
            header.flags.contains(.predecessorsDurable) && header.firstSequence >= position.nextSequence
        }
        return witness == nil
    }
}
