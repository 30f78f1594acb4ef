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
                if depth == 0 { result += "</\(trimmed(name))>" } else { depth -= 1 }
            case nil: break
            default:
                let (tag, name, isEmpty) = element(&scan)
                if depth > 0 || dropped.contains(name) {
                    if !isEmpty { depth += 1 }
                } else {
                    result += tag
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

    private static func local(_ name: String) -> String { name.split(separator: ":").last.map(String.init) ?? name }

    private static func element(_ scan: inout URLScan) -> (tag: String, name: String, isEmpty: Bool) {
        let name = scan.take { !$0.properties.isWhitespace && $0 != ">" && $0 != "/" }
        var tag = "<" + name
        var isEmpty = false
        while let next = scan.next, next != ">" {
            if next == "/" { isEmpty = true }
            guard !next.properties.isWhitespace, next != "/" else {
                scan.skip()
                continue
            }
            let attribute = scan.take { $0 != "=" && $0 != ">" && !$0.properties.isWhitespace }
            _ = scan.take { $0 != "\"" && $0 != "'" && $0 != ">" }
            guard let quote = scan.next, quote != ">" else { continue }
            scan.skip()
            let value = scan.take { $0 != quote }
            scan.skip()
            isEmpty = false
            if stays(attribute, value) { tag += " \(attribute)=\"\(value.replacing("\"", with: "&quot;"))\"" }
        }
        return (tag + (isEmpty ? "/>" : ">"), local(name), isEmpty)
    }

    private static func stays(_ attribute: String, _ value: String) -> Bool {
        if attribute == "xmlns" || attribute.hasPrefix("xmlns:") { return isNamespace(value) }
        if let colon = attribute.firstIndex(of: ":") {
            // Of the protocol's own namespace only.
            return ["m", "metadata"].contains(attribute[..<colon]) && attributes.contains(local(attribute))
        }
        return attributes.contains(attribute)
    }

    private static func isNamespace(_ value: String) -> Bool {
        ["schemas.microsoft.com/", "docs.oasis-open.org/", "www.w3.org/", "www.sap.com/Protocols/SAPData"].contains {
            value.contains($0)
        }
    }
}
