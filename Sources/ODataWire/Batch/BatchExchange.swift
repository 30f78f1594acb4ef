public import EDM

/// One `$batch` in the format that the service wants: the request to send, and what the answer to it means.
public struct BatchExchange: Sendable {
    public let batch: BatchRequest
    /// POST to `$batch`.
    public let request: WireRequest

    /// - Parameters:
    ///   - headers: what every request has.
    ///   - number: names the delimiters between parts, where the format has any.
    public init(
        _ batch: BatchRequest, version: ODataVersion, options: ServiceOptions, headers: HTTPHeaders,
        number: UInt64? = nil
    ) throws(BatchWriteError) {
        self.batch = batch
        let isJSON = options.batchFormat == .json && !version.isLegacy
        var headers = headers
        let body: [UInt8]
        if isJSON {
            headers["Content-Type"] = JSONBatchWriter.contentType
            headers["Accept"] = JSONBatchWriter.contentType
            headers["OData-Version"] = JSONBatchWriter.version
            body = try JSONBatchWriter().write(batch)
        } else {
            let suffix = number.map { "_\($0)" } ?? ""
            let boundary = "batch_tidelog\(suffix)"
            headers["Content-Type"] = MultipartBatchWriter.contentType(boundary: boundary)
            headers["Accept"] = "multipart/mixed"
            body = try MultipartBatchWriter(contentIDLocation: options.contentIDLocation).write(
                batch, boundary: boundary, changeSetBoundary: { "changeset\(suffix)_\($0 + 1)" })
        }
        request = WireRequest(method: "POST", url: "$batch", headers: headers, body: body)
    }

    /// One for each part of the batch, from an answer with a status of success.
    public func outcomes(_ response: WireResponse) throws(BatchReadError) -> [BatchPartOutcome] {
        try Self.outcomes(response, to: batch)
    }

    /// One for each part of a batch, in the format in which it was answered.
    ///
    /// - Parameter batch: of its requests, the Content-IDs are all that is looked at.
    public static func outcomes(
        _ response: WireResponse, to batch: BatchRequest
    ) throws(BatchReadError) -> [BatchPartOutcome] {
        let contentType = response.headers["Content-Type"] ?? ""
        if contentType.lowercased().hasPrefix("application/json") {
            return try JSONBatchReader().readResponse(response.body).outcomes(of: batch)
        }
        let answer = try MultipartBatchReader().readResponse(
            response.body, contentType: contentType)
        return BatchMatcher(request: batch, response: answer).outcomes()
    }
}
