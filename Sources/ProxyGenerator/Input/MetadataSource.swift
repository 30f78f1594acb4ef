internal import EDM

/// A document that sources are generated from, under the name that errors call it by.
public struct MetadataSource: Sendable, Hashable {
    /// nil where there is one document and everybody knows which.
    public let name: String?
    public let bytes: [UInt8]

    public init(name: String? = nil, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }

    /// The document without byte order mark and with line feeds only, which is the same document (XML 1.0, section 2.11).
    func text() throws(ProxyError) -> String {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        var afterReturn = false
        for byte in bytes.starts(with: mark) ? bytes[3...] : bytes[...] {
            if byte == 0x0D {
                text.append(0x0A)
            } else if !(byte == 0x0A && afterReturn) {
                text.append(byte)
            }
            afterReturn = byte == 0x0D
        }
        // No XML has a NUL (XML 1.0, section 2.2), but UTF-16 without a mark has one beside each letter.
        guard !text.contains(0), let result = String(validating: text, as: UTF8.self) else {
            throw .notUTF8(document: name)
        }
        return result
    }

    /// What is read here is what the generated code will read.
    func document() throws(ProxyError) -> CSDLReader.Document {
        CSDLReader.Document(name: name, bytes: Array(try text().utf8))
    }

    /// Whether the bytes hold the text somewhere.
    func contains(_ text: String) -> Bool {
        let wanted = Array(text.utf8)
        guard let first = wanted.first, bytes.count >= wanted.count else { return false }
        return bytes.withUnsafeBufferPointer { bytes in
            var position = 0
            while position <= bytes.count - wanted.count {
                if bytes[position] == first, bytes[position..<position + wanted.count].elementsEqual(wanted) {
                    return true
                }
                position += 1
            }
            return false
        }
    }

    /// Whether the document has a schema of that namespace; nil for what is no metadata document that can be read. Others
    /// that include the namespace, or annotate what is in it, mention it as well.
    public func declares(_ namespace: String) -> Bool? {
        // Many documents are looked at, and few mention it.
        guard contains(namespace) || !isSingleByte else { return false }
        guard let document = try? document(), let namespaces = try? CSDLReader().namespaces(of: document) else {
            return nil
        }
        return namespaces.contains(namespace)
    }

    /// False for UTF-16.
    private var isSingleByte: Bool {
        !bytes.prefix(4).contains(0) && !bytes.starts(with: [0xFE]) && !bytes.starts(with: [0xFF])
    }
}
