internal import EDM

/// An input document of the generation, with the name that errors use for it.
package struct MetadataSource: Sendable, Hashable {
    /// The name of the document; nil if there is only one.
    package let name: String?
    package let bytes: [UInt8]

    package init(name: String? = nil, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }

    /// Returns the text without byte order mark and with line feeds as line ends, which is equivalent (XML 1.0, section
    /// 2.11).
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
        // XML contains no NUL (XML 1.0, section 2.2), but UTF-16 without a byte order mark contains one next to each
        // letter.
        guard !text.contains(0), let result = String(validating: text, as: UTF8.self) else {
            throw .notUTF8(document: name)
        }
        return result
    }

    /// Returns the document with the same text that the generated code will read.
    func document() throws(ProxyError) -> CSDLReader.Document {
        CSDLReader.Document(name: name, bytes: Array(try text().utf8))
    }

    /// Returns whether the bytes contain the text.
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

    /// Returns whether the document declares a schema with the namespace; nil if it is not a readable metadata
    /// document.
    ///
    /// Documents that only include the namespace or annotate its elements do not declare it.
    package func declares(_ namespace: String) -> Bool? {
        // Only documents that mention the namespace are parsed, because most do not.
        guard contains(namespace) || !isSingleByte else { return false }
        guard let document = try? document(), let namespaces = try? CSDLReader().namespaces(of: document) else {
            return nil
        }
        return namespaces.contains(namespace)
    }

    /// Whether the encoding represents ASCII characters as single bytes; false for UTF-16.
    private var isSingleByte: Bool {
        !bytes.prefix(4).contains(0) && !bytes.starts(with: [0xFE]) && !bytes.starts(with: [0xFF])
    }
}
