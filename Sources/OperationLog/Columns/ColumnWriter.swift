/// Takes the records of a block apart into columns, so that what is alike stands together when it is compressed.
struct ColumnWriter {
    /// A record in a block's raw bytes.
    struct Source {
        let kind: UInt8
        let payload: Range<Int>
    }

    /// The columns, one behind the other.
    private(set) var bytes: [UInt8] = []
    /// Where columns end behind which others are better compressed by themselves.
    private var cuts: [Int] = []

    /// Of ``bytes``: all of them, in pieces of which each is best compressed by itself.
    var pieces: [Range<Int>] {
        let ends = cuts.last == bytes.count ? cuts : cuts + [bytes.count]
        return zip([0] + ends, ends).map { $0..<$1 }
    }

    /// Shorter ones are compressed with what precedes them.
    private static let shortestPiece = 256

    /// Nil where the bytes are not whole records.
    init?(raw: [UInt8]) {
        guard let records = Self.records(of: raw) else { return nil }
        raw.withUnsafeBufferPointer { raw in
            let (templates, choice) = TemplateSearch(raw, records).run()
            write(templates)
            cut()
            bytes.append(contentsOf: choice)
            write(without: zip(records, choice).filter { $0.1 == ColumnLayout.noTemplate }.map(\.0), raw)
            for (index, template) in templates.enumerated() {
                let own = zip(records, choice).filter { Int($0.1) == index + 1 }.map(\.0)
                write(own, of: template, raw)
            }
        }
    }

    private static func records(of raw: [UInt8]) -> [Source]? {
        var records: [Source] = []
        var offset = 0
        while offset < raw.count {
            guard let (kind, payload) = RecordCoding.decode(raw, at: &offset) else { return nil }
            records.append(Source(kind: kind, payload: payload))
        }
        return records
    }

    private mutating func write(_ templates: [RecordTemplate]) {
        write(templates.count)
        for template in templates {
            bytes.append(template.kind)
            write(template.anchors.count)
            for anchor in template.anchors {
                write(anchor.count)
                bytes.append(contentsOf: anchor)
            }
        }
    }

    private mutating func write(without records: [Source], _ raw: UnsafeBufferPointer<UInt8>) {
        for record in records { bytes.append(record.kind) }
        write(gap: records.map(\.payload), raw)
    }

    private mutating func write(
        _ records: [Source], of template: RecordTemplate, _ raw: UnsafeBufferPointer<UInt8>
    ) {
        var gaps = [[Range<Int>]](repeating: [], count: template.anchors.count + 1)
        for index in gaps.indices { gaps[index].reserveCapacity(records.count) }
        for record in records {
            var at = record.payload.lowerBound
            for (index, anchor) in template.anchors.enumerated() {
                let found = anchor.withUnsafeBufferPointer {
                    TemplateSearch.find($0, in: raw, at..<record.payload.upperBound)
                }
                guard let found else { preconditionFailure("the record has the template's anchors") }
                gaps[index].append(at..<found)
                at = found + anchor.count
            }
            gaps[template.anchors.count].append(at..<record.payload.upperBound)
        }
        for gap in gaps { write(gap: gap, raw) }
    }

    // MARK: One gap

    private mutating func write(gap pieces: [Range<Int>], _ raw: UnsafeBufferPointer<UInt8>) {
        cut()
        guard let length = pieces.first?.count, pieces.allSatisfy({ $0.count == length }) else {
            bytes.append(ColumnLayout.Mode.varying.rawValue)
            for piece in pieces { write(piece.count) }
            cut()
            for piece in pieces { bytes.append(contentsOf: raw[piece]) }
            return
        }
        // Longer ones are text as a rule, in which whole words are repeated.
        guard length <= 16, length > 0 else {
            bytes.append(ColumnLayout.Mode.records.rawValue)
            write(length)
            for piece in pieces { bytes.append(contentsOf: raw[piece]) }
            return
        }
        let modeAt = bytes.count
        bytes.append(ColumnLayout.Mode.lanes.rawValue)
        write(length)
        let start = bytes.count
        for lane in 0..<length {
            for piece in pieces { bytes.append(raw[piece.lowerBound + lane]) }
        }
        let differences = differences(ofLanes: length, count: pieces.count, at: start)
        if Self.cost(differences[...], lanes: length) < Self.cost(bytes[start...], lanes: length) {
            bytes[modeAt] = ColumnLayout.Mode.differences.rawValue
            bytes.replaceSubrange(start..., with: differences)
        }
    }

    private func differences(ofLanes lanes: Int, count: Int, at start: Int) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(lanes * count)
        for lane in 0..<lanes {
            var last: UInt8 = 0
            for index in start + lane * count..<start + (lane + 1) * count {
                result.append(bytes[index] &- last)
                last = bytes[index]
            }
        }
        return result
    }

    /// Grows with what an entropy coder needs for the bytes of each lane: the fewer different ones, the less.
    private static func cost(_ bytes: ArraySlice<UInt8>, lanes: Int) -> Int {
        let count = bytes.count / lanes
        var cost = 0
        for lane in 0..<lanes {
            var frequency = [Int](repeating: 0, count: 256)
            let start = bytes.startIndex + lane * count
            for byte in bytes[start..<start + count] { frequency[Int(byte)] += 1 }
            // Eighths of a bit, without floating point: the result must be the same everywhere only for the tests' sake.
            for number in frequency where number > 0 { cost += number * Self.bits(count, over: number) }
        }
        return cost
    }

    /// The logarithm of the quotient in eighths.
    private static func bits(_ count: Int, over number: Int) -> Int {
        var quotient = (count << 16) / number
        var result = 0
        while quotient >= 2 << 16 {
            quotient >>= 1
            result += 8
        }
        return result + ((quotient - (1 << 16)) >> 13)
    }

    private mutating func cut() {
        if bytes.count - (cuts.last ?? 0) >= Self.shortestPiece { cuts.append(bytes.count) }
    }

    private mutating func write(_ number: Int) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}
