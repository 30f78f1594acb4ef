public import EDM

/// An enumeration type as a Swift type. Generated code conforms to one of ``ClosedEnumeration``, ``OpenEnumeration``,
/// ``FlagsEnumeration`` and ``OpenFlagsEnumeration``.
public protocol EnumerationValue: PropertyConvertible, QueryLiteral, Hashable {
    static var enumerationType: EnumerationType { get }
}

extension EnumerationValue {
    public var queryValue: Value { propertyValue }
}

/// An enumeration whose members are those of the metadata that the code was generated from: a Swift `enum`, its raw values
/// the members' names. A value that is no such member reads as nil.
public protocol ClosedEnumeration: EnumerationValue, CaseIterable, RawRepresentable where RawValue == String {}

extension ClosedEnumeration {
    public init?(propertyValue: Value) {
        guard let name = Self.enumerationType.memberName(of: propertyValue) else { return nil }
        self.init(rawValue: name)
    }
    public var propertyValue: Value { .enumeration(rawValue) }

    /// The member with the number 0, or else the first one.
    public static var propertyDefault: Self {
        allCases.first { $0.number == 0 } ?? allCases[allCases.startIndex]
    }

    /// The member's number in the metadata.
    public var number: Int64 { Self.enumerationType.member(named: rawValue)?.value ?? 0 }
}

/// An enumeration that may get members after the code was generated: a struct around the member's name, with a static
/// constant for each that is known.
public protocol OpenEnumeration: EnumerationValue, RawRepresentable where RawValue == String {
    init(rawValue: String)
}

extension OpenEnumeration {
    public init?(propertyValue: Value) {
        guard let text = propertyValue.enumerationText else { return nil }
        self.init(rawValue: Self.enumerationType.memberName(of: propertyValue) ?? text)
    }
    public var propertyValue: Value { .enumeration(rawValue) }

    /// The member with the number 0, or else the first one.
    public static var propertyDefault: Self {
        let type = enumerationType
        return Self(rawValue: (type.member(value: 0) ?? type.members.first)?.name ?? "0")
    }

    /// The member's number in the metadata; nil for one that came later.
    public var number: Int64? { Self.enumerationType.number(of: rawValue) }
}

/// An enumeration of flags, any number of which may be set: a Swift `OptionSet`. A value with a member that the code does not
/// know reads as nil.
public protocol FlagsEnumeration: EnumerationValue, OptionSet where RawValue == Int64 {}

extension FlagsEnumeration {
    public init?(propertyValue: Value) {
        guard let text = propertyValue.enumerationText, let number = Self.enumerationType.number(of: text) else {
            return nil
        }
        self.init(rawValue: number)
    }
    /// The members' names; the number where names cannot say it.
    public var propertyValue: Value { .enumeration(Self.enumerationType.text(of: rawValue)) }
    public static var propertyDefault: Self { Self(rawValue: 0) }
}

/// An enumeration of flags that may get members after the code was generated: the names that are set, joined by commas.
public protocol OpenFlagsEnumeration: OpenEnumeration, ExpressibleByArrayLiteral where ArrayLiteralElement == Self {}

extension OpenFlagsEnumeration {
    public init(arrayLiteral elements: Self...) { self.init(members: elements.flatMap(\.members)) }

    /// - Parameter members: names, in any order; the order of the metadata is kept, and what these don't have comes behind.
    public init(members: [String]) {
        let known = Self.enumerationType.members.map(\.name).filter(members.contains)
        let others = Set(members).subtracting(known).sorted()
        self.init(rawValue: members.isEmpty ? "0" : (known + others).joined(separator: ","))
    }

    /// A single number is read as the members that it stands for.
    public init?(propertyValue: Value) {
        guard let text = propertyValue.enumerationText else { return nil }
        self.init(rawValue: Int64(text).map { Self.enumerationType.text(of: $0) } ?? text)
    }

    /// The names that are set.
    public var members: [String] { EnumerationType.parts(of: rawValue).filter { $0 != "0" }.map(String.init) }

    /// Whether all flags of the other value are set.
    public func contains(_ other: Self) -> Bool {
        if let number, let asked = other.number { return number & asked == asked }
        return Set(other.members).isSubset(of: members)
    }

    /// All flags of both.
    public func union(_ other: Self) -> Self { Self(members: members + other.members) }

    /// The flags that the other value does not have.
    public func subtracting(_ other: Self) -> Self { Self(members: members.filter { !other.members.contains($0) }) }
}

extension Value {
    /// The text of an enumeration's value, in whatever form a service gave it.
    fileprivate var enumerationText: String? {
        switch self {
        case .enumeration(let text), .string(let text): text
        case .integer(let number): String(number)
        default: nil
        }
    }
}

extension EnumerationType {
    fileprivate static func parts(of text: String) -> [Substring] {
        text.split(separator: ",").map { part in
            let start = part.drop { $0 == " " }
            return start.prefix { $0 != " " }
        }
    }

    /// The name of the one member that a value is, given by name or number; nil where there is none.
    fileprivate func memberName(of value: Value) -> String? {
        guard let text = value.enumerationText else { return nil }
        return (member(named: text) ?? Int64(text).flatMap { member(value: $0) })?.name
    }

    /// The number of one or several members by name or number; nil where one is unknown.
    fileprivate func number(of text: String) -> Int64? {
        var result: Int64 = 0
        for part in Self.parts(of: text) {
            guard let number = Int64(part) ?? member(named: String(part))?.value else { return nil }
            result |= number
        }
        return result
    }

    /// The names of the members that make up a number of flags, in the order of the metadata; the number where names cannot
    /// say it.
    fileprivate func text(of number: Int64) -> String {
        if let member = member(value: number) { return member.name }
        var rest = number
        var names: [String] = []
        for member in members where member.value & number == member.value && member.value & rest != 0 {
            names.append(member.name)
            rest &= ~member.value
        }
        return rest == 0 && !names.isEmpty ? names.joined(separator: ",") : String(number)
    }
}
