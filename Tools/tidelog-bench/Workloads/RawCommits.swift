internal import Operations

/// Commits as raw bytes, as in the log before compression: concatenated records.
struct RawCommits {
    private(set) var bytes: [UInt8] = []
    /// The end of each commit, and the number of its records.
    private(set) var ends: [Int] = []
    private(set) var counts: [Int] = []

    init(_ commits: [[Record]]) {
        for commit in commits {
            for record in commit {
                let (kind, payload) = RecordCodec.encode(record)
                bytes.append(kind)
                var rest = payload.count
                while rest >= 0x80 {
                    bytes.append(UInt8(rest & 0x7F) | 0x80)
                    rest >>= 7
                }
                bytes.append(UInt8(rest))
                bytes.append(contentsOf: payload)
            }
            ends.append(bytes.count)
            counts.append(commit.count)
        }
    }

    var operations: Int { counts.reduce(0, +) }

    /// The commits, each as one piece.
    var pieces: [Piece] {
        var start = 0
        return zip(ends, counts).map { end, count in
            defer { start = end }
            return Piece(range: start..<end, records: count)
        }
    }

    /// Returns pieces of whole commits with about the given size.
    func pieces(of size: Int) -> [Piece] {
        pieces.reduce(into: []) { joined, piece in
            if let last = joined.last, last.range.count + piece.range.count <= size {
                joined[joined.count - 1] = Piece(
                    range: last.range.lowerBound..<piece.range.upperBound, records: last.records + piece.records)
            } else {
                joined.append(piece)
            }
        }
    }

    struct Piece {
        let range: Range<Int>
        let records: Int
    }
}
