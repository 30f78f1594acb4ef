internal import EDM

/// Skips an item of a page that is too large for memory, regardless of its size and of the division into chunks.
///
/// It keeps the short members, which are sufficient to identify the entity. It only tracks brackets and the ends of
/// strings, because the item is not used.
struct ItemSkipper: Sendable {
    /// The short members. A long member that is an object or array has an empty value here; other long members are
    /// omitted.
    private(set) var members = JSONObject()
    /// Whether ``members`` omits members that may contain entities.
    private(set) var hidesMembers = false

    /// The closing brackets of the open objects and arrays.
    private var closing: [UInt8] = []
    private var isInString = false
    private var isEscaped = false
    /// Whether the item is neither an object, an array nor a string.
    private var isBare = false
    /// The beginning of the current member, including its name.
    private var member: [UInt8] = []
    private let depth: Int

    /// The maximum number of bytes that are kept of a member.
    private static let memberLimit = 1 << 10
    /// The maximum number of members that are kept.
    private static let countLimit = 1_000

    init(_ limits: JSONScanner.Limits) { depth = limits.depth }

    /// Skips the bytes from `start` on that belong to the item, which begins with a value.
    ///
    /// - Returns: The end of the item, or nil if it continues after these bytes.
    mutating func pass(_ bytes: [UInt8], from start: Int) throws(JSONError) -> Int? {
        var skimmer = self
        let end = bytes.withUnsafeBytes { bytes -> Result<Int?, JSONError> in
            do throws(JSONError) { return .success(try skimmer.pass(bytes, from: start)) } catch {
                return .failure(error)
            }
        }
        self = skimmer
        return try end.get()
    }

    private mutating func pass(_ bytes: UnsafeRawBufferPointer, from start: Int) throws(JSONError) -> Int? {
        var index = start
        while index < bytes.count {
            if isInString {
                guard let next = try passString(bytes, index) else { return nil }
                index = next
                if !isInString, closing.isEmpty { return index }
                continue
            }
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "\""):
                keep(bytes[index...index])
                isInString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                try open(byte, at: index)
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if isBare { return index }
                guard closing.popLast() == byte else { throw Self.unbalanced(index) }
                if closing.isEmpty {
                    endMember()
                    return index + 1
                }
                keep(bytes[index...index])
            case UInt8(ascii: ","):
                if isBare { return index }
                if closing.count == 1 { endMember() } else { keep(bytes[index...index]) }
            case 0x20, 0x09, 0x0A, 0x0D:
                if isBare { return index }
            default:
                if closing.isEmpty { isBare = true }
                keep(bytes[index...index])
            }
            index += 1
        }
        return nil
    }

    /// Skips a part of a string. Returns the index after it, or nil at the end of the bytes.
    private mutating func passString(_ bytes: UnsafeRawBufferPointer, _ start: Int) throws(JSONError) -> Int? {
        if isEscaped {
            isEscaped = false
            keep(bytes[start...start])
            return start + 1
        }
        let end = JSONText.plainRun(in: bytes, from: start).end
        keep(bytes[start..<end])
        guard end < bytes.count else { return nil }
        keep(bytes[end...end])
        switch bytes[end] {
        case UInt8(ascii: "\""): isInString = false
        case UInt8(ascii: "\\"): isEscaped = true
        default: throw JSONError(.syntax, "A control character in a string must be escaped.", at: end)
        }
        return end + 1
    }

    private mutating func open(_ bracket: UInt8, at index: Int) throws(JSONError) {
        guard closing.count < depth else {
            throw JSONError(.tooDeep, "Objects and arrays are nested more than \(depth) levels deep.", at: index)
        }
        if !closing.isEmpty { keep(bracket) }
        closing.append(bracket == UInt8(ascii: "{") ? UInt8(ascii: "}") : UInt8(ascii: "]"))
    }

    private static func unbalanced(_ index: Int) -> JSONError {
        JSONError(.syntax, "A closing bracket has no opening one.", at: index)
    }

    // MARK: Members

    private mutating func keep(_ byte: UInt8) {
        if member.count <= Self.memberLimit { member.append(byte) }
    }

    private mutating func keep(_ bytes: Slice<UnsafeRawBufferPointer>) {
        guard !closing.isEmpty, member.count <= Self.memberLimit else { return }
        member += bytes.prefix(Self.memberLimit + 1 - member.count)
    }

    private mutating func endMember() {
        defer { member.removeAll(keepingCapacity: true) }
        guard members.members.count < Self.countLimit else { return hidesMembers = true }
        if member.count <= Self.memberLimit {
            let object = (try? JSONValue.parse(Array("{".utf8) + member + Array("}".utf8)))?.object
            members.members += object?.members ?? []
            return
        }
        guard var scanner = try? JSONScanner(member), let name = try? scanner.string(), (try? scanner.colon()) != nil
        else { return hidesMembers = true }
        switch try? scanner.peek() {
        case .object: members.members.append(.init(name: name, value: .object(JSONObject())))
        case .array: members.members.append(.init(name: name, value: .array([])))
        default: break
        }
    }
}
