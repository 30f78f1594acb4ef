import CPlatform

/// The events of a run as lines. If two runs of one seed have different hashes, the engine is not deterministic.
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

    /// Adds bytes to the hash without a line.
    mutating func add(_ bytes: [UInt8]) {
        hash = bytes.withUnsafeBytes { tidelog_crc32c(hash, $0.baseAddress, $0.count) }
    }
}
