/// Writes compact XML. The same calls always produce the same bytes.
///
/// The caller must end each element that it begins. Control characters, which XML cannot contain, are written as
/// references that XML 1.0 does not allow: a parser refuses the document instead of reading a different text.
struct XMLWriter: Sendable {
    private(set) var bytes: [UInt8] = Array(#"<?xml version="1.0" encoding="utf-8"?>"#.utf8)
    private var open: [String] = []
    /// Whether the last start tag may still get attributes.
    private var isInTag = false

    mutating func begin(_ name: String) {
        endTag()
        bytes += Array("<\(name)".utf8)
        open.append(name)
        isInTag = true
    }

    /// Adds an attribute to the element that was begun last. To be called before its content.
    mutating func attribute(_ name: String, _ value: String) {
        bytes += Array(" \(name)=\"".utf8)
        escape(value, isAttribute: true)
        bytes.append(UInt8(ascii: "\""))
    }

    mutating func text(_ text: String) {
        guard !text.isEmpty else { return }
        endTag()
        escape(text, isAttribute: false)
    }

    mutating func end() {
        guard let name = open.popLast() else { return }
        bytes += Array(isInTag ? "/>".utf8 : "</\(name)>".utf8)
        isInTag = false
    }

    private mutating func endTag() {
        if isInTag { bytes.append(UInt8(ascii: ">")) }
        isInTag = false
    }

    private mutating func escape(_ text: String, isAttribute: Bool) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): bytes += Array("&amp;".utf8)
            case UInt8(ascii: "<"): bytes += Array("&lt;".utf8)
            case UInt8(ascii: ">"): bytes += Array("&gt;".utf8)
            case UInt8(ascii: "\"") where isAttribute: bytes += Array("&quot;".utf8)
            // Parsers normalize line ends, and white space in attributes.
            case 0x09, 0x0A: isAttribute ? reference(byte) : bytes.append(byte)
            case 0x00..<0x20: reference(byte)
            default: bytes.append(byte)
            }
        }
    }

    private mutating func reference(_ byte: UInt8) {
        bytes += Array("&#x\(String(byte, radix: 16, uppercase: true));".utf8)
    }
}
