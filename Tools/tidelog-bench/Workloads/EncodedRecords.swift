internal import OperationLog
internal import Operations

/// Records as a log receives them: kinds and payloads, encoded in advance, so that a measurement includes only the log.
struct EncodedRecords {
    private(set) var records: [(kind: UInt8, payload: [UInt8])] = []
    /// The concatenated payloads, for the baselines in C.
    private(set) var bytes: [UInt8] = []
    private(set) var lengths: [UInt32] = []
    private var starts: [Int] = []

    init(_ source: some Sequence<Record>) {
        for record in source {
            let encoded = RecordCodec.encode(record)
            records.append(encoded)
            starts.append(bytes.count)
            lengths.append(UInt32(encoded.payload.count))
            bytes.append(contentsOf: encoded.payload)
        }
    }

    /// Returns the first orders of the workload.
    static func orders(_ count: Int) -> EncodedRecords {
        EncodedRecords(OrderGenerator().lazy.prefix(count).map(\.record))
    }

    var count: Int { records.count }

    /// Replaces the records of the commit with these.
    func fill(_ commit: inout Commit, _ range: Range<Int>) throws {
        commit.removeAll()
        try withRaw(range) { bytes, lengths in
            var at = UnsafeRawPointer(bytes)
            for index in range {
                let length = Int(lengths[index - range.lowerBound])
                try commit.add(
                    kind: records[index].kind, payload: UnsafeRawBufferPointer(start: at, count: length))
                at += length
            }
        }
    }

    /// Calls the closure with the start of some records in ``bytes``, and with their lengths.
    func withRaw<Result>(
        _ range: Range<Int>, _ body: (UnsafePointer<UInt8>, UnsafePointer<UInt32>) throws -> Result
    ) rethrows -> Result {
        try bytes.withUnsafeBufferPointer { bytes in
            try lengths.withUnsafeBufferPointer { lengths in
                guard let first = bytes.baseAddress, let length = lengths.baseAddress else {
                    preconditionFailure("there are records")
                }
                return try body(first + starts[range.lowerBound], length + range.lowerBound)
            }
        }
    }
}
