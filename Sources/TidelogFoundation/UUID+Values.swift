#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif
public import Tidelog

extension GuidValue {
    /// Creates the GUID of a UUID, without loss. Both have the same text, apart from the case of the letters.
    public init(_ uuid: UUID) {
        let bytes = uuid.uuid
        let (a, b, c, d, e, f, g, h) = (bytes.0, bytes.1, bytes.2, bytes.3, bytes.4, bytes.5, bytes.6, bytes.7)
        let high = [a, b, c, d, e, f, g, h].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let low = [
            bytes.8, bytes.9, bytes.10, bytes.11, bytes.12, bytes.13, bytes.14, bytes.15,
        ].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        self.init(high: high, low: low)
    }
}

extension UUID {
    /// Creates the UUID of a GUID, without loss.
    public init(_ guid: GuidValue) {
        func byte(_ half: UInt64, _ index: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: half >> (56 - index * 8)) }
        let (h, l) = (guid.high, guid.low)
        self.init(
            uuid: (
                byte(h, 0), byte(h, 1), byte(h, 2), byte(h, 3), byte(h, 4), byte(h, 5), byte(h, 6), byte(h, 7),
                byte(l, 0), byte(l, 1), byte(l, 2), byte(l, 3), byte(l, 4), byte(l, 5), byte(l, 6), byte(l, 7)
            ))
    }
}

/// A `UUID` as the type of a property of type `Edm.Guid`.
extension UUID: PropertyConvertible, QueryLiteral {
    /// The comparison type, shared with `GuidValue`.
    public typealias Comparand = GuidValue

    /// Creates a UUID from a value of `Edm.Guid`; returns `nil` for any other value.
    public init?(propertyValue: Value) {
        guard case .guid(let value) = propertyValue else { return nil }
        self.init(value)
    }
    /// The value of `Edm.Guid`.
    public var propertyValue: Value { .guid(GuidValue(self)) }
    /// The UUID of zeros.
    public static var propertyDefault: UUID { UUID(.propertyDefault) }
    /// The literal in a condition.
    public var queryValue: Value { propertyValue }
}
