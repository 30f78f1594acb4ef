/// The namespaces and link relations of Atom payloads of V2 and V3 (MS-ODATA 2.2.6.2; RFC 4287, 5023 and 6721).
enum AtomNames {
    static let atom = "http://www.w3.org/2005/Atom"
    static let publishing = "http://www.w3.org/2007/app"
    static let xml = "http://www.w3.org/XML/1998/namespace"
    static let data = "http://schemas.microsoft.com/ado/2007/08/dataservices"
    static let metadata = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"
    static let tombstones = "http://purl.org/atompub/tombstones/1.0"
    static let scheme = "http://schemas.microsoft.com/ado/2007/08/dataservices/scheme"
    static let related = "http://schemas.microsoft.com/ado/2007/08/dataservices/related/"
    static let streamReadLink = "http://schemas.microsoft.com/ado/2007/08/dataservices/mediaresource/"
    static let streamEditLink = "http://schemas.microsoft.com/ado/2007/08/dataservices/edit-media/"
    static let registry = "http://www.iana.org/assignments/relation/"

    /// The member for the values of elements of the entry itself, to which metadata may map properties.
    static let syndication = "__syndication"

    /// Returns the relation of a link, without the prefix of registered relations.
    static func relation(_ text: String) -> String {
        text.hasPrefix(registry) ? String(text.dropFirst(registry.count)) : text
    }
}

/// The detection of XML among payloads.
enum XMLText {
    /// Returns whether a document begins with markup. No JSON document does.
    static func begins(_ bytes: some Sequence<UInt8>) -> Bool {
        var mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        for byte in bytes {
            if byte == mark.first {
                mark.removeFirst()
                continue
            }
            guard byte <= 0x20 else { return byte == UInt8(ascii: "<") }
        }
        return false
    }
}
