internal import EDM
internal import ODataWire

/// Writes the responses to batches as multipart, with a boundary of its own for each.
struct BatchResponseWriter: Sendable {
    /// The number of boundaries used so far.
    private var batches = 0

    mutating func write(
        _ batch: BatchResponse, _ distortions: Set<Fault.PayloadCorruption>, _ view: ServiceView
    ) throws(SandboxError) -> WireResponse {
        let batch = batch.distorted(distortions)
        // A body may contain any text, including the boundary. In that case the next boundary is tried.
        for _ in 0..<8 {
            batches += 1
            let boundary = "batchresponse_\(batches)"
            let bytes = try? MultipartBatchWriter().write(batch, boundary: boundary) {
                "\(boundary)_changeset_\($0 + 1)"
            }
            if let bytes {
                let type = MultipartBatchWriter.contentType(
                    boundary: distortions.contains(.wrongBoundary) ? "another" : boundary)
                return view.response(view.isLegacy ? 202 : 200, ["Content-Type": type], body: bytes)
            }
        }
        throw SandboxError(500, .invalidBatch, "The responses cannot be encoded as a batch.")
    }
}

extension BatchResponse {
    fileprivate func distorted(_ distortions: Set<Fault.PayloadCorruption>) -> BatchResponse {
        var batch = self
        if distortions.contains(.unclosed) { batch.isClosed = false }
        if distortions.contains(.reversedParts) { batch.parts.reverse() }
        if distortions.contains(.reversed) {
            batch.parts = batch.parts.map { part in
                guard case .changeSet(let members) = part else { return part }
                return .changeSet(members.reversed())
            }
        }
        return batch
    }
}
