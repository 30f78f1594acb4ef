/// A bit of the log that a repair has corrected.
package struct CorrectedBit: Sendable, Hashable {
    package let path: String
    /// The offset of its byte in the file.
    package let offset: UInt64
    /// The position in the byte; the lowest bit is 0.
    package let bit: UInt8
}

/// A view of a file system that inverts given bits in files that are opened for reading.
struct CorrectingFileSystem: FileSystem {
    private let below: any FileSystem
    /// The values to XOR bytes with, by path and offset.
    private var masks: [String: [UInt64: UInt8]] = [:]

    init(_ below: any FileSystem) { self.below = below }

    /// Inverts a bit. Inverting it twice restores it.
    mutating func turn(_ bit: CorrectedBit) {
        let mask = masks[bit.path, default: [:]][bit.offset, default: 0] ^ 1 << bit.bit
        masks[bit.path, default: [:]][bit.offset] = mask == 0 ? nil : mask
    }

    func open(_ path: String, _ mode: FileMode) throws(FileSystemError) -> any File {
        let file = try below.open(path, mode)
        guard mode == .read, let masks = masks[path] else { return file }
        return CorrectingFile(file, masks)
    }

    func list(_ directory: String) throws(FileSystemError) -> [String] { try below.list(directory) }
    func createDirectory(_ path: String) throws(FileSystemError) { try below.createDirectory(path) }
    func rename(_ path: String, to target: String) throws(FileSystemError) { try below.rename(path, to: target) }
    func remove(_ path: String) throws(FileSystemError) { try below.remove(path) }
    func syncDirectory(_ path: String) throws(FileSystemError) { try below.syncDirectory(path) }
    func lock(_ path: String) throws(FileSystemError) -> LockOutcome { try below.lock(path) }
}

/// A file that is opened for reading.
private final class CorrectingFile: File {
    private let below: any File
    private let masks: [UInt64: UInt8]

    init(_ below: any File, _ masks: [UInt64: UInt8]) {
        self.below = below
        self.masks = masks
    }

    func size() throws(FileSystemError) -> UInt64 { try below.size() }

    func read(at offset: UInt64, count: Int) throws(FileSystemError) -> [UInt8] {
        var bytes = try below.read(at: offset, count: count)
        for (place, mask) in masks where place >= offset && place - offset < UInt64(bytes.count) {
            bytes[Int(place - offset)] ^= mask
        }
        return bytes
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileSystemError) {
        try below.write(bytes, at: offset)
    }

    func sync() throws(FileSystemError) { try below.sync() }
    func truncate(to size: UInt64) throws(FileSystemError) { try below.truncate(to: size) }
    func close() { below.close() }
}
