/// The positions of the values in a record's payload: a hint for compression.
///
/// The log does not interpret records, but the caller that appends them can. Values of the same field compress to a
/// fraction of their size when they are stored together. Reading requires no layout: a wrong or changed layout costs
/// space but never affects the content.
package struct RecordLayout: Sendable {
    /// Appends the fields of a payload, in order and without overlap.
    ///
    /// The bytes between the fields are expected to be equal in many records: names, tags, counts. A payload for which
    /// the closure appends no field is stored as it is.
    package let fields:
        @Sendable (_ kind: UInt8, _ payload: UnsafeRawBufferPointer, _ fields: inout [RecordField]) -> Void

    package init(
        fields:
            @escaping @Sendable (
                _ kind: UInt8, _ payload: UnsafeRawBufferPointer, _ fields: inout [RecordField]
            ) -> Void
    ) {
        self.fields = fields
    }
}

/// The position of a value in a payload.
package struct RecordField: Sendable, Hashable {
    package enum FieldEncoding: UInt8, Sendable {
        /// An LEB128 number of up to 64 bits, in its shortest encoding.
        case number = 1
        /// An LEB128 length, followed by that many bytes.
        case text = 2
        /// Bytes whose count is always the same at this position.
        case fixed = 3
    }

    package var form: FieldEncoding
    /// The range in the payload, counted from its start. Never empty.
    package var range: Range<Int>

    package init(_ form: FieldEncoding, _ range: Range<Int>) {
        self.form = form
        self.range = range
    }
}
