/// An enumeration type (CSDL 4.01, chapter 10).
public struct EnumerationType: Sendable, Hashable {
    public let name: String
    public let underlyingType: PrimitiveType
    public let isFlags: Bool
    public let members: [Member]
    public let annotations: [Annotation]

    public struct Member: Sendable, Hashable {
        public let name: String
        public let value: Int64
        public let annotations: [Annotation]

        public init(name: String, value: Int64, annotations: [Annotation] = []) {
            self.name = name
            self.value = value
            self.annotations = annotations
        }
    }

    public init(
        name: String, underlyingType: PrimitiveType, isFlags: Bool, members: [Member], annotations: [Annotation] = []
    ) {
        self.name = name
        self.underlyingType = underlyingType
        self.isFlags = isFlags
        self.members = members
        self.annotations = annotations
    }

    public func member(named name: String) -> Member? { members.first { $0.name == name } }
    public func member(value: Int64) -> Member? { members.first { $0.value == value } }
}
