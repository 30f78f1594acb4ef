internal import EDM

/// Reads the JSON or XML in which a service says why it refused.
public enum ServiceErrorReader {
    /// The error of V2 (`message` an object), of V3's light format (`odata.error`) or of V4 (`message` a string), also in
    /// the forms of SAP gateways, which leave out what they please and put details under `innererror.errordetails`.
    ///
    /// Services of V2 say it in XML where they do not look at what the request accepts (MS-ODATA 2.2.8.1), those of V4 in the
    /// same elements of another namespace.
    ///
    /// Code and message are empty where the service gave none. Nil for what is neither JSON nor XML, or no error at all.
    public static func read(_ bytes: [UInt8]) -> ServiceError? {
        if let error = errorElement(bytes) { return read(error) }
        guard let json = try? JSONValue.parse(bytes),
            let error = json["error"] ?? json["odata.error"]
        else { return nil }
        return read(error)
    }

    /// The members by which an answer of 200 says that it is in error, as it may only find out while it is being written
    /// (OData 4.01 Part 1, 9.5; JSON Format 4.01, 21.2).
    ///
    /// An exception about the whole answer is one as well: what could not be read is missing in it (vocabulary Core,
    /// `ResourceException`).
    static let names: Set<String> = [
        "error", "odata.error", "@odata.error", "@error", "@Core.ResourceException",
        "@Org.OData.Core.V1.ResourceException", "value@Core.ResourceException",
        "value@Org.OData.Core.V1.ResourceException",
    ]

    /// The root element `error` of an XML document as the JSON of the same error; nil for everything else.
    private static func errorElement(_ bytes: [UInt8]) -> JSONValue? {
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        guard bytes[start...].first(where: { $0 > 0x20 }) == UInt8(ascii: "<"),
            let message = XMLMessage(bytes, root: "error")
        else { return nil }
        let json = json(message.content)
        // Other programs have an element of that name too: without OData's namespace it must look like an error of OData.
        let isOurs = message.namespace.map(namespaces.contains) ?? (json["code"] != nil && json["message"] != nil)
        return isOurs ? json : nil
    }

    private static let namespaces: Set<String> = [
        "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata",
        "http://docs.oasis-open.org/odata/ns/metadata",
    ]

    private static func json(_ content: XMLMessage.Content) -> JSONValue {
        switch content {
        case .text(let text): return .string(text)
        case .elements(let elements):
            var object = JSONObject()
            for (name, content) in elements {
                let value = json(content)
                let place = object.members.firstIndex { $0.name == name }
                // What there may be several of is an array also where there is one.
                if let place, let items = object.members[place].value.array {
                    object.members[place].value = .array(items + [value])
                } else if place == nil {
                    let isItem = name == "errordetail" || name == "detail"
                    object.members.append(.init(name: name, value: isItem ? .array([value]) : value))
                }
            }
            return .object(object)
        }
    }

    /// Reads the value of the member `error`.
    static func read(_ error: JSONValue) -> ServiceError? {
        // Proxies in between like to put a bare sentence here.
        if let text = error.string { return ServiceError(code: "", message: text) }
        guard error.object != nil else { return nil }
        var result = ServiceError(
            code: text(error["code"]), message: text(error["message"]?["value"] ?? error["message"]))
        result.target = error["target"]?.string
        result.contentID = contentID(error)
        let inner = error["innererror"]
        if let inner, inner != .null { result.innerError = inner.text }
        let details =
            error["details"]?.array ?? error["details"]?["detail"]?.array ?? inner?["errordetails"]?.array
            ?? inner?["errordetails"]?["errordetail"]?.array
        result.details = (details ?? []).compactMap(detail)
        return result
    }

    private static func detail(_ json: JSONValue) -> ServiceError.Detail? {
        guard json.object != nil else { return nil }
        let detail = ServiceError.Detail(
            code: text(json["code"]), message: text(json["message"]?["value"] ?? json["message"]),
            target: json["target"]?.string ?? json["propertyref"]?.string, contentID: contentID(json))
        return detail.code.isEmpty && detail.message.isEmpty ? nil : detail
    }

    /// An annotation by the standard, a member of its own with SAP gateways.
    private static func contentID(_ json: JSONValue) -> String? {
        let names = ["@Core.ContentID", "@Org.OData.Core.V1.ContentID", "@SAP__core.ContentID", "ContentID"]
        let found = names.lazy.compactMap { text(json[$0]) }.first { !$0.isEmpty }
        return found
    }

    /// Codes are strings by the standard and numbers in the wild.
    private static func text(_ json: JSONValue?) -> String {
        switch json {
        case .string(let text), .number(let text): text
        default: ""
        }
    }
}
