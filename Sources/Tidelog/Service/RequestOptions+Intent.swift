import ODataWire
import OfflineStore

extension RequestOptions {
    /// Returns the options for intents.
    func intentOptions(headers: HTTPHeaders, ifMatch: String?) throws(TidelogError) -> IntentOptions {
        var headers = headers
        if preferNoContent {
            headers["Prefer"] = [headers["Prefer"], "return=minimal"].compactMap { $0 }.joined(separator: ", ")
        }
        var templates: [HeaderDraft] = []
        for template in customHeaderTemplates { templates.append(try HeaderDraft(parsing: template)) }
        return IntentOptions(
            headers: headers, headerTemplates: templates, customTag: customTag, transactionID: transactionID,
            ifMatch: ifMatch, isUnmodifiable: unmodifiableRequest, uploadCategory: uploadCategory?.draft,
            delivery: delivery, sendsEmptyUpdate: sendEmptyUpdate)
    }
}

extension RequestOptions.UploadCategory {
    fileprivate var draft: CategoryDraft {
        switch self {
        case .named(let name): .named(name)
        case .createdEntity: .created
        case .entityLink(let link): .entity(.link(link))
        }
    }
}

extension HeaderDraft {
    /// Parses `name: value` with `{link/property}` in the value.
    init(parsing template: String) throws(TidelogError) {
        func refused(_ why: String) -> TidelogError {
            TidelogError(
                .invalidRequest, "The header template '\(template)' cannot be used: \(why).",
                recovery: "Write it as in 'X-Order: {Orders(~7)/OrderID}'.")
        }
        guard let colon = template.firstIndex(of: ":") else { throw refused("it has no colon") }
        let name = template[..<colon].trimmingSpaces
        guard !name.isEmpty, name.utf8.allSatisfy(\.isToken) else {
            throw refused("its name is not a valid name of a header")
        }
        var parts: [ValuePart] = []
        var text = ""
        var rest = template[template.index(after: colon)...].trimmingSpaces[...]
        while let character = rest.popFirst() {
            switch character {
            case "{" where rest.first == "{", "}" where rest.first == "}":
                text.append(character)
                rest.removeFirst()
            case "{":
                guard let end = rest.firstIndex(of: "}"), let slash = rest[..<end].lastIndex(of: "/") else {
                    throw refused("a brace is not followed by a link, a slash and a property")
                }
                let (link, property) = (String(rest[..<slash]), String(rest[rest.index(after: slash)..<end]))
                guard !link.isEmpty, !property.isEmpty else { throw refused("a link or a property is missing") }
                if !text.isEmpty { parts.append(.text(text)) }
                text = ""
                parts.append(.key(.link(link), property: property))
                rest = rest[rest.index(after: end)...]
            case "}": throw refused("a closing brace has no opening one")
            default:
                guard character.unicodeScalars.allSatisfy({ (0x20..<0x7F).contains($0.value) }) else {
                    throw refused("a header can contain only printable ASCII characters")
                }
                text.append(character)
            }
        }
        if !text.isEmpty { parts.append(.text(text)) }
        self.init(name: name, parts: parts)
    }
}

extension Substring {
    fileprivate var trimmingSpaces: String {
        var text = self
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}

extension UInt8 {
    /// Whether the byte is allowed in a header name (RFC 9110, 5.6.2).
    fileprivate var isToken: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(self)
        }
    }
}
