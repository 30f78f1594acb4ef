import EDM

/// Reduces a metadata document to the model: it removes text, comments, documentation, annotations and foreign
/// attributes.
enum MetadataScrubbing {
    /// The local names of the attributes that are kept.
    private static let attributes: Set<String> = [
        "Version", "DataServiceVersion", "MaxDataServiceVersion", "Namespace", "Alias", "Name", "BaseType", "Abstract",
        "OpenType", "HasStream", "Type", "Nullable", "MaxLength", "Precision", "Scale", "Unicode", "SRID",
        "FixedLength",
        "Relationship", "FromRole", "ToRole", "Role", "Multiplicity", "EntityType", "EntitySet", "Association",
        "Partner",
        "ContainsTarget", "Property", "ReferencedProperty", "Path", "Target", "IsFlags", "UnderlyingType", "Value",
        "Action",
        "Function", "IsBound", "IsComposable", "EntitySetPath", "ReturnType", "Extends", "IsDefaultEntityContainer",
        "ConcurrencyMode", "HttpMethod", "Mode", "IsBindable", "IsSideEffecting", "IncludeInServiceDocument",
    ]
    private static let dropped: Set<String> = [
        "Annotation", "Annotations", "Documentation", "Summary", "LongDescription", "Term", "ValueAnnotation",
        "TypeAnnotation", "Include", "IncludeAnnotations", "Reference", "Using",
    ]

    static func scrubbed(_ document: [UInt8]) -> [UInt8] {
        let (service, additions) = ClientOnlyMetadata.parts(document)
        let parts = ReferencedMetadata.parts(service).map(scrubbedPart)
        let scrubbed = ReferencedMetadata.joined(parts[0], references: Array(parts.dropFirst()))
        guard let additions else { return scrubbed }
        return (try? ClientOnlyMetadata.joined(service: scrubbed, additions: scrubbedPart(additions))) ?? scrubbed
    }

    private static func scrubbedPart(_ document: [UInt8]) -> [UInt8] {
        var scan = URLScan(String(decoding: document, as: UTF8.self))
        var result = #"<?xml version="1.0" encoding="utf-8"?>"# + "\n"
        var prefixes = NamespacePrefixes()
        // The depth inside an element that is removed.
        var depth = 0
        while scan.next != nil {
            _ = scan.consume { $0 != "<" }
            scan.skip()
            switch scan.next {
            case "?": _ = scan.consume { $0 != ">" }
            case "!":
                scan.skip()
                skipDeclaration(&scan)
            case "/":
                scan.skip()
                let name = scan.consume { $0 != ">" }
                if depth == 0 {
                    result += "</\(trimmed(name))>"
                    prefixes.close()
                } else {
                    depth -= 1
                }
            case nil: break
            default:
                let tag = tag(&scan)
                guard depth == 0 else {
                    if !tag.isEmpty { depth += 1 }
                    break
                }
                prefixes.open(tag)
                if stays(tag, prefixes) {
                    result += text(tag, prefixes)
                    if tag.isEmpty { prefixes.close() }
                } else {
                    prefixes.close()
                    if !tag.isEmpty { depth = 1 }
                }
            }
            if scan.next == ">" { scan.skip() }
        }
        return Array(result.utf8)
    }

    /// Skips a comment or a CDATA section.
    private static func skipDeclaration(_ scan: inout URLScan) {
        let end = scan.next == "-" ? "--" : scan.next == "[" ? "]]" : ""
        var last = ""
        while let next = scan.next, next != ">" || !last.hasSuffix(end) {
            last = String((last + String(next)).suffix(2))
            scan.skip()
        }
    }

    private static func trimmed(_ name: String) -> String { String(name.prefix { !$0.isWhitespace }) }

