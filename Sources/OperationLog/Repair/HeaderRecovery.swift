/// Recovers the header of a segment whose header is damaged.
///
/// Nothing is guessed: a candidate is accepted only if its checksum matches and the checksum of a block in the file,
/// which continues the header's, matches as well.
struct HeaderRecovery {
    let fileSystem: any FileSystem
    let path: String
    let keys: [LogKey]
    /// The first sequence number according to the file name.
    let firstSequence: UInt64
    /// The store that the other segments belong to, if there are any.
    let store: StoreIdentifier?

    /// Returns the segment, or nil if the header cannot be recovered or no intact block can confirm it.
    func run(_ bytes: [UInt8]) throws(LogError) -> SegmentFile? {
        for size in [SegmentHeader.Layout.byteCount, SegmentHeader.EncryptedLayout.byteCount] where bytes.count >= size
        {
            for candidate in candidates(Array(bytes.prefix(size)), file: bytes) {
                if let segment = try proven(candidate) { return segment }
            }
        }
        return nil
    }

    private func candidates(_ bytes: [UInt8], file: [UInt8]) -> [[UInt8]] {
        var candidates = [withFittingChecksum(bytes)] + withOneByteChanged(bytes)
        if bytes.count == SegmentHeader.Layout.byteCount { candidates += reconstructed(bytes, file) }
        return candidates
    }

    /// Returns the header with a recomputed checksum, in case only the checksum was damaged.
    private func withFittingChecksum(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        let end = bytes.count - 4
        bytes.store(crc32c(bytes[..<end]), FieldLayout("header checksum", end, 4), in: 0)
        return bytes
    }

    /// Returns all headers that differ in one byte and have a matching checksum.
    private func withOneByteChanged(_ bytes: [UInt8]) -> [[UInt8]] {
        var found: [[UInt8]] = []
        var bytes = bytes
        let end = bytes.count - 4
        let checksum = SegmentHeader.checksum(of: bytes)
        for index in 0..<end {
            let original = bytes[index]
            for value in UInt8.min ... .max where value != original {
                bytes[index] = value
                if crc32c(bytes[..<end]) == checksum { found.append(bytes) }
            }
            bytes[index] = original
        }
        return found
    }

    /// Reconstructs the header of an unencrypted segment, whose fields are all known from other sources.
    private func reconstructed(_ bytes: [UInt8], _ file: [UInt8]) -> [[UInt8]] {
        let stores = [store, StoreIdentifier(bytes[...].bytes(SegmentHeader.Layout.storeIdentifier))].compactMap { $0 }
        var chains: [UInt32] = [bytes[...].load(SegmentHeader.Layout.chain)]
        let block = file.dropFirst(SegmentHeader.Layout.byteCount)
        if block.count >= BlockHeader.Layout.checksum.offset {
            chains.append(block.load(BlockHeader.Layout.chainBefore))
        }
        return stores.flatMap { store in
            (chains + [store.initialChain]).map { chain in
                SegmentHeader(
                    storeIdentifier: store, firstSequence: firstSequence, chain: chain, isFirst: firstSequence == 1,
                    key: nil
                ).encoded()
            }
        }
    }

    private func proven(_ bytes: [UInt8]) throws(LogError) -> SegmentFile? {
        guard let header = try? SegmentHeader.decode(bytes), !header.isSnapshot else { return nil }
        let segment: SegmentFile
        let file = try onFiles { () throws(FileSystemError) in try fileSystem.open(path, .read) }
        do {
            segment = try SegmentFile(path: path, file: file, header: header, keys: keys)
        } catch {
            file.close()
            return nil
        }
        let hasBlock = try segment.nextHeader(after: UInt64(header.byteCount) - 1) { _ in true } != nil
        return hasBlock ? segment : nil
    }
}
