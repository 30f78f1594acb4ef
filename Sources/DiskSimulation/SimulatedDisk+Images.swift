import Synchronization

/// The disks that a crash can leave: usable disks without locks that contain data that may have survived.
extension SimulatedDisk {
    /// Returns a disk with the data that programs see now, as after the end of the process.
    package func copy() -> SimulatedDisk {
        image(\.names) { _, content in content.live }
    }

    /// Returns a disk with the synced data only.
    package func withoutUnsynced() -> SimulatedDisk {
        image(\.durableNames) { _, content in content.durable }
    }

    /// The length of the last unsynced write in bytes; nil if there is none.
    package var lastUnsyncedWrite: Int? {
        state.withLock { state in
            for content in state.contents.reversed() {
                if case .write(_, let bytes)? = content.pending.last?.change { return bytes.count }
            }
            return nil
        }
    }

    /// Returns a disk with all data, except that the last unsynced write of each file is cut to `kept` bytes.
    package func tearing(lastWriteTo kept: Int) -> SimulatedDisk {
        image(\.names) { _, content in
            var bytes = content.durable
            for (index, (_, change)) in content.pending.enumerated() {
                if index == content.pending.count - 1, case .write(let offset, let data) = change {
                    bytes.apply(.write(offset: offset, bytes: Array(data.prefix(kept))))
                } else {
                    bytes.apply(change)
                }
            }
            return bytes
        }
    }

    /// Calls the closure with each image that the rules allow, sector by sector and name by name. If there are more
    /// than `limit` images, calls it with `limit` random ones instead.
    ///
    /// - Returns: Whether the closure was called with all images.
    @discardableResult
    package func forEachImage(
        limit: Int, _ generator: inout some RandomNumberGenerator, _ body: (SimulatedDisk) throws -> Void
    ) rethrows -> Bool {
        let (choices, steps) = state.withLock { state in
            // One bit for each piece: whether it survives. One bit for each file: whether the file grew if no piece
            // that extends it survives.
            let reachable = Set(state.durableNames.values)
                .union(state.pendingNames.flatMap { $0.values.compactMap { $0 } })
            let choices = state.contents.enumerated().map { index, content in
                reachable.contains(index) ? content.pieces(sector: sector).count + 1 : 1
            }
            return (choices, state.pendingNames.count)
        }
        let bits = choices.enumerated().filter { $0.element > 1 }
        let count = bits.reduce(0) { $0 + $1.element }
        guard count < 30, (1 << count) * (steps + 1) <= limit else {
            for _ in 0..<limit { try body(random(&generator)) }
            return false
        }
        for step in 0...steps {
            for mask in 0..<(1 << count) {
                var mask = mask
                var masks: [Int: Int] = [:]
                for (index, width) in bits {
                    masks[index] = mask & ((1 << width) - 1)
                    mask >>= width
                }
                try body(
                    image({ $0.names(after: step) }) { index, content in
                        guard let mask = masks[index] else { return content.durable }
                        let pieces = content.pieces(sector: sector)
                        let kept = pieces.indices.map { mask & (2 << $0) != 0 }
                        return content.surviving(pieces, kept: kept, grows: mask & 1 != 0)
                    })
            }
        }
        return true
    }

    /// Returns a random image that the rules allow. Some images have writes that are torn within a sector, into pieces
    /// of at least eight bytes.
    package func random(_ generator: inout some RandomNumberGenerator) -> SimulatedDisk {
        var draws = generator
        let steps = Int.random(in: 0...state.withLock { $0.pendingNames.count }, using: &draws)
        let piece = Int.random(in: min(8, sector)...sector, using: &draws)
        let unit = [.max, sector, piece].randomElement(using: &draws) ?? sector
        let chance = Double.random(in: 0...1, using: &draws)
        let result = image({ $0.names(after: steps) }) { _, content in
            let pieces = content.pieces(sector: unit)
            let kept = pieces.map { _ in Double.random(in: 0..<1, using: &draws) < chance }
            return content.surviving(pieces, kept: kept, grows: Bool.random(using: &draws))
        }
        generator = draws
        return result
    }

    private func image(
        _ names: (DiskState) -> [String: Int], _ bytes: (Int, FileContents) -> [UInt8]
    ) -> SimulatedDisk {
        let old = state.withLock { $0 }
        var new = DiskState(directories: old.directories)
        for (path, index) in names(old).sorted(by: { $0.key < $1.key }) {
            let bytes = bytes(index, old.contents[index])
            new.names[path] = new.contents.count
            new.contents.append(FileContents(live: bytes, durable: bytes))
        }
        new.durableNames = new.names
        return SimulatedDisk(new, sector: sector)
    }
}

extension SimulatedDisk.DiskState {
    /// Returns the names after the given number of steps since the last sync of the directory.
    fileprivate func names(after steps: Int) -> [String: Int] {
        var names = durableNames
        for step in pendingNames.prefix(steps) {
            for (path, index) in step { names[path] = index }
        }
        return names
    }
}

extension SimulatedDisk.FileContents {
    /// Returns the unsynced changes, with writes split at the boundaries of sectors.
    fileprivate func pieces(sector: Int) -> [SimulatedDisk.Change] {
        pending.flatMap { _, change -> [SimulatedDisk.Change] in
            guard case .write(let offset, let bytes) = change else { return [change] }
            var pieces: [SimulatedDisk.Change] = []
            var start = 0
            while start < bytes.count {
                let end = min(bytes.count - start, sector - (offset + start) % sector) + start
                pieces.append(.write(offset: offset + start, bytes: Array(bytes[start..<end])))
                start = end
            }
            return pieces
        }
    }

    /// Returns the durable bytes with the surviving pieces. If a truncation does not survive, no later piece does:
    /// later pieces were written to blocks that the file received after the truncation.
    fileprivate func surviving(_ pieces: [SimulatedDisk.Change], kept: [Bool], grows: Bool) -> [UInt8] {
        var bytes = durable
        var size = 0
        for (piece, isKept) in zip(pieces, kept) {
            switch piece {
            case .truncate:
                guard isKept else { return bytes }
                size = 0
                bytes.apply(piece)
            case .write(let offset, let written):
                size = max(size, offset + written.count)
                if isKept { bytes.apply(piece) }
            }
        }
        if grows { bytes.grow(to: size) }
        return bytes
    }
}

extension [UInt8] {
    mutating func apply(_ change: SimulatedDisk.Change) {
        switch change {
        case .write(let offset, let bytes):
            guard !bytes.isEmpty else { return }
            grow(to: offset + bytes.count)
            withUnsafeMutableBytes { own in
                UnsafeMutableRawBufferPointer(rebasing: own[offset...]).copyBytes(from: bytes)
            }
        case .truncate(let size):
            if size < count { removeLast(count - size) }
        }
    }

    /// Appends zeros. By memory as a whole: an element at a time takes seconds in a debug build.
    fileprivate mutating func grow(to size: Int) {
        guard count < size else { return }
        if capacity < size { reserveCapacity(Swift.max(size, 2 * capacity)) }
        append(
            contentsOf: [UInt8](unsafeUninitializedCapacity: size - count) { buffer, initialized in
                _ = UnsafeMutableRawBufferPointer(buffer).initializeMemory(as: UInt8.self, repeating: 0)
                initialized = buffer.count
            })
    }
}
