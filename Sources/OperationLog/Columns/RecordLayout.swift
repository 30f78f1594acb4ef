/// Where the values lie in a record's payload: a hint for compression.
///
/// The log does not know what records mean, but whoever appends them does. Values of the same field laid side by side
/// compress to a fraction of what they take between all the others. Reading needs no layout: a wrong or a changed one
/// costs space and never content.
public struct RecordLayout: Sendable {
    /// Appends the fields of a payload, in order and without overlap. What lies between them is taken to be alike in
    /// many records: names, tags, counts. A payload for which nothing is appended is kept as it is.
    public let fields:
        @Sendable (_ kind: UInt8, _ payload: UnsafeRawBufferPointer, _ fields: inout [RecordField]) -> Void

    public init(
        fields:
            @escaping @Sendable (
                _ kind: UInt8, _ payload: UnsafeRawBufferPointer, _ fields: inout [RecordField]
            ) -> Void
    ) {
        self.fields = fields
    }
}

/// A value's place in a payload.
public struct RecordField: Sendable, Hashable {
    public enum Form: UInt8, Sendable {
        /// An LEB128 number of up to 64 bits, in as few bytes as it needs.
        case number = 1
        /// An LEB128 length and so many bytes.
        case text = 2
        /// Bytes whose number is always the same in this place.
        case fixed = 3
    }

    public var form: Form
    /// From the payload's start; the field is not empty.
    public var range: Range<Int>

    public init(_ form: Form, _ range: Range<Int>) {
        self.form = form
        self.range = range
    }
}
