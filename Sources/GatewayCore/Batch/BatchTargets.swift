internal import EDM
internal import ODataQuery
package import ODataWire

/// Prepares a batch for the origin, and checks that all its requests stay below the root of the service.
///
/// A service resolves the URLs inside of a batch itself, with the rights of the user, and so they could reach other
/// applications of its host. A batch that the gateway cannot read could contain such URLs.
package enum BatchTargets {
    /// Returns the batch with links to the origin.
    ///
    /// - Parameter headers: The header fields of the request.
    /// - Returns: A refusal if a request of the batch leaves the service, or the batch cannot be read. Nothing of the
    ///   batch may be sent then.
    package static func forwarded(
        _ body: [UInt8], _ headers: HTTPHeaders, format: BatchUpload.Format, _ roots: ServiceRoots,
        limits: GatewayLimits
    ) -> Result<[UInt8], RequestRefusal> {
        if headers.values("Content-Encoding").contains(where: { !$0.equalsIgnoringCase("identity") }) {
            return .failure(RequestRefusal(415, "Send the batch without a Content-Encoding."))
        }
        let types = headers.values("Content-Type")
        guard types.count <= 1 else { return .failure(RequestRefusal(400, "The Content-Type is ambiguous.")) }
        switch format {
        case .json: return json(LinkRewriter.rewrite(body, roots, .request, scope: .batch), roots)
        case .multipart: return multipart(body, types.first ?? "", roots, limits)
        }
    }

    private static let outside = RequestRefusal(
        400, "The batch contains a request whose URL is outside the service, is a batch, or cannot be read.")

    private static func multipart(
        _ body: [UInt8], _ contentType: String, _ roots: ServiceRoots, _ limits: GatewayLimits
    ) -> Result<[UInt8], RequestRefusal> {
        guard contentType.lowercased().ranges(of: "boundary=").count <= 1 else {
            return .failure(RequestRefusal(400, "The boundary of the batch is ambiguous."))
        }
        var reader = MultipartBatchReader()
        reader.limits.parts = max(reader.limits.parts, limits.batchParts)
        do throws(BatchReadError) {
            let document = try reader.document(body, contentType: contentType)
            return BatchLinks.requests(document, roots).map { .success($0) } ?? .failure(outside)
        } catch {
            return .failure(
                RequestRefusal(
                    error.code == .tooLarge ? 413 : 400, "The batch cannot be read: \(error.message)"))
        }
    }

    /// - Parameter body: The batch with links to the origin.
    private static func json(_ body: [UInt8], _ roots: ServiceRoots) -> Result<[UInt8], RequestRefusal> {
        guard let document = (try? JSONValue.parse(body))?.object else {
            return .failure(RequestRefusal(400, "The batch cannot be read: It is not a JSON object."))
        }
        // Readers differ in whether the case of names matters, and in which of several members counts.
        for requests in document.members(named: "requests") {
            for request in requests.array ?? [] {
                let urls = request.object?.members(named: "url") ?? []
                let isAllowed = urls.map { $0.string ?? "" }.allSatisfy {
                    RequestPath.isContained($0, in: roots.origin) && !RequestPath.isBatch($0)
                }
                guard isAllowed else { return .failure(outside) }
            }
        }
        return .success(body)
    }
}

extension JSONObject {
    /// Returns the values of all members with a name, in any case.
    fileprivate func members(named name: String) -> [JSONValue] {
        members.filter { $0.name.equalsIgnoringCase(name) }.map(\.value)
    }
}
