package import ODataWire

/// A batch with repeatable units: the parts, the units among them, and the batch of the parts that are still to be sent.
package struct BatchUpload: Sendable {
    package enum Format: Sendable, Hashable {
        case multipart
        case json
    }

    package let format: Format
    package let batch: BatchRequest
    package let units: [UploadUnit]
    /// The names of atomicity groups by part, for JSON.
    let groups: [String?]
    private let jsonRequests: JSONBatchRequests?

    /// Reads a batch whose links point to the origin. Returns `nil` if it contains no repeatable request, or cannot be
    /// read and does not look as if it contained one.
    ///
    /// - Throws: A refusal if a repeatable request in it cannot be understood.
    package init?(
        _ body: [UInt8], contentType: String, format: Format, limits: GatewayLimits
    ) throws(RequestRefusal) {
        self.format = format
        let heads: [HTTPHeaders]
        do throws(BatchReadError) {
            switch format {
            case .multipart:
                var reader = MultipartBatchReader()
                reader.limits.parts = limits.batchParts
                let document = try reader.document(body, contentType: contentType)
                batch = try reader.readRequest(document)
                jsonRequests = nil
                heads = document.parts.map(\.headers)
            case .json:
                let requests = try JSONBatchRequests(body, limits: limits)
                jsonRequests = requests
                batch = requests.batch
                heads = []
            }
        } catch {
            guard Self.mentionsIdentifiers(body) else { return nil }
            throw RepeatabilityIdentifier.refusal(
                .oasis, status: error.code == .tooLarge ? 413 : 400,
                "The batch with repeatable requests cannot be read: \(error.message)")
        }
        groups = jsonRequests?.groups ?? batch.parts.map { _ in nil }
        units = try Self.units(of: batch, heads)
        if units.isEmpty { return nil }
    }

    private static func units(of batch: BatchRequest, _ heads: [HTTPHeaders]) throws(RequestRefusal) -> [UploadUnit] {
        var units: [UploadUnit] = []
        for (index, part) in batch.parts.enumerated() {
            let unit: UploadUnit?
            switch part {
            case .changeSet(let members):
                if members.isEmpty { continue }
                unit = try UploadUnit(
                    part: index, requests: members.map(\.request), contentIDs: members.map(\.contentID),
                    isChangeSet: true,
                    head: index < heads.count ? heads[index] : .empty)
            case .query(let request):
                if ["GET", "HEAD"].contains(request.method) { continue }
                unit = try UploadUnit(
                    part: index, requests: [request], contentIDs: [request.headers["Content-ID"]], isChangeSet: false)
            }
            if let unit { units.append(unit) }
        }
        return units
    }

    private static func mentionsIdentifiers(_ body: [UInt8]) -> Bool {
        let text = String(decoding: body.lazy.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }, as: UTF8.self)
        return RepeatabilityIdentifier.markers.contains { text.utf8.contains(sequence: Array($0.utf8)) }
    }

    // MARK: The rest of a batch

    /// Returns the batch without some parts, and its Content-Type.
    ///
    /// - Parameters:
    ///   - omitted: The parts that are not sent.
    ///   - locations: The URLs of the entities of omitted requests by Content-ID. They replace references in URLs.
    /// - Returns: `nil` if a remaining request refers to an omitted one in a way that cannot be replaced.
    package func remaining(
        without omitted: Set<Int>, locations: [String: String]
    ) -> (body: [UInt8], contentType: String)? {
        if let jsonRequests {
            return jsonRequests.remaining(without: omitted).map { ($0, JSONBatchWriter.contentType) }
        }
        var parts: [BatchPart] = []
        let gone = Set(omitted.flatMap { batch.parts[$0].contentIDs })
        for (index, part) in batch.parts.enumerated() where !omitted.contains(index) {
            switch part {
            case .query(let request):
                guard let resolved = Self.resolved(request, gone, locations) else { return nil }
                parts.append(.query(resolved))
            case .changeSet(let members):
                var resolved: [BatchPart.Member] = []
                for member in members {
                    guard let request = Self.resolved(member.request, gone, locations) else { return nil }
                    resolved.append(.init(contentID: member.contentID, request: request))
                }
                parts.append(.changeSet(resolved))
            }
        }
        let boundary = Self.boundary
        guard
            let body = try? MultipartBatchWriter().write(
                BatchRequest(parts: parts), boundary: boundary, changeSetBoundary: { "\(boundary)_\($0 + 1)" })
        else { return nil }
        return (body, MultipartBatchWriter.contentType(boundary: boundary))
    }

    static let boundary = "batch_gateway_7d0c3f1e5a"

    /// Replaces a reference to an omitted request at the beginning of the URL. Returns `nil` for a reference in the body.
    private static func resolved(
        _ request: WireRequest, _ gone: Set<String>, _ locations: [String: String]
    ) -> WireRequest? {
        var request = request
        if request.url.hasPrefix("$") {
            let id = String(request.url.dropFirst().prefix { $0 != "/" && $0 != "?" })
            if gone.contains(id) {
                guard let location = locations[id] else { return nil }
                request.url = location + request.url.dropFirst(id.count + 1)
            }
        }
        for id in gone where request.body.contains(sequence: Array("\"$\(id)\"".utf8)) { return nil }
        return request
    }
}

extension BatchPart {
    var contentIDs: [String] {
        switch self {
        case .changeSet(let members): members.compactMap(\.contentID)
        case .query(let request): request.headers["Content-ID"].map { [$0] } ?? []
        }
    }
}

extension Collection<UInt8> {
    /// Whether the bytes contain `sequence`, which is not empty.
    func contains(sequence: [UInt8]) -> Bool {
        var start = startIndex
        while let found = self[start...].firstIndex(of: sequence[0]) {
            if self[found...].starts(with: sequence) { return true }
            start = index(after: found)
        }
        return false
    }
}
