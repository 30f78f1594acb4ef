package import EDM

/// A `$batch` request in the format that the service requires, and the interpretation of its response.
package struct BatchExchange: Sendable {
    package let batch: BatchRequest
    /// The request, a POST to `$batch`.
    package let request: WireRequest

    /// Creates the request for a batch.
    ///
    /// - Parameters:
    ///   - headers: The headers that every request has.
    ///   - number: A number for the boundaries between the parts, if the format has boundaries.
    package init(
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

    /// Returns the outcome of each part of the batch from a successful response.
    package func outcomes(_ response: WireResponse) throws(BatchReadError) -> [BatchPartOutcome] {
        try Self.outcomes(response, to: batch)
    }

    /// Returns the outcome of each part of a batch, according to the format of the response.
    ///
    /// - Parameter batch: The batch that was sent. Only the Content-IDs of its requests are used.
    package static func outcomes(
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
