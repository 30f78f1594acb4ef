/// Writes compact JSON. The same calls always produce the same bytes.
///
/// The writer inserts commas. The caller must alternate names and values inside objects.
public struct JSONWriter: Sendable {
    /// The JSON written so far, in UTF-8.
    public private(set) var bytes: [UInt8] = []
    private var needsComma = false

    /// Creates a writer without content.
    public init() {}

    /// The JSON written so far, as text. Cost: O(n).
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Begins an object. A call of ``endObject()`` must follow after its members.
    public mutating func beginObject() { open(UInt8(ascii: "{")) }
    /// Ends the object that was begun last.
    public mutating func endObject() { close(UInt8(ascii: "}")) }
    /// Begins an array. A call of ``endArray()`` must follow after its items.
    public mutating func beginArray() { open(UInt8(ascii: "[")) }
    /// Ends the array that was begun last.
    public mutating func endArray() { close(UInt8(ascii: "]")) }

    /// Writes the name of an object's next member. The member's value must follow.
    public mutating func name(_ name: String) {
        separate()
        quote(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a string. Quotes, backslashes and control characters are escaped.
    public mutating func string(_ text: String) {
        separate()
        quote(text)
        needsComma = true
    }

    /// Writes `true` or `false`.
    public mutating func boolean(_ value: Bool) { raw(value ? "true" : "false") }
    /// Writes an integer.
    public mutating func integer(_ value: Int64) { raw(String(value)) }
    /// Writes `null`.
    public mutating func null() { raw("null") }

    /// Writes text that is already JSON: a number, or a value kept as received.
    public mutating func raw(_ json: String) {
        separate()
        bytes += Array(json.utf8)
        needsComma = true
    }

    /// Writes a value with all its items and members. The recursion is as deep as the value.
    public mutating func value(_ value: JSONValue) {
        switch value {
        case .null: null()
        case .boolean(let flag): boolean(flag)
        case .number(let text): raw(text)
        case .string(let text): string(text)
        case .array(let items):
            beginArray()
            for item in items { self.value(item) }
            endArray()
        case .object(let object):
            beginObject()
            for member in object.members {
                name(member.name)
                self.value(member.value)
            }
            endObject()
        }
    }

    private mutating func open(_ bracket: UInt8) {
        separate()
        bytes.append(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
    }

    private mutating func quote(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0x00..<0x20: escape(byte)
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func escape(_ control: UInt8) {
        switch control {
        case 0x08: bytes += Array("\\b".utf8)
        case 0x09: bytes += Array("\\t".utf8)
        case 0x0A: bytes += Array("\\n".utf8)
        case 0x0C: bytes += Array("\\f".utf8)
        case 0x0D: bytes += Array("\\r".utf8)
        default: bytes += Array((control < 0x10 ? "\\u000" : "\\u00").utf8) + Array(String(control, radix: 16).utf8)
        }
    }
}
