#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

// Conversions that TidelogFoundation contains. Without its import, the compiler names it.

extension GlobalDateTime {
    @available(*, unavailable, message: "Import TidelogFoundation, a product of the package Tidelog")
    public init?(_ date: Date) { return nil }
}

extension GuidValue {
    @available(*, unavailable, message: "Import TidelogFoundation, a product of the package Tidelog")
    public init(_ uuid: UUID) { self = .propertyDefault }
}

extension DecimalValue {
    @available(*, unavailable, message: "Import TidelogFoundation, a product of the package Tidelog")
    public init(_ decimal: Decimal) { self = .notANumber }
}

extension Date {
    @available(*, unavailable, message: "Import TidelogFoundation, a product of the package Tidelog")
    public init(_ moment: GlobalDateTime) { self.init(timeIntervalSince1970: 0) }
}

extension UUID {
    @available(*, unavailable, message: "Import TidelogFoundation, a product of the package Tidelog")
    public init(_ guid: GuidValue) { self.init() }
}

extension Decimal {
    @available(*, unavailable, message: "Import TidelogFoundation, a product of the package Tidelog")
    public init?(_ value: DecimalValue) { return nil }
}
