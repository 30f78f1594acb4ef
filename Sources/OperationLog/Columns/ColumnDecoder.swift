/// Makes a block's raw bytes of its column form again. Costs no more memory than the raw length and the form itself,
/// whatever the bytes say.
package struct ColumnDecoder {
    package init() {}

    private var steps: [ColumnStep] = []

    /// Nil where the form does not give exactly so many records and bytes.
    package mutating func decode(_ form: [UInt8], recordCount: UInt32, rawLength: Int) -> [UInt8]? {
        form.withUnsafeBytes { form in
            guard let row = ColumnStep.read(form, into: &steps) else { return nil }
            var isSound = false
            // A record's length is not known before its end, so a record may for a while stand a little too far to the right.
            let raw = [UInt8](unsafeUninitializedCapacity: rawLength + RecordCoding.maximumLengthBytes) {
                target, count in
                let end = records(form, row, recordCount, UnsafeMutableRawBufferPointer(target))
                isSound = end == rawLength
                count = isSound ? rawLength : 0
            }
            return isSound ? raw : nil
        }
    }

    /// Where the records end in the target; nil where something does not hold.
    private mutating func records(
        _ form: UnsafeRawBufferPointer, _ row: Range<Int>, _ recordCount: UInt32,
        _ target: UnsafeMutableRawBufferPointer
    ) -> Int? {
        var next = row.lowerBound
        var writer = RecordWriter(target: target)
        for _ in 0..<recordCount {
            writer.beginRecord()
            while true {
                guard let number = LEB128.read(form, at: &next, end: row.upperBound), number < UInt64(steps.count)
                else {
                    return nil
                }
                guard let isAtEnd = steps[Int(number)].write(form, &writer) else { return nil }
                if isAtEnd { break }
            }
            guard writer.endRecord() else { return nil }
        }
        return next == row.upperBound ? writer.at : nil
    }
}
