/// The document and schema of an element, among documents that are read together.
final class MarkupOrigin: Sendable {
    /// The name for messages; `nil` if there is only one document.
    let name: String?
    /// The position of the document; 0 for the main one.
    let position: Int
    /// The number of the schema in the document, starting at 1; 0 outside of schemas.
    let schema: Int
    /// Whether the document is CSDL JSON.
    let isJSON: Bool

    init(name: String? = nil, position: Int = 0, schema: Int = 0, isJSON: Bool = false) {
        self.name = name
        self.position = position
        self.schema = schema
        self.isJSON = isJSON
    }

    /// Returns the origin for a schema of the same document.
    func inSchema(_ number: Int) -> MarkupOrigin {
        MarkupOrigin(name: name, position: position, schema: number, isJSON: isJSON)
    }
}

/// An element of a metadata document or of another XML document, with the location of its tag.
package final class MarkupElement {
    /// The vocabulary of an element or attribute.
    enum Vocabulary: Hashable {
        /// A CSDL namespace of any version: the model itself.
        case edm
        /// A namespace of the envelope, of any version.
        case edmx
        /// Any other namespace: Atom links, annotations of other tools.
        case foreign
    }

    package struct Attribute: Hashable {
        package let name: String
        let prefix: String?
        /// The namespace; `nil` if the attribute has no prefix and so belongs to its element.
        package let namespace: String?
        package let value: String
    }

    package let name: String
    package let namespace: String?
    let vocabulary: Vocabulary
    package private(set) var attributes: [Attribute]
    let line: Int
    let column: Int
    let origin: MarkupOrigin
    package fileprivate(set) var children: [MarkupElement] = []
    package fileprivate(set) var text = ""
    /// The reason why the element is unusable, if known before it is read: its JSON value has the wrong kind.
    let flaw: String?

    init(
        name: String, namespace: String?, vocabulary: Vocabulary, attributes: [Attribute], line: Int, column: Int,
        origin: MarkupOrigin, flaw: String? = nil
    ) {
        self.flaw = flaw
        self.name = name
        self.namespace = namespace
        self.vocabulary = vocabulary
        self.attributes = attributes
        self.line = line
        self.column = column
        self.origin = origin
    }

    /// The value of the element's own attribute with that name.
    subscript(name: String) -> String? {
        for attribute in attributes where attribute.namespace == nil && attribute.name == name {
            return attribute.value
        }
        return nil
    }

    /// Returns the value of the attribute with that name in any vocabulary (`HasStream` and `m:HasStream`).
    func anyAttribute(_ name: String) -> String? {
        for attribute in attributes where attribute.name == name { return attribute.value }
        return nil
    }

    /// Whether this is the CSDL element with that name.
    func isModel(_ name: String) -> Bool { vocabulary == .edm && self.name == name }

    /// Returns the CSDL child elements with that name, in order.
    func children(_ name: String) -> [MarkupElement] { children.filter { $0.isModel(name) } }

    func firstChild(_ name: String) -> MarkupElement? { children.first { $0.isModel(name) } }

    func append(_ child: MarkupElement) { children.append(child) }

    func remove(_ isUnusable: (MarkupElement) -> Bool) { children.removeAll(where: isUnusable) }

    func removeAttributes(_ isUnusable: (Attribute) -> Bool) { attributes.removeAll(where: isUnusable) }

    func append(text piece: String) { text += piece }
}

extension MarkupElement.Vocabulary {
    /// Creates the vocabulary of a namespace. Microsoft used one CSDL namespace per year, OASIS one for all versions
    /// of V4.
    init(namespace: String) {
        if namespace == MarkupNamespace.edm || namespace.isMicrosoft("/edm") {
            self = .edm
        } else if namespace == MarkupNamespace.edmx || namespace.isMicrosoft("/edmx") {
            self = .edmx
        } else {
            self = .foreign
        }
    }
}

/// The namespaces that the reader distinguishes.
enum MarkupNamespace {
    static let edm = "http://docs.oasis-open.org/odata/ns/edm"
    static let edmx = "http://docs.oasis-open.org/odata/ns/edmx"
    /// The namespace of `m:HasStream`, `m:HttpMethod` and `m:DataServiceVersion` in V2 and V3.
    static let metadata = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"
    static let sap = "http://www.sap.com/Protocols/SAPData"
}

extension String {
    fileprivate func isMicrosoft(_ ending: String) -> Bool {
        hasPrefix("http://schemas.microsoft.com/ado/") && hasSuffix(ending)
    }

    /// The text without white space at both ends.
    var trimmed: Substring {
        var rest = self[...]
        while let first = rest.utf8.first, first.isXMLSpace { rest = rest.dropFirst() }
        while let last = rest.utf8.last, last.isXMLSpace { rest = rest.dropLast() }
        return rest
    }
}

extension UInt8 {
    var isXMLSpace: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }
}