    private static func tag(_ scan: inout URLScan) -> MarkupTag {
        var tag = MarkupTag(
            name: MarkupTag.Name(scan.consume { !$0.properties.isWhitespace && $0 != ">" && $0 != "/" }))
        while let next = scan.next, next != ">" {
            if next == "/" { tag.isEmpty = true }
            guard !next.properties.isWhitespace, next != "/" else {
                scan.skip()
                continue
            }
            let attribute = scan.consume { $0 != "=" && $0 != ">" && !$0.properties.isWhitespace }
            _ = scan.consume { $0 != "\"" && $0 != "'" && $0 != ">" }
            guard let quote = scan.next, quote != ">" else { continue }
            scan.skip()
            tag.attributes.append((MarkupTag.Name(attribute), scan.consume { $0 != quote }))
            scan.skip()
            tag.isEmpty = false
        }
        return tag
    }

    // MARK: What stays

    private static func stays(_ tag: MarkupTag, _ prefixes: NamespacePrefixes) -> Bool {
        guard !dropped.contains(tag.name.local) else { return false }
        // Otherwise its namespace would no longer be declared.
        return prefixes.namespace(of: tag.name.prefix).map(isNamespace) ?? true
    }

    private static func text(_ tag: MarkupTag, _ prefixes: NamespacePrefixes) -> String {
        var text = "<" + tag.name.text
        for (name, value) in tag.attributes where stays(name, value, prefixes) {
            text += " \(name.text)=\"\(value.replacing("\"", with: "&quot;"))\""
        }
        return text + (tag.isEmpty ? "/>" : ">")
    }

    private static func stays(_ name: MarkupTag.Name, _ value: String, _ prefixes: NamespacePrefixes) -> Bool {
        if name.isDeclaration { return isNamespace(value) }
        guard attributes.contains(name.local) else { return false }
        guard let prefix = name.prefix else { return true }
        // Only attributes of the protocol's own namespace, whatever prefix the document uses for it.
        return prefixes.namespace(of: prefix).map(isProtocol) ?? false
    }

    /// Returns whether the namespace is that of `m:HasStream`, `m:HttpMethod` and `m:DataServiceVersion` in V2 and V3.
    private static func isProtocol(_ namespace: String) -> Bool {
        namespace.hasPrefix("http://schemas.microsoft.com/ado/") && namespace.hasSuffix("/dataservices/metadata")
    }

    private static func isNamespace(_ value: String) -> Bool {
        [
            "http://schemas.microsoft.com/", "http://docs.oasis-open.org/", "http://www.w3.org/",
            "http://www.sap.com/Protocols/SAPData",
        ].contains { value.hasPrefix($0) }
    }
}

/// The start tag of an element, with unprocessed attribute values.
private struct MarkupTag {
    struct Name {
        let prefix: String?
        let local: String

        init(_ text: String) {
            let colon = text.firstIndex(of: ":")
            prefix = colon.map { String(text[..<$0]) }
            local = colon.map { String(text[text.index(after: $0)...]) } ?? text
        }

        var text: String { (prefix.map { $0 + ":" } ?? "") + local }

        /// Whether the attribute declares a namespace prefix.
        var isDeclaration: Bool { prefix == "xmlns" || (prefix == nil && local == "xmlns") }
    }

    let name: Name
    var attributes: [(name: Name, value: String)] = []
    var isEmpty = false
}

/// The namespaces of the prefixes in the open elements.
private struct NamespacePrefixes {
    /// The declarations of each open element; "" is the default namespace.
    private var declared: [[String: String]] = []

    mutating func open(_ tag: MarkupTag) {
        var own: [String: String] = [:]
        for (name, value) in tag.attributes where name.isDeclaration {
            own[name.prefix == nil ? "" : name.local] = value
        }
        declared.append(own)
    }

    mutating func close() { _ = declared.popLast() }

    /// Returns the namespace of a prefix, or nil if it is not declared.
    func namespace(of prefix: String?) -> String? {
        declared.last { $0[prefix ?? ""] != nil }?[prefix ?? ""]
    }
}
