/// An enumeration type (CSDL 4.01, chapter 10).
public struct EnumerationType: Sendable, Hashable {
    /// The qualified name.
    public let name: String
    /// The integer type of the values; `Edm.Int32` if the document declares none.
    public let underlyingType: PrimitiveType
    /// A Boolean value that indicates whether a value can combine several members (CSDL 4.01, section 10.2).
    public let isFlags: Bool
    /// The members, in the order of the document.
    public let members: [Member]
    /// The annotations of the type.
    public let annotations: [Annotation]

    /// A member of an enumeration type (CSDL 4.01, section 10.3).
    public struct Member: Sendable, Hashable {
        /// The name, which is unique within the type.
        public let name: String
        /// The value. Several members can have the same value.
        public let value: Int64
        /// The annotations of the member.
        public let annotations: [Annotation]

        /// Creates a member.
        public init(name: String, value: Int64, annotations: [Annotation] = []) {
            self.name = name
            self.value = value
            self.annotations = annotations
        }
    }

    /// Creates an enumeration type.
    public init(
        name: String, underlyingType: PrimitiveType, isFlags: Bool, members: [Member], annotations: [Annotation] = []
    ) {
        self.name = name
        self.underlyingType = underlyingType
        self.isFlags = isFlags
        self.members = members
        self.annotations = annotations
    }

    /// Returns the member with the given name, or `nil` if there is none. Cost: O(n).
    public func member(named name: String) -> Member? { members.first { $0.name == name } }
    /// Returns the first member with the given value, or `nil` if there is none. Cost: O(n).
    public func member(value: Int64) -> Member? { members.first { $0.value == value } }

    /// Returns the number of a value, which combines all of its members, or nil.
    package func number(of value: Value) -> Int64? {
        switch value {
        case .integer(let number): return number
        case .enumeration(let text), .string(let text):
            var result: Int64 = 0
            for part in Self.parts(of: text) {
                guard let number = Int64(part) ?? member(named: String(part))?.value else { return nil }
                result |= number
            }
            return result
        default: return nil
        }
    }

    /// Returns the value with the notation that all equal values have: the text of its number, or the members in
    /// alphabetical order if the type does not declare one of them.
    func canonical(_ value: Value) -> Value {
        guard case .enumeration(let members) = value else { return value }
        if let number = number(of: value) { return .enumeration(text(of: number)) }
        return .enumeration(Self.parts(of: members).sorted().joined(separator: ","))
    }

    /// Returns the name of the member with the number, otherwise the names of the flags that make it up, in the order of
    /// the declaration, otherwise the number.
    package func text(of number: Int64) -> String {
        if let member = member(value: number) { return member.name }
        var rest = number
        var names: [String] = []
        for member in members where isFlags && number & member.value == member.value && rest & member.value != 0 {
            names.append(member.name)
            rest &= ~member.value
        }
        return rest == 0 && !names.isEmpty ? names.joined(separator: ",") : String(number)
    }

    /// Returns the members in the text of a value, without the spaces around them. Some services write a space after
    /// each comma.
    package static func parts(of text: String, omittingEmptySubsequences: Bool = true) -> [Substring] {
        let parts = text.split(separator: ",", omittingEmptySubsequences: omittingEmptySubsequences).map { part in
            var part = part.drop { $0 == " " }
            while part.last == " " { part.removeLast() }
            return part
        }
        return omittingEmptySubsequences ? parts.filter { !$0.isEmpty } : parts
    }
}
