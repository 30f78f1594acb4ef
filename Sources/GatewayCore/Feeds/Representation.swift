package import ODataWire

/// Whether a request asks for the representation in which feeds are read: plain JSON with minimal metadata. Any other
/// request passes through.
package enum Representation {
    /// The fields with which feeds are read.
    package static func requestFields(isLegacy: Bool) -> HTTPHeaders {
        isLegacy
            ? ["Accept": "application/json", "DataServiceVersion": "2.0", "MaxDataServiceVersion": "2.0"]
            : ["Accept": "application/json", "OData-Version": "4.0", "OData-MaxVersion": "4.01"]
    }

    /// Returns whether a feed can answer a request with these fields.
    package static func accepts(
        _ headers: HTTPHeaders, _ description: FeedDescription, language: FeedSettings.Language
    ) -> Bool {
        let conditions = [
            "If-None-Match", "If-Match", "If-Modified-Since", "If-Unmodified-Since", "Range", "X-HTTP-Method",
            "X-HTTP-Method-Override", "X-CSRF-Token",
        ]
        if conditions.contains(where: { headers[$0] != nil }) { return false }
        // Texts may depend on the language, and the feed is read without one.
        if language == .pass, headers.values("Accept-Language").contains(where: { $0 != "*" }) { return false }
        guard let accept = headers["Accept"], headers.values("Accept").count == 1, isPlainJSON(accept) else {
            return false
        }
        if description.isLegacy {
            let versions = headers.values("MaxDataServiceVersion")
            return versions.allSatisfy { $0.hasPrefix("2.0") || $0.hasPrefix("3.0") }
        }
        let versions = headers.values("OData-MaxVersion")
        return versions.allSatisfy { $0 == "4.01" || $0 == "4.0" && description.version != "4.01" }
    }

    private static func isPlainJSON(_ accept: String) -> Bool {
        let parts = accept.split(separator: ";").map { $0.filter { $0 != " " }.lowercased() }
        guard parts.first == "application/json" else { return false }
        return parts.dropFirst().allSatisfy { parameter in
            parameter == "odata.metadata=minimal" || parameter == "charset=utf-8"
                || parameter.hasPrefix("odata.streaming=") || parameter == "ieee754compatible=false"
        }
    }

    /// Returns whether the response to a query may contain a delta link. A V4 service returns one only if it is asked
    /// for; in V2 there is no way to ask.
    package static func asksForDeltaLink(_ headers: HTTPHeaders, _ description: FeedDescription) -> Bool {
        if description.isLegacy {
            return headers["MaxDataServiceVersion"] != nil || headers["DataServiceVersion"] != nil
        }
        return preferences(headers).tracksChanges
    }

    /// Returns the preferences of a request: whether changes are tracked, and the largest number of rows on a page.
    package static func preferences(_ headers: HTTPHeaders) -> (tracksChanges: Bool, pageSize: Int?) {
        var result: (tracksChanges: Bool, pageSize: Int?) = (false, nil)
        for item in headers.values("Prefer").flatMap({ $0.split(separator: ",") }) {
            let text = item.filter { $0 != " " && $0 != "\t" }.lowercased()
            if text == "odata.track-changes" || text == "track-changes" { result.tracksChanges = true }
            for name in ["odata.maxpagesize=", "maxpagesize="] where text.hasPrefix(name) {
                if let size = Int(text.dropFirst(name.count)), size > 0 { result.pageSize = size }
            }
        }
        return result
    }
}
