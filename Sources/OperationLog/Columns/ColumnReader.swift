/// Puts the records of a block together again from their columns.
///
/// The bytes come from a file: each length is checked before it is used, and no memory is taken for what they claim. All
/// that is kept beside them is one place in them for each gap of each template.
struct ColumnReader {
    private var columns: [UInt8]
    private var offset = 0

    private init(_ columns: consuming [UInt8]) { self.columns = columns }

    /// Exactly `rawLength` bytes of so many records, or nil where the columns do not say so.
    static func raw(_ columns: consuming [UInt8], recordCount: Int, rawLength: Int) -> [UInt8]? {
        var reader = ColumnReader(columns)
        return reader.read(recordCount: recordCount, rawLength: rawLength)
    }

    private struct Gap {
        var mode: ColumnLayout.Mode
        /// Of one record, where all have the same.
        var length = 0
        /// Where the next record's length is, where they differ.
        var lengths = 0
        /// Where the next record's bytes are; in lanes: where its byte of the first lane is.
        var bytes = 0
        /// From a byte to the record's next one.
        var stride = 1
    }

    private struct Template {
        let kind: UInt8
        /// In ``ColumnReader/columns``.
        let anchors: [Range<Int>]
        var gaps: [Gap] = []
        var count = 0
    }

    private mutating func read(recordCount: Int, rawLength: Int) -> [UInt8]? {
        guard var templates = readTemplates(), recordCount <= columns.count - offset else { return nil }
        let choice = offset..<offset + recordCount
        offset = choice.upperBound
        var without = 0
        for index in choice {
            let template = Int(columns[index])
            if template == 0 {
                without += 1
            } else {
                guard template <= templates.count else { return nil }
                templates[template - 1].count += 1
            }
        }
        guard without <= columns.count - offset else { return nil }
        var kinds = offset
        offset += without
        guard var whole = readGap(count: without) else { return nil }
        for index in templates.indices {
            for _ in 0...templates[index].anchors.count {
                guard let gap = readGap(count: templates[index].count) else { return nil }
                templates[index].gaps.append(gap)
            }
        }
        guard offset == columns.count else { return nil }
        return assemble(choice, &kinds, &whole, &templates, rawLength: rawLength)
    }

    // MARK: Places

    private mutating func readTemplates() -> [Template]? {
        guard let count = number(), count <= ColumnLayout.maximumTemplates else { return nil }
        var templates: [Template] = []
        for _ in 0..<count {
            guard offset < columns.count else { return nil }
            let kind = columns[offset]
            offset += 1
            guard let anchorCount = number(), anchorCount > 0, anchorCount <= ColumnLayout.maximumAnchors else {
                return nil
            }
            var anchors: [Range<Int>] = []
            for _ in 0..<anchorCount {
                guard let length = number(), length > 0, length <= columns.count - offset else { return nil }
                anchors.append(offset..<offset + length)
                offset += length
            }
            templates.append(Template(kind: kind, anchors: anchors))
        }
        return templates
    }

    /// The place of a gap's bytes for so many records. Differences become the bytes that they stand for.
    private mutating func readGap(count: Int) -> Gap? {
        guard offset < columns.count, let mode = ColumnLayout.Mode(rawValue: columns[offset]) else { return nil }
        offset += 1
        var gap = Gap(mode: mode)
        if mode == .varying {
            gap.lengths = offset
            var total = 0
            for _ in 0..<count {
                guard let length = number() else { return nil }
                total += length
                guard total <= columns.count else { return nil }
            }
            guard total <= columns.count - offset else { return nil }
            gap.bytes = offset
            offset += total
            return gap
        }
        guard let length = number() else { return nil }
        let (total, isTooLong) = length.multipliedReportingOverflow(by: count)
        guard !isTooLong, total <= columns.count - offset else { return nil }
        gap.length = length
        gap.bytes = offset
        if mode != .records { gap.stride = count }
        if mode == .differences, total > 0 { sum(lanes: length, of: count, at: offset) }
        offset += total
        return gap
    }

    private mutating func sum(lanes: Int, of count: Int, at start: Int) {
        columns.withUnsafeMutableBufferPointer { bytes in
            for lane in 0..<lanes {
                var last: UInt8 = 0
                for index in start + lane * count..<start + (lane + 1) * count {
                    last &+= bytes[index]
                    bytes[index] = last
                }
            }
        }
    }

