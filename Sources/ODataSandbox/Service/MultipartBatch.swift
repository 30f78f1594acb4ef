internal import EDM
internal import ODataWire

/// A batch in multipart format whose parts can be executed and answered.
struct MultipartBatch {
    let parts: [BatchPart]
    /// The headers of the MIME parts, which may contain identifiers of repeatable requests.
    private var heads: [HTTPHeaders] = []

    /// Reads a batch.
    ///
    /// - Parameter hasHeads: Whether the headers of the MIME parts are needed.
    init(_ request: WireRequest, _ view: ServiceView, hasHeads: Bool) throws(SandboxError) {
        let contentType = request.headers["Content-Type"] ?? ""
        guard contentType.lowercased().hasPrefix("multipart/mixed") else {
            throw SandboxError(415, .invalidBatch, "A batch must be multipart/mixed, not \(contentType).")
        }
        let batch: BatchRequest
        do {
            batch = try MultipartBatchReader().readRequest(request.body, contentType: contentType)
        } catch {
            throw SandboxError(400, .invalidBatch, "The batch cannot be read: \(error)")
        }
        try Self.requireContentIDs(batch, view)
        parts = batch.parts
        guard hasHeads else { return }
        do {
            heads = try MultipartBatchReader().document(request.body, contentType: contentType).parts.map(\.headers)
        } catch {
            throw SandboxError(400, .invalidBatch, "The batch cannot be read: \(error)")
        }
    }

    /// Returns the headers of a MIME part; none if they were not read.
    func head(of part: Int) -> HTTPHeaders { heads.isEmpty ? .empty : heads[part] }

    /// Checks that each member of a V4 change set has a Content-ID of its own (OData 4.01 Part 1, 11.7.2), and that the
    /// response can repeat it. After the requests were executed, an error would be too late.
    private static func requireContentIDs(_ batch: BatchRequest, _ view: ServiceView) throws(SandboxError) {
        guard !view.isLegacy else { return }
        var seen: Set<String> = []
        for part in batch.parts {
            switch part {
            case .query(let request):
                if let id = request.headers["Content-ID"] { try requireEchoable(id) }
            case .changeSet(let members):
                for member in members {
                    guard let id = member.contentID else {
                        throw SandboxError(400, .invalidBatch, "A request within a change set has no Content-ID.")
                    }
                    try requireEchoable(id)
                    guard seen.insert(id).inserted else {
                        throw SandboxError(400, .invalidBatch, "The Content-ID \(id) occurs twice in the batch.")
                    }
                }
            }
        }
    }

    private static func requireEchoable(_ contentID: String) throws(SandboxError) {
        guard HTTPHeaders.obstacle("Content-ID", contentID) == nil else {
            throw SandboxError(
                400, .invalidBatch, "A Content-ID contains characters that a header field must not contain.")
        }
    }
}
