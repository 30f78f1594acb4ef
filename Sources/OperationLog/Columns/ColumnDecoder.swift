/// Decodes a block's column form into its raw bytes.
///
/// The memory used never exceeds the raw length plus the form itself, whatever the bytes contain.
package struct ColumnDecoder {
    package init() {}

    private var steps: [ColumnStep] = []

    /// Returns the raw bytes, or nil if the form does not contain exactly `recordCount` records and `rawLength` bytes.
    package mutating func decode(_ form: [UInt8], recordCount: UInt32, rawLength: Int) -> [UInt8]? {
        form.withUnsafeBytes { form in
            guard let row = ColumnStep.read(form, into: &steps) else { return nil }
            var isSound = false
            // A record's length is only known at its end, so a record may temporarily start a few bytes too far to the
            // right.
            let raw = [UInt8](unsafeUninitializedCapacity: rawLength + RecordCoding.maximumLengthBytes) {
                target, count in
                let end = records(form, row, recordCount, UnsafeMutableRawBufferPointer(target))
                isSound = end == rawLength
                count = isSound ? rawLength : 0
            }
            return isSound ? raw : nil
        }
    }

    /// Returns the offset in the target at which the records end, or nil if the form is invalid.
    private mutating func records(
        _ form: UnsafeRawBufferPointer, _ row: Range<Int>, _ recordCount: UInt32,
        _ target: UnsafeMutableRawBufferPointer
    ) -> Int? {
        steps.withUnsafeMutableBufferPointer { steps in
            var next = row.lowerBound
            var writer = RecordWriter(target: target)
            for _ in 0..<recordCount {
                writer.beginRecord()
                while true {
                    guard let number = LEB128.read(form, at: &next, end: row.upperBound), number < UInt64(steps.count),
                        let isAtEnd = steps[Int(number)].write(form, &writer)
                    else { return nil }
                    if isAtEnd { break }
                }
                guard writer.endRecord() else { return nil }
            }
            return next == row.upperBound ? writer.at : nil
        }
    }
}
