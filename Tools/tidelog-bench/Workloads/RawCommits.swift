internal import Operations

/// Commits as raw bytes, as the log has them before compression: records one behind the other.
struct RawCommits {
    private(set) var bytes: [UInt8] = []
    /// Where each commit ends, and how many records it has.
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

    /// One piece a commit.
    var pieces: [Piece] {
        var start = 0
        return zip(ends, counts).map { end, count in
            defer { start = end }
            return Piece(range: start..<end, records: count)
        }
    }

    /// Whole commits in pieces of about so many bytes.
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
