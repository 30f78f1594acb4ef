/// An annotation as written in the document: the term, and its expression as an element tree.
public struct Annotation: Sendable, Hashable {
    /// The qualified name of the term, without alias. For an attribute of another vocabulary (`sap:label`) the
    /// prefixed name.
    public let term: String
    public let qualifier: String?
    /// The constant (`String="…"`, `Bool="…"`, or the text of an attribute), or `nil` for other expressions.
    public let value: String?
    /// The elements of an expression that is not a constant.
    public let expression: [Element]

    /// An element of an annotation's expression.
    public struct Element: Sendable, Hashable {
        public let name: String
        public let attributes: [String: String]
        public let text: String
        public let children: [Element]

        public init(name: String, attributes: [String: String], text: String, children: [Element]) {
            self.name = name
            self.attributes = attributes
            self.text = text
            self.children = children
        }
    }

    public init(term: String, qualifier: String? = nil, value: String? = nil, expression: [Element] = []) {
        self.term = term
        self.qualifier = qualifier
        self.value = value
        self.expression = expression
    }
}
