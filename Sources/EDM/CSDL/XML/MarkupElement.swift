/// The document, and the schema in it, that an element stands in, among documents that are read together.
final class MarkupOrigin: Sendable {
    /// For messages; nil where there is one document and everybody knows which.
    let name: String?
    /// 0 for the document that refers to the others.
    let position: Int
    /// Which schema of the document, from 1; 0 outside of schemas.
    let schema: Int
    /// Whether the document is CSDL JSON.
    let isJSON: Bool

    init(name: String? = nil, position: Int = 0, schema: Int = 0, isJSON: Bool = false) {
        self.name = name
        self.position = position
        self.schema = schema
        self.isJSON = isJSON
    }

    /// The same document's schema of that number.
    func inSchema(_ number: Int) -> MarkupOrigin {
        MarkupOrigin(name: name, position: position, schema: number, isJSON: isJSON)
    }
}

/// An element of a metadata document, with the place where its tag begins.
final class MarkupElement {
    /// Which vocabulary an element or attribute belongs to.
    enum Vocabulary: Hashable {
        /// A CSDL namespace of any version: the model itself.
        case edm
        /// A namespace of the envelope, of any version.
        case edmx
        /// Everything else: Atom links, annotations of other tools.
        case foreign
    }

    struct Attribute: Hashable {
        let name: String
        let prefix: String?
        /// nil where the attribute has no prefix, and so belongs to its element.
        let namespace: String?
        let value: String
    }

    let name: String
    let namespace: String?
    let vocabulary: Vocabulary
    let attributes: [Attribute]
    let line: Int
    let column: Int
    let origin: MarkupOrigin
    fileprivate(set) var children: [MarkupElement] = []
    fileprivate(set) var text = ""
    /// Why the element cannot be used, if that is known before it is looked at: its JSON is of another kind.
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

    /// The value of the attribute of that name that belongs to the element itself.
    subscript(name: String) -> String? {
        for attribute in attributes where attribute.namespace == nil && attribute.name == name {
            return attribute.value
        }
        return nil
    }

    /// The value of the attribute of that name, whatever vocabulary it is of (`HasStream` and `m:HasStream`).
    func anyAttribute(_ name: String) -> String? {
        for attribute in attributes where attribute.name == name { return attribute.value }
        return nil
    }

    /// Whether this is the CSDL element of that name.
    func isModel(_ name: String) -> Bool { vocabulary == .edm && self.name == name }

    /// The child elements of CSDL of that name, in order.
    func children(_ name: String) -> [MarkupElement] { children.filter { $0.isModel(name) } }

    func firstChild(_ name: String) -> MarkupElement? { children.first { $0.isModel(name) } }

    func append(_ child: MarkupElement) { children.append(child) }

    func remove(_ isUnusable: (MarkupElement) -> Bool) { children.removeAll(where: isUnusable) }

    func append(text piece: String) { text += piece }
}

extension MarkupElement.Vocabulary {
    /// Microsoft published CSDL under a namespace a year, OASIS under one for all versions of V4.
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

/// The namespaces that the reader tells apart.
enum MarkupNamespace {
    static let edm = "http://docs.oasis-open.org/odata/ns/edm"
    static let edmx = "http://docs.oasis-open.org/odata/ns/edmx"
    /// `m:HasStream`, `m:HttpMethod`, `m:DataServiceVersion` of V2 and V3.
    static let metadata = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"
    static let sap = "http://www.sap.com/Protocols/SAPData"
}

extension String {
    fileprivate func isMicrosoft(_ ending: String) -> Bool {
        hasPrefix("http://schemas.microsoft.com/ado/") && hasSuffix(ending)
    }

    /// Without white space at both ends.
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
