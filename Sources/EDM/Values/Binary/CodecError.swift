/// An error in decoding a record. The block's checksum was valid, so the writer was faulty or the log is forged.
public struct CodecError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of errors.
    public enum Reason: Hashable, Sendable {
        /// The record ends within a field.
        case truncated
        /// A number exceeds the range of its type.
        case overflow
        /// Values are nested deeper than the limit.
        case tooDeep
        /// Bytes follow after the end of the record.
        case trailingBytes
        /// A field of a later version without which the rest must not be used.
        case unknownField
        /// A field with an invalid value.
        case invalid(String)
    }

    /// The kind of error.
    public let reason: Reason
    /// The offset from the start of the record's payload.
    public let offset: Int

    @usableFromInline
    init(reason: Reason, offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    public var description: String {
        let what =
            switch reason {
            case .truncated: "ends too early"
            case .overflow: "contains a number that is too large"
            case .tooDeep: "is nested too deeply"
            case .trailingBytes: "has bytes after its end"
            case .unknownField: "has a field that this version does not support"
            case .invalid(let field): "contains no valid \(field)"
            }
        return "The record \(what) at byte \(offset)."
    }
}
