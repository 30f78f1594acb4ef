public import EDM

/// A Swift type that represents an enumeration type.
///
/// Generated code conforms to ``ClosedEnumeration``, ``OpenEnumeration``, ``FlagsEnumeration`` or
/// ``OpenFlagsEnumeration``.
public protocol EnumerationValue: PropertyConvertible, QueryLiteral, Hashable {
    /// The enumeration type of the metadata.
    static var enumerationType: EnumerationType { get }
}

extension EnumerationValue {
    /// The literal in a condition.
    public var queryValue: Value { propertyValue }
}

/// An enumeration with exactly the members of the metadata at generation time: a Swift `enum` with the members' names
/// as raw values.
///
/// A value that is not a member reads as `nil`.
public protocol ClosedEnumeration: EnumerationValue, CaseIterable, RawRepresentable where RawValue == String {}

extension ClosedEnumeration {
    /// Creates the member with the name or number of the value; returns `nil` if there is none.
    public init?(propertyValue: Value) {
        guard let name = Self.enumerationType.memberName(of: propertyValue) else { return nil }
        self.init(rawValue: name)
    }
    /// The name of the member as a value.
    public var propertyValue: Value { .enumeration(rawValue) }

    /// The member with the number 0, otherwise the first member.
    public static var propertyDefault: Self {
        allCases.first { $0.number == 0 } ?? allCases[allCases.startIndex]
    }

    /// The number of the member in the metadata.
    public var number: Int64 { Self.enumerationType.member(named: rawValue)?.value ?? 0 }
}

/// An enumeration that can have members added after code generation: a struct that wraps the member's name, with a
/// static constant for each known member.
public protocol OpenEnumeration: EnumerationValue, RawRepresentable where RawValue == String {
    /// Creates a member with the given name, known or not.
    init(rawValue: String)
}

extension OpenEnumeration {
    /// Creates a member from a name or number, known or not; returns `nil` if the value is of another type.
    public init?(propertyValue: Value) {
        guard let text = propertyValue.enumerationText else { return nil }
        self.init(rawValue: Self.enumerationType.memberName(of: propertyValue) ?? text)
    }
    /// The name of the member as a value.
    public var propertyValue: Value { .enumeration(rawValue) }

    /// The member with the number 0, otherwise the first member.
    public static var propertyDefault: Self {
        let type = enumerationType
        return Self(rawValue: (type.member(value: 0) ?? type.members.first)?.name ?? "0")
    }

    /// The number of the member in the metadata, or `nil` for a member that was added later.
    public var number: Int64? { Self.enumerationType.number(of: .enumeration(rawValue)) }
}

/// An enumeration whose members can be combined: a Swift `OptionSet`.
///
/// A value that contains an unknown member reads as `nil`.
public protocol FlagsEnumeration: EnumerationValue, OptionSet where RawValue == Int64 {}

extension FlagsEnumeration {
    /// Creates the combination from names or a number; returns `nil` if a name is unknown.
    public init?(propertyValue: Value) {
        guard let number = Self.enumerationType.number(of: propertyValue) else { return nil }
        self.init(rawValue: number)
    }
    /// The names of the members, or the number if it is no combination of members.
    public var propertyValue: Value { .enumeration(Self.enumerationType.text(of: rawValue)) }
    /// The empty combination, with the number 0.
    public static var propertyDefault: Self { Self(rawValue: 0) }
}

/// An enumeration with combinable members that can have members added after code generation: the names of the set
/// members, joined by commas.
public protocol OpenFlagsEnumeration: OpenEnumeration, ExpressibleByArrayLiteral where ArrayLiteralElement == Self {}

extension OpenFlagsEnumeration {
    /// Creates the combination of the members of all elements.
    public init(arrayLiteral elements: Self...) { self.init(members: elements.flatMap(\.members)) }

    /// Creates a value from the names of members.
    ///
    /// - Parameter members: the names in any order. Known members are stored in the order of the metadata, followed
    ///   by unknown ones.
    public init(members: [String]) {
        let known = Self.enumerationType.members.map(\.name).filter(members.contains)
        let others = Set(members).subtracting(known).sorted()
        self.init(rawValue: members.isEmpty ? "0" : (known + others).joined(separator: ","))
    }

    /// Creates a value from names. A single number is converted to the names of its members.
    public init?(propertyValue: Value) {
        guard let text = propertyValue.enumerationText else { return nil }
        self.init(rawValue: Int64(text).map { Self.enumerationType.text(of: $0) } ?? text)
    }

    /// The names of the set members.
    public var members: [String] { EnumerationType.parts(of: rawValue).filter { $0 != "0" }.map(String.init) }

    /// Returns a Boolean value that indicates whether all flags of the other value are set.
    public func contains(_ other: Self) -> Bool {
        if let number, let asked = other.number { return number & asked == asked }
        return Set(other.members).isSubset(of: members)
    }

    /// Returns a value with the flags of both values.
    public func union(_ other: Self) -> Self { Self(members: members + other.members) }

    /// Returns a value with the flags that the other value does not have.
    public func subtracting(_ other: Self) -> Self { Self(members: members.filter { !other.members.contains($0) }) }
}

extension Value {
    /// The text of an enumeration value, independent of the form in which a service returned it.
    fileprivate var enumerationText: String? {
        switch self {
        case .enumeration(let text), .string(let text): text
        case .integer(let number): String(number)
        default: nil
        }
    }
}

extension EnumerationType {
    /// Returns the name of the member with the given name or number, or `nil` if there is none.
    fileprivate func memberName(of value: Value) -> String? {
        guard let text = value.enumerationText else { return nil }
        return (member(named: text) ?? Int64(text).flatMap { member(value: $0) })?.name
    }
}
