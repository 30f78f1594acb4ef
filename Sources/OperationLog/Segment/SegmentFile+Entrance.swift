extension SegmentFile {
    /// Returns the position at which to begin reading for a record: the start of its run.
    ///
    /// For a record that the segment does not contain, returns the start of the last run.
    func entrance(for sequence: UInt64) throws(LogError) -> Position {
        guard let (footer, _) = try footerFromEnd() else { return try entranceByHeaders(for: sequence) }
        // Binary search for the first entry after the sequence number.
        var low = 0
        var high = footer.entries.count
        while low < high {
            let middle = (low + high) / 2
            if footer.entries[middle].sequence <= sequence { low = middle + 1 } else { high = middle }
        }
        guard low > 0 else { return start }
        let entry = footer.entries[low - 1]
        guard entry.offset < (try size()), let header = try header(at: entry.offset),
            header.type == BlockType.records, header.flags.contains(.startsRun),
            header.firstSequence == entry.sequence
        else {
            // The index contradicts the blocks. The blocks are authoritative, and reading them reports the damage.
            return try entranceByHeaders(for: sequence)
        }
        return Position(offset: entry.offset, nextSequence: entry.sequence, chain: header.chainBefore)
    }

    /// Finds the position through the block headers, as long as each block continues its predecessor.
    ///
    /// A repeated or moved block is not a valid position.
    private func entranceByHeaders(for sequence: UInt64) throws(LogError) -> Position {
        var found = start
        var position = start
        while let header = try header(at: position.offset), header.placeFault(at: position) == nil,
            header.firstSequence <= sequence
        {
            if header.type == BlockType.records, header.flags.contains(.startsRun) { found = position }
            position.offset += UInt64(BlockHeader.Layout.byteCount) + UInt64(header.storedLength)
            position.nextSequence = header.nextSequence
            position.chain = header.chainAfter
        }
        return found
    }
}
