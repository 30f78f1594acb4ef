import CPlatform

/// What happened in a run, line by line. Two runs of one seed have one hash, or something in the engine is left to chance.
struct Trace {
    let keepsLines: Bool
    private(set) var lines: [String] = []
    private(set) var hash: UInt32 = 0

    init(keepsLines: Bool) { self.keepsLines = keepsLines }

    mutating func add(_ line: String) {
        var line = line
        hash = line.withUTF8 { tidelog_crc32c(hash, $0.baseAddress, $0.count) }
        if keepsLines { lines.append(line) }
    }

    /// Bytes that are too many to be told.
    mutating func add(_ bytes: [UInt8]) {
        hash = bytes.withUnsafeBytes { tidelog_crc32c(hash, $0.baseAddress, $0.count) }
    }
}
