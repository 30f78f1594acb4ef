internal import OperationLog
internal import Operations

extension Bench {
    static let compression = Bench(
        name: "compression", summary: "Compression methods of the log, for three shapes of commits and six levels."
    ) { surroundings in
        var report = Report()
        for shape in CommitShape.allCases {
            surroundings.say("compression: \(shape.rawValue)")
            let commits = RawCommits(shape.commits(operations: 30_000))
            var rows: [[String]] = []
            for level in [1, 3, 6, 9, 12, 19] {
                var results: [CompressionWay: CompressionResult] = [:]
                for way in CompressionWay.allCases {
                    let result = try way.measure(commits, level: level)
                    results[way] = result
                    report.cases += result.cases(
                        "\(shape.rawValue), \(way.rawValue), level \(level)", beside: results[.frames])
                }
                rows.append(
                    ["\(level)"] + CompressionWay.allCases.map { results[$0]?.text ?? "" })
            }
            let raw = NumberText.short(Double(commits.bytes.count) / Double(commits.operations))
            report.notes += ["", "\(shape.rawValue): \(shape.meaning); \(raw) bytes per operation uncompressed.", ""]
            report.notes += ReportText.table(["level"] + CompressionWay.allCases.map(\.rawValue), rows)
        }
        report.notes += [
            "",
            "Each cell: bytes per operation with block headers / compression MB/s / decompression MB/s of uncompressed bytes.",
        ]
        return report
    }
}

/// A method to compress the commits of a log. The first three can be applied to each commit, the last two only later.
enum CompressionWay: String, CaseIterable {
    case frames = "one frame per commit"
    case dictionary = "one frame per commit, dictionary"
    case stream = "a flushed stream"
    case blocks = "repacked: large blocks"
    case columns = "repacked: columns"

    private static let runSize = 262_144
    private static let blockHeaderSize = 44
    private static let dictionarySize = 16_384

    func measure(_ commits: RawCommits, level: Int) throws -> CompressionResult {
        let pieces =
            switch self {
            case .frames, .dictionary, .stream: commits.pieces
            case .blocks, .columns: commits.pieces(of: 1 << 20)
            }
        let dictionary = self == .dictionary ? try Self.dictionary(commits) : nil
        let frames = try ZstdFrames(level: level, dictionary: dictionary)
        var stored: [UInt8] = []
        var ends: [Int] = []
        let compressing = try compress(commits, pieces, frames, to: &stored, &ends)
        let decompressing = try decompress(commits, pieces, frames, stored, ends)
        return CompressionResult(
            bytesPerOperation: Double(stored.count + pieces.count * Self.blockHeaderSize + (dictionary?.count ?? 0))
                / Double(commits.operations),
            compressing: Double(commits.bytes.count) / compressing / 1e6,
            decompressing: Double(commits.bytes.count) / decompressing / 1e6)
    }

    private static func dictionary(_ commits: RawCommits) throws -> [UInt8] {
        // As a writer would do: from the first records of the segment, up to a hundred times the size of the
        // dictionary.
        var samples: [Int] = []
        var start = 0
        for end in commits.ends where end <= dictionarySize * 100 {
            // Samples have to be small, so long commits are split.
            for from in stride(from: start, to: end, by: 1_024) { samples.append(min(1_024, end - from)) }
            start = end
        }
        return try ZstdFrames.train(commits.bytes, lengths: samples, size: dictionarySize)
    }

    /// Compresses the pieces. Returns the time in seconds.
    private func compress(
        _ commits: RawCommits, _ pieces: [RawCommits.Piece], _ frames: ZstdFrames, to stored: inout [UInt8],
        _ ends: inout [Int]
    ) throws -> Double {
        stored.reserveCapacity(commits.bytes.count + pieces.count * 600)
        var encoder = ColumnEncoder(BenchLog.layout)
        var inRun = 0
        let start = ContinuousClock.now
        for piece in pieces {
            let isNewRun = self != .stream || inRun == 0 || inRun + piece.range.count > Self.runSize
            if isNewRun {
                frames.startFrame()
                inRun = 0
            }
            inRun += piece.range.count
            if self == .columns {
                let raw = Array(commits.bytes[piece.range])
                guard let form = encoder.encode(raw, recordCount: UInt32(piece.records)) else {
                    throw Failure("The records have no columns.")
                }
                try form.withUnsafeBytes { try frames.compress($0, to: &stored, endsFrame: true) }
            } else {
                try commits.bytes.withUnsafeBytes {
                    try frames.compress(
                        UnsafeRawBufferPointer(rebasing: $0[piece.range]), to: &stored, endsFrame: self != .stream)
                }
            }
            ends.append(stored.count)
        }
        return Stopwatch.seconds(since: start)
    }

    private func decompress(
        _ commits: RawCommits, _ pieces: [RawCommits.Piece], _ frames: ZstdFrames, _ stored: [UInt8], _ ends: [Int]
    ) throws -> Double {
        var target = [UInt8](repeating: 0, count: (1 << 20) + 4_096)
        var decoder = ColumnDecoder()
        var inRun = 0
        var from = 0
        let start = ContinuousClock.now
        for (piece, end) in zip(pieces, ends) {
            if self != .stream || inRun == 0 || inRun + piece.range.count > Self.runSize {
                frames.startFrame()
                inRun = 0
            }
            inRun += piece.range.count
            let count = try stored.withUnsafeBytes { stored in
                try target.withUnsafeMutableBytes {
                    try frames.decompress(UnsafeRawBufferPointer(rebasing: stored[from..<end]), into: $0)
                }
            }
            from = end
            if self == .columns {
                guard
                    decoder.decode(
                        Array(target[..<count]), recordCount: UInt32(piece.records), rawLength: piece.range.count)
                        != nil
                else { throw Failure("The decoded columns differ from the records.") }
            } else if count != piece.range.count {
                throw Failure("The decompressed bytes differ from the input.")
            }
        }
        return Stopwatch.seconds(since: start)
    }
}

struct CompressionResult {
    let bytesPerOperation: Double
    let compressing: Double
    let decompressing: Double

    /// The result as a cell of a table.
    var text: String {
        [bytesPerOperation, compressing, decompressing].map(NumberText.short).joined(separator: " / ")
    }

    func cases(_ name: String, beside frames: CompressionResult?) -> [Case] {
        let baseline = frames.map { Case.Baseline(name: CompressionWay.frames.rawValue, value: $0.bytesPerOperation) }
        return [
            Case(name, bytesPerOperation, .bytesPerOperation, against: baseline),
            Case(name + ", compressing", compressing, .megabytesPerSecond),
            Case(name + ", decompressing", decompressing, .megabytesPerSecond),
        ]
    }
}
