#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

// Conversions that TidelogFoundation contains. Without its import, the compiler names it.

extension GlobalDateTime {
    /// Unavailable without `TidelogFoundation`, which has the conversion.
    @available(*, unavailable, message: "Import TidelogFoundation, a product of the package Tidelog")
    public init?(_ date: Date) { return nil }
}

extension GuidValue {
    /// Unavailable without `TidelogFoundation`, which has the conversion.
    @available(*, unavailable, message: "Import TidelogFoundation, a product of the package Tidelog")
    public init(_ uuid: UUID) { self = .propertyDefault }
}

extension DecimalValue {
    /// Unavailable without `TidelogFoundation`, which has the conversion.
    @available(*, unavailable, message: "Import TidelogFoundation, a product of the package Tidelog")
    public init(_ decimal: Decimal) { self = .notANumber }
}

extension Date {
    /// Unavailable without `TidelogFoundation`, which has the conversion.
    @available(*, unavailable, message: "Import TidelogFoundation, a product of the package Tidelog")
    public init(_ moment: GlobalDateTime) { self.init(timeIntervalSince1970: 0) }
}

extension UUID {
    /// Unavailable without `TidelogFoundation`, which has the conversion.
    @available(*, unavailable, message: "Import TidelogFoundation, a product of the package Tidelog")
    public init(_ guid: GuidValue) { self.init() }
}

extension Decimal {
    /// Unavailable without `TidelogFoundation`, which has the conversion.
    @available(*, unavailable, message: "Import TidelogFoundation, a product of the package Tidelog")
    public init?(_ value: DecimalValue) { return nil }
}
