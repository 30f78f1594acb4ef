package import EDM
import ODataQuery
import Operations

/// Headers whose values contain keys of entities.
extension EntityResolver {
    /// Returns the reason why the headers of the operations cannot be written yet, or nil if they can.
    func missingHeaderKey(in operations: [PendingOperation]) throws(StateError) -> HoldReason? {
        for pending in operations {
            for template in pending.operation.headerTemplates {
                if case .missing(let entity) = try fill(template) { return .headerNeedsKey(entity) }
            }
        }
        return nil
    }

    enum FilledHeader {
        case value(String)
        /// The service has not assigned a key to the entity yet.
        case missing(EntityID)
    }

    func fill(_ template: HeaderTemplate) throws(StateError) -> FilledHeader {
        var text = ""
        for part in template.parts {
            switch part {
            case .text(let fixed): text += fixed
            case .key(let entity, let property):
                guard let value = try serviceRow(entity)?.values[property], value != .null else {
                    return .missing(entity)
                }
                text += HeaderText.key(value, version: model.version)
            }
        }
        return .value(text)
    }
}

/// The text of keys in headers.
package enum HeaderText {
    /// Returns the value of a key property as a part of a header.
    package static func key(_ value: Value, version: ODataVersion) -> String {
        encoded(PrimitiveLiteral.format(value, version: version, form: .json))
    }

    /// Returns the text as a header value. All characters other than printable ASCII are percent-encoded, so that no
    /// key can end the header.
    private static func encoded(_ text: String) -> String {
        guard !text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else { return text }
        return text.utf8.map { byte in
            (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "%")
                ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }
}
