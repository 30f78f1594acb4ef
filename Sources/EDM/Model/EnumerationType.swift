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

    /// Returns the members in the text of a value, without the spaces around them. Some services write a space after
    /// each comma.
    package static func parts(of text: String, omittingEmptySubsequences: Bool = true) -> [Substring] {
        text.split(separator: ",", omittingEmptySubsequences: omittingEmptySubsequences).map { part in
            var part = part.drop { $0 == " " }
            while part.last == " " { part.removeLast() }
            return part
        }
    }
}
