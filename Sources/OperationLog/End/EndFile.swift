/// The file next to the segments that records the end of the log; see `Docs/LogFormat.md`, *The end of the log*.
enum EndFile {
    static let name = "END"

    /// Returns the content of the file, or an empty array if it does not exist.
    ///
    /// Must be read before the log, because a writer records the end after writing the log.
    static func bytes(_ fileSystem: any FileSystem, directory: String) throws(LogError) -> [UInt8] {
        do throws(FileSystemError) {
            let file = try fileSystem.open(directory + "/" + name, .read)
            defer { file.close() }
            return try file.read(at: 0, count: Int(EndSlots.offsets[1]) + EndSlots.Layout.byteCount)
        } catch {
            guard error.isNotFound else { throw .fileSystem(error) }
            return []
        }
    }

    /// Returns the error for a directory without segments.
    ///
    /// The file `END` is written only if segments with records exist, so its presence means that segments are missing.
    static func errorOfEmptyLog(_ fileSystem: any FileSystem, directory: String) throws(LogError) -> LogError {
        guard try !bytes(fileSystem, directory: directory).isEmpty else { return .noLog(path: directory) }
        return .damaged(missingFirstSegment(in: directory))
    }

    static func missingFirstSegment(in directory: String) -> LogDamage {
        LogDamage(
            path: directory + "/" + SegmentName.name(firstSequence: 1), offset: 0, fault: .missingSegment, sequence: 1)
    }

    /// Empties the file, for a log that is shortened on purpose.
    ///
    /// The file is kept, so that a file in a file system below an overlay stays hidden.
    static func clear(_ fileSystem: any FileSystem, directory: String) throws(FileSystemError) {
        let path = directory + "/" + name
        do throws(FileSystemError) {
            let file = try fileSystem.open(path, .readWrite)
            defer { file.close() }
            try file.truncate(to: 0)
        } catch {
            guard error.isNotFound else { throw error }
            try fileSystem.open(path, .create).close()
        }
    }
}

/// The content of ``EndFile``: two slots. The older slot is overwritten next, so a crash can only destroy that one.
struct EndSlots: Sendable {
    static let offsets: [UInt64] = [0, 512]

    /// The layout of one slot.
    enum Layout {
        static let magic = FieldLayout("magic", 0, 8)
        static let version = FieldLayout("version", 8, 2)
        static let reserved = FieldLayout("reserved", 10, 6)
        static let store = FieldLayout("store identifier", 16, 16)
        static let lastSegment = FieldLayout("last segment", 32, 8)
        static let nextSequence = FieldLayout("next sequence", 40, 8)
        static let authentication = FieldLayout("authentication", 48, 32)
        static let checksum = FieldLayout("checksum", 80, 4)
        static let byteCount = 84

        static let all = [magic, version, reserved, store, lastSegment, nextSequence, authentication, checksum]
    }

    private static let magic: [UInt8] = Array("TIDEEND\n".utf8)
    private static let version: UInt16 = 1

    let store: StoreIdentifier
    private let keys: [LogKey]
    /// The end in the newer of the valid slots, or nil if no slot is valid.
    private(set) var newest: LogEnd?
    /// The index of the slot to write next.
    private(set) var nextIndex = 0

    /// Parses the slots.
    ///
    /// - Parameters:
    ///   - bytes: The content of the file.
    ///   - segment: The log's last segment. If it is encrypted, only slots authenticated by one of the keys count.
    init(_ bytes: [UInt8], of segment: SegmentFile, keys: [LogKey]) {
        self.init(
            bytes, of: segment.header.storeIdentifier, keys: keys, isEncrypted: segment.header.encryption != nil)
    }

    /// Parses the slots of a log without segments. Returns nil if no slot is valid.
    init?(_ bytes: [UInt8], keys: [LogKey]) {
        let stores = Self.offsets.compactMap { offset -> StoreIdentifier? in
            let slot = Self.slot(at: offset, in: bytes)
            return Self.isWhole(slot) ? StoreIdentifier(slot.bytes(Layout.store)) : nil
        }
        guard let store = stores.first else { return nil }
        self.init(bytes, of: store, keys: keys, isEncrypted: false)
    }

