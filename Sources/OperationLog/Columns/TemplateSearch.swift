/// Finds the shapes that a block's records have. Any answer is right: it only decides how well they compress.
struct TemplateSearch {
    private let raw: UnsafeBufferPointer<UInt8>
    private let records: [ColumnWriter.Source]

    /// Shorter pieces are the same by chance too often.
    private static let shortestAnchor = 4
    private static let sampleSize = 32
    /// Rarer shapes are not worth a template.
    private static let fewestRecords = 8
    private static let mostTemplates = 24
    private static let mostFailures = 8
    /// The search takes time by the square of it. Longer payloads are mostly text, which has no shape.
    private static let longestPayload = 2048

    init(_ raw: UnsafeBufferPointer<UInt8>, _ records: [ColumnWriter.Source]) {
        self.raw = raw
        self.records = records
    }

    /// For each record the number of its template, counted from 1, or 0.
    func run() -> (templates: [RecordTemplate], choice: [UInt8]) {
        var templates: [RecordTemplate] = []
        var choice = [UInt8](repeating: ColumnLayout.noTemplate, count: records.count)
        var open = Array(records.indices)
        var attempts = 0
        while open.count >= Self.fewestRecords, templates.count < Self.mostTemplates, attempts < 2 * Self.mostTemplates
        {
            attempts += 1
            let seed = open[open.count / 2]
            let template = template(like: seed, among: open)
            var fitting: [Int] = []
            if let template {
                fitting = open.filter { Self.matches(raw, records[$0], template) }
            }
            guard fitting.count >= Self.fewestRecords, let template else {
                failures += 1
                open.removeAll { $0 == seed }
                continue
            }
            templates.append(template)
            for index in fitting { choice[index] = UInt8(templates.count) }
            open.removeAll { choice[$0] != ColumnLayout.noTemplate }
        }
        return (templates, choice)
    }

    /// Whether the record has the template's anchors in their order.
    static func matches(
        _ raw: UnsafeBufferPointer<UInt8>, _ record: ColumnWriter.Source, _ template: RecordTemplate
    ) -> Bool {
        guard record.kind == template.kind else { return false }
        var at = record.payload.lowerBound
        for anchor in template.anchors {
            guard let found = anchor.withUnsafeBufferPointer({ find($0, in: raw, at..<record.payload.upperBound) })
            else {
                return false
            }
            at = found + anchor.count
        }
        return true
    }

    /// Where the bytes are first in the range.
    static func find(
        _ bytes: UnsafeBufferPointer<UInt8>, in raw: UnsafeBufferPointer<UInt8>, _ range: Range<Int>
    ) -> Int? {
        guard range.count >= bytes.count else { return nil }
        let first = bytes[0]
        var at = range.lowerBound
        let last = range.upperBound - bytes.count
        while at <= last {
            if raw[at] == first {
                var length = 1
                while length < bytes.count, raw[at + length] == bytes[length] { length += 1 }
                if length == bytes.count { return at }
            }
            at += 1
        }
        return nil
    }

    // MARK: One template

    private func template(like seed: Int, among open: [Int]) -> RecordTemplate? {
        let kind = records[seed].kind
        let length = max(records[seed].payload.count, 1)
        let size = min(Self.sampleSize, max(4, Self.longestPayload * Self.longestPayload * 4 / (length * length)))
        let stride = max(1, open.count / size)
        var sample = Swift.stride(from: 0, to: open.count, by: stride).map { open[$0] }
            .filter { $0 != seed && records[$0].kind == kind }
        // Those that are of another shape would leave nothing in common.
        sample.removeAll { other in
            2 * common(seed, [other]).reduce(0) { $0 + $1.count } < records[seed].payload.count
        }
        guard sample.count >= 3 else { return nil }
        let anchors = common(seed, sample)
        guard !anchors.isEmpty else { return nil }
        return RecordTemplate(kind: kind, anchors: anchors.map { Array(raw[$0]) })
    }

    /// Pieces of the seed that all of the others have in the same order, longest first where they begin.
    private func common(_ seed: Int, _ others: [Int]) -> [Range<Int>] {
        var pieces: [Range<Int>] = []
        var cursors = others.map { records[$0].payload.lowerBound }
        var found = cursors
        let end = records[seed].payload.upperBound
        var at = records[seed].payload.lowerBound
        while at + Self.shortestAnchor <= end, pieces.count < ColumnLayout.maximumAnchors {
            let needle = UnsafeBufferPointer(rebasing: raw[at..<at + Self.shortestAnchor])
            var isCommon = true
            for (index, other) in others.enumerated() where isCommon {
                if let place = Self.find(needle, in: raw, cursors[index]..<records[other].payload.upperBound) {
                    found[index] = place
                } else {
                    isCommon = false
                }
            }
            guard isCommon else {
                at += 1
                continue
            }
            var length = Self.shortestAnchor
            while at + length < end,
                others.indices.allSatisfy({ index in
                    found[index] + length < records[others[index]].payload.upperBound
                        && raw[found[index] + length] == raw[at + length]
                })
            {
                length += 1
            }
            pieces.append(at..<at + length)
            for index in cursors.indices { cursors[index] = found[index] + length }
            at += length
        }
        return pieces
    }
}
