internal import EDM

/// Reads the JSON or XML error responses of services.
package enum ServiceErrorReader {
    /// Reads an error response.
    ///
    /// Accepts the error of V2 (`message` an object), of V3's light format (`odata.error`) and of V4 (`message` a
    /// string), also in the forms of SAP gateways, which omit members and put details under `innererror.errordetails`.
    /// Some V2 services send XML regardless of the request's Accept header (MS-ODATA 2.2.8.1); V4 services use the same
    /// elements in a different namespace.
    ///
    /// - Returns: The error, or nil if the bytes are neither JSON nor XML or contain no error. Code and message are
    ///   empty if the service sent none.
    package static func read(_ bytes: [UInt8]) -> ServiceError? {
        if let error = errorElement(bytes) { return read(error) }
        guard let json = try? JSONValue.parse(bytes),
            let error = json["error"] ?? json["odata.error"]
        else { return nil }
        return read(error)
    }

    /// The members that report an error in a response with status 200, because a service may detect the error while it
    /// writes the response (OData 4.01 Part 1, 9.5; JSON Format 4.01, 21.2).
    ///
    /// They include an exception that concerns the whole response, because the unreadable content is missing
    /// (vocabulary Core, `ResourceException`).
    static let names: Set<String> = [
        "error", "odata.error", "@odata.error", "@error", "@Core.ResourceException",
        "@Org.OData.Core.V1.ResourceException", "value@Core.ResourceException",
        "value@Org.OData.Core.V1.ResourceException",
    ]

    /// Returns the root element `error` of an XML document as the JSON of the same error, or nil for any other content.
    private static func errorElement(_ bytes: [UInt8]) -> JSONValue? {
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        guard bytes[start...].first(where: { $0 > 0x20 }) == UInt8(ascii: "<"),
            let message = XMLMessage(bytes, root: "error")
        else { return nil }
        let json = json(message.content)
        // Other programs use an element of this name too: without OData's namespace, it must have the structure of an
        // OData error.
        let isOurs = message.namespace.map(namespaces.contains) ?? (json["code"] != nil && json["message"] != nil)
        return isOurs ? json : nil
    }

    private static let namespaces: Set<String> = [
        "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata",
        "http://docs.oasis-open.org/odata/ns/metadata",
    ]

    private static func json(_ content: XMLMessage.ElementContent) -> JSONValue {
        switch content {
        case .text(let text): return .string(text)
        case .elements(let elements):
            var object = JSONObject()
            for (name, content) in elements {
                let value = json(content)
                let place = object.members.firstIndex { $0.name == name }
                // An element that can be repeated is an array even if it occurs once.
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
        // Proxies often send a plain sentence here.
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

    /// Returns the Content-ID, which is an annotation by the standard and a member of its own with SAP gateways.
    private static func contentID(_ json: JSONValue) -> String? {
        let names = ["@Core.ContentID", "@Org.OData.Core.V1.ContentID", "@SAP__core.ContentID", "ContentID"]
        let found = names.lazy.compactMap { text(json[$0]) }.first { !$0.isEmpty }
        return found
    }

    /// Returns the text of a code or message. Codes are strings by the standard, but some services send numbers.
    private static func text(_ json: JSONValue?) -> String {
        switch json {
        case .string(let text), .number(let text): text
        default: ""
        }
    }
}