    private init(_ bytes: [UInt8], of store: StoreIdentifier, keys: [LogKey], isEncrypted: Bool) {
        self.store = store
        self.keys = keys
        for (index, offset) in Self.offsets.enumerated() {
            if let end = end(in: Self.slot(at: offset, in: bytes), isEncrypted: isEncrypted) { setSlot(end, at: index) }
        }
    }

    private static func slot(at offset: UInt64, in bytes: [UInt8]) -> ArraySlice<UInt8> {
        bytes.dropFirst(Int(offset)).prefix(Layout.byteCount)
    }

    private static func isWhole(_ slot: ArraySlice<UInt8>) -> Bool {
        slot.count == Layout.byteCount && slot.bytes(Layout.magic).elementsEqual(magic)
            && slot.load(Layout.version) == version
            && slot.load(Layout.checksum) == crc32c(slot.prefix(Layout.checksum.offset))
    }

    /// Records that the slot at `index` contains `end`.
    mutating func setSlot(_ end: LogEnd, at index: Int) {
        if let newest, (newest.nextSequence, newest.lastSegment) > (end.nextSequence, end.lastSegment) { return }
        newest = end
        nextIndex = 1 - index
    }

    private func end(in slot: ArraySlice<UInt8>, isEncrypted: Bool) -> LogEnd? {
        guard Self.isWhole(slot), StoreIdentifier(slot.bytes(Layout.store)) == store, isAuthentic(slot, isEncrypted)
        else { return nil }
        let end = LogEnd(lastSegment: slot.load(Layout.lastSegment), nextSequence: slot.load(Layout.nextSequence))
        return end.lastSegment > 0 && end.lastSegment <= end.nextSequence ? end : nil
    }

    private func isAuthentic(_ slot: ArraySlice<UInt8>, _ isEncrypted: Bool) -> Bool {
        let code = Array(slot.bytes(Layout.authentication))
        guard code.contains(where: { $0 != 0 }) else { return !isEncrypted }
        let content = authenticated(slot)
        return keys.isEmpty || keys.contains { $0.isAuthentication(code, of: content) }
    }

    /// Returns the encoded slot.
    func encoded(_ end: LogEnd) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Layout.byteCount)
        bytes.store(Self.magic, Layout.magic, in: 0)
        bytes.store(Self.version, Layout.version, in: 0)
        bytes.store(store.bytes, Layout.store, in: 0)
        bytes.store(end.lastSegment, Layout.lastSegment, in: 0)
        bytes.store(end.nextSequence, Layout.nextSequence, in: 0)
        if let key = keys.first {
            bytes.store(key.authentication(of: authenticated(bytes[...])), Layout.authentication, in: 0)
        }
        bytes.store(crc32c(bytes[..<Layout.checksum.offset]), Layout.checksum, in: 0)
        return bytes
    }

    private func authenticated(_ slot: ArraySlice<UInt8>) -> [UInt8] {
        Array("end of the log".utf8) + slot.prefix(Layout.authentication.offset)
    }
}

/// Keeps ``EndFile`` up to date for the writer of a log.
struct EndRecorder {
    private let fileSystem: any FileSystem
    private let directory: String
    private var slots: EndSlots

    init(_ fileSystem: any FileSystem, directory: String, _ slots: EndSlots) {
        self.fileSystem = fileSystem
        self.directory = directory
        self.slots = slots
    }

    /// Records the end if it has changed. Everything before it must be durable.
    ///
    /// A failure is ignored and loses only this note; the next call uses the same slot.
    mutating func record(_ end: LogEnd) {
        guard end != slots.newest, end.nextSequence > 1 else { return }
        let index = slots.nextIndex
        do throws(FileSystemError) {
            try write(slots.encoded(end), at: EndSlots.offsets[index])
            slots.setSlot(end, at: index)
        } catch {}
    }

    private func write(_ slot: [UInt8], at offset: UInt64) throws(FileSystemError) {
        let (file, isNew) = try opened()
        defer { file.close() }
        try file.write(slot, at: offset)
        try file.sync()
        if isNew { try fileSystem.syncDirectory(directory) }
    }

    private func opened() throws(FileSystemError) -> (file: any File, isNew: Bool) {
        let path = directory + "/" + EndFile.name
        do throws(FileSystemError) {
            return (try fileSystem.open(path, .readWrite), false)
        } catch {
            guard error.isNotFound else { throw error }
            return (try fileSystem.open(path, .create), true)
        }
    }
}
