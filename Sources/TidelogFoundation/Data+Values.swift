#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif
public import Tidelog

/// `Data` as the type of a property of type `Edm.Binary`.
extension Data: PropertyConvertible, QueryLiteral {
    /// The comparison type, shared with `[UInt8]`.
    public typealias Comparand = [UInt8]

    /// Creates data from a value of `Edm.Binary`; returns `nil` for any other value. O(n).
    public init?(propertyValue: Value) {
        guard case .binary(let bytes) = propertyValue else { return nil }
        self.init(bytes)
    }
    /// The value of `Edm.Binary`. O(n).
    public var propertyValue: Value { .binary([UInt8](self)) }
    /// The empty data.
    public static var propertyDefault: Data { Data() }
    /// The literal in a condition.
    public var queryValue: Value { propertyValue }
}

extension PropertyReference {
    /// Sets the value of an `Edm.Binary` property.
    public func setBinaryValue(in target: EntityValue, to value: Data) {
        setBinaryValue(in: target, to: [UInt8](value))
    }
}

extension MediaContent {
    /// Creates content from data in memory.
    public init(_ data: Data, mediaType: String, name: String? = nil) {
        self.init([UInt8](data), mediaType: mediaType, name: name)
    }
}

extension LocalStream {
    /// Returns the whole content.
    ///
    /// - Throws: `damaged` if the file is missing or has changed.
    public func data() throws -> Data {
        var data = Data()
        data.reserveCapacity(byteCount)
        try read { data.append(contentsOf: $0) }
        return data
    }
}