    /// LEB128 as in a record's payload length. The file is no longer than it can say.
    private mutating func number() -> Int? {
        Self.number(in: columns, at: &offset)
    }

    private static func number(in bytes: [UInt8], at offset: inout Int) -> Int? {
        var value = 0
        for index in 0..<RecordCoding.maximumLengthBytes {
            guard offset < bytes.count else { return nil }
            let byte = bytes[offset]
            offset += 1
            value |= Int(byte & 0x7F) << (7 * index)
            if byte & 0x80 == 0 { return value }
        }
        return nil
    }

    // MARK: Records

    private func assemble(
        _ choice: Range<Int>, _ kinds: inout Int, _ whole: inout Gap, _ templates: inout [Template], rawLength: Int
    ) -> [UInt8]? {
        var isWhole = true
        let raw = [UInt8](unsafeUninitializedCapacity: rawLength) { raw, filled in
            columns.withUnsafeBufferPointer { columns in
                var output = Output(raw: raw, room: rawLength)
                for index in choice where isWhole {
                    let template = Int(columns[index])
                    if template == 0 {
                        let length = output.prepare(&whole, columns)
                        isWhole = output.begin(kind: columns[kinds], length: length)
                        kinds += 1
                        if isWhole { output.copy(&whole, length: length, columns) }
                    } else {
                        isWhole = output.append(&templates[template - 1], columns)
                    }
                }
                filled = output.count
            }
        }
        return isWhole && raw.count == rawLength ? raw : nil
    }

    /// Raw bytes as they grow. What has been checked when the gaps were read is not checked again.
    private struct Output {
        let raw: UnsafeMutableBufferPointer<UInt8>
        let room: Int
        var count = 0

        init(raw: UnsafeMutableBufferPointer<UInt8>, room: Int) {
            self.raw = raw
            self.room = room
        }

        /// The length of the gap's next record.
        func prepare(_ gap: inout Gap, _ columns: UnsafeBufferPointer<UInt8>) -> Int {
            guard gap.mode == .varying else { return gap.length }
            var value = 0
            var shift = 0
            while true {
                let byte = columns[gap.lengths]
                gap.lengths += 1
                value |= Int(byte & 0x7F) << shift
                shift += 7
                if byte & 0x80 == 0 { return value }
            }
        }

        /// Kind and payload length; false where the record has no room.
        mutating func begin(kind: UInt8, length: Int) -> Bool {
            guard RecordCoding.encodedSize(payload: length) <= room - count else { return false }
            raw[count] = kind
            count += 1
            var rest = length
            while rest >= 0x80 {
                raw[count] = UInt8(rest & 0x7F) | 0x80
                count += 1
                rest >>= 7
            }
            raw[count] = UInt8(rest)
            count += 1
            return true
        }

        mutating func copy(_ gap: inout Gap, length: Int, _ columns: UnsafeBufferPointer<UInt8>) {
            switch gap.mode {
            case .varying, .records:
                copy(gap.bytes..<gap.bytes + length, columns)
                gap.bytes += length
            case .lanes, .differences:
                var at = gap.bytes
                for _ in 0..<length {
                    raw[count] = columns[at]
                    count += 1
                    at += gap.stride
                }
                gap.bytes += 1
            }
        }

        private mutating func copy(_ range: Range<Int>, _ columns: UnsafeBufferPointer<UInt8>) {
            guard !range.isEmpty, let from = columns.baseAddress, let to = raw.baseAddress else { return }
            (to + count).update(from: from + range.lowerBound, count: range.count)
            count += range.count
        }

        mutating func append(_ template: inout Template, _ columns: UnsafeBufferPointer<UInt8>) -> Bool {
            // Lengths first, for the payload's comes in front of it. Looked at twice rather than kept.
            var length = 0
            for index in template.gaps.indices {
                var gap = template.gaps[index]
                length += prepare(&gap, columns)
            }
            for anchor in template.anchors { length += anchor.count }
            guard begin(kind: template.kind, length: length) else { return false }
            for index in template.gaps.indices {
                let length = prepare(&template.gaps[index], columns)
                copy(&template.gaps[index], length: length, columns)
                if index < template.anchors.count { copy(template.anchors[index], columns) }
            }
            return true
        }
    }
}
