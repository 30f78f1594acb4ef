/// A metadata document without what is no part of the model: text, comments, documentation, annotations and attributes of
/// others.
enum MetadataScrubbing {
    /// Local names of elements that stay, with the attributes that stay with them.
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
        var scan = URLScan(String(decoding: document, as: UTF8.self))
        var result = #"<?xml version="1.0" encoding="utf-8"?>"# + "\n"
        var prefixes = NamespacePrefixes()
        // How deep in an element that is dropped.
        var depth = 0
        while scan.next != nil {
            _ = scan.take { $0 != "<" }
            scan.skip()
            switch scan.next {
            case "?": _ = scan.take { $0 != ">" }
            case "!":
                scan.skip()
                skipDeclaration(&scan)
            case "/":
                scan.skip()
                let name = scan.take { $0 != ">" }
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

    /// A comment, or marked text.
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
            name: MarkupTag.Name(scan.take { !$0.properties.isWhitespace && $0 != ">" && $0 != "/" }))
        while let next = scan.next, next != ">" {
            if next == "/" { tag.isEmpty = true }
            guard !next.properties.isWhitespace, next != "/" else {
                scan.skip()
                continue
            }
            let attribute = scan.take { $0 != "=" && $0 != ">" && !$0.properties.isWhitespace }
            _ = scan.take { $0 != "\"" && $0 != "'" && $0 != ">" }
            guard let quote = scan.next, quote != ">" else { continue }
            scan.skip()
            tag.attributes.append((MarkupTag.Name(attribute), scan.take { $0 != quote }))
            scan.skip()
            tag.isEmpty = false
        }
        return tag
    }

    // MARK: What stays

    private static func stays(_ tag: MarkupTag, _ prefixes: NamespacePrefixes) -> Bool {
        guard !dropped.contains(tag.name.local) else { return false }
        // Its namespace would not be declared any more.
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
        // Of the protocol's own namespace only, whatever prefix a document has for it.
        return prefixes.namespace(of: prefix).map(isProtocol) ?? false
    }

    /// `m:HasStream`, `m:HttpMethod`, `m:DataServiceVersion` of V2 and V3.
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

/// The tag with which an element begins; values are as they are written.
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

        /// Whether the attribute of this name says what a prefix stands for.
        var isDeclaration: Bool { prefix == "xmlns" || (prefix == nil && local == "xmlns") }
    }

    let name: Name
    var attributes: [(name: Name, value: String)] = []
    var isEmpty = false
}

/// Which namespace each prefix stands for, in the elements that are open.
private struct NamespacePrefixes {
    /// An element each; "" is the prefix of names that have none.
    private var declared: [[String: String]] = []

    mutating func open(_ tag: MarkupTag) {
        var own: [String: String] = [:]
        for (name, value) in tag.attributes where name.isDeclaration {
            own[name.prefix == nil ? "" : name.local] = value
        }
        declared.append(own)
    }

    mutating func close() { _ = declared.popLast() }

    /// Nil where nothing declares it.
    func namespace(of prefix: String?) -> String? {
        declared.last { $0[prefix ?? ""] != nil }?[prefix ?? ""]
    }
}
