/// An annotation as written in the document: the term, and its expression as an element tree.
public struct Annotation: Sendable, Hashable {
    /// The qualified name of the term, without alias. For an attribute of another vocabulary (`sap:label`) the
    /// prefixed name.
    public let term: String
    /// The qualifier, which can be that of a block; `nil` if there is none (CSDL 4.01, section 14.2.1).
    public let qualifier: String?
    /// The constant (`String="…"`, `Bool="…"`, or the text of an attribute), or `nil` for other expressions.
    public let value: String?
    /// The elements of an expression that is not a constant.
    public let expression: [Element]

    /// An element of an annotation's expression.
    public struct Element: Sendable, Hashable {
        /// The name of the element, or of the attribute that contains a path: `Record`, `Path`.
        public let name: String
        /// The attributes without a namespace, by name.
        public let attributes: [String: String]
        /// The text of the element, or the value of the attribute.
        public let text: String
        /// The child elements, in the order of the document.
        public let children: [Element]

        /// Creates an element of an expression.
        public init(name: String, attributes: [String: String], text: String, children: [Element]) {
            self.name = name
            self.attributes = attributes
            self.text = text
            self.children = children
        }
    }

    /// Creates an annotation.
    ///
    /// - Parameters:
    ///   - term: the qualified name of the term, without alias.
    ///   - qualifier: the qualifier, if any.
    ///   - value: the constant, or `nil` for other expressions.
    ///   - expression: the elements of an expression that is not a constant.
    public init(term: String, qualifier: String? = nil, value: String? = nil, expression: [Element] = []) {
        self.term = term
        self.qualifier = qualifier
        self.value = value
        self.expression = expression
    }
}
