/// An annotation, kept as the document has it: the term and its expression as an element tree.
public struct Annotation: Sendable, Hashable {
    /// The qualified name of the term, without alias. For an attribute of another vocabulary (`sap:label`) the prefixed name.
    public let term: String
    public let qualifier: String?
    /// The constant, where the annotation is one (`String="…"`, `Bool="…"`, or an attribute's text).
    public let value: String?
    /// The expression's elements, where the annotation is more than a constant.
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
