/// Reads the JSON in which a service says why it refused.
public enum ServiceErrorReader {
    /// The error of V2 (`message` an object), of V3's light format (`odata.error`) or of V4 (`message` a string), also in
    /// the forms of SAP gateways, which leave out what they please and put details under `innererror.errordetails`.
    ///
    /// Code and message are empty where the service gave none. Nil for what is no JSON, or no error at all.
    public static func read(_ bytes: [UInt8]) -> ServiceError? {
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
            error["details"]?.array ?? inner?["errordetails"]?.array ?? inner?["errordetails"]?["errordetail"]?.array
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
