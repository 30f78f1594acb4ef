import EDM
import GatewayCore
import ODataWire

/// Reads the response to a batch, as multipart or JSON. The first byte selects the format.
///
/// Required: each part of the request has one outcome, whatever the response contains; an error is at an offset of the
/// body; a success is only reported with a response for each request.
func fuzzBatchResponses(_ input: [UInt8]) throws(Finding) {
    guard let form = input.first else { return }
    let body = Array(input.dropFirst())
    let type = form % 2 == 0 ? "multipart/mixed; boundary=b" : "application/json"
    let members = ["1", "2", "3"].map {
        BatchPart.Member(contentID: $0, request: WireRequest(method: "POST", url: "$"))
    }
    let request = BatchRequest(parts: [.changeSet(Array(members[..<2])), .changeSet(Array(members[2...]))])
    let response = WireResponse(status: 200, headers: ["Content-Type": type], body: body)
    let outcomes: [BatchPartOutcome]
    do throws(BatchReadError) {
        outcomes = try BatchExchange.outcomes(response, to: request)
    } catch {
        return try require((0...body.count).contains(error.offset), "an error outside of the body: \(error)")
    }
    try require(outcomes.count == 2, "\(outcomes.count) outcomes of two change sets")
    for (outcome, count) in zip(outcomes, [2, 1]) {
        guard case .changeSet(.members(let responses)) = outcome else { continue }
        try require(
            responses.count == count && responses.allSatisfy(\.isSuccess), "no success of \(count): \(responses)")
    }
}

private let gatewayRoots: ServiceRoots = {
    guard let published = ServiceRoot("http://public/odata/"), let origin = ServiceRoot("http://origin/app/v4/") else {
        preconditionFailure("the roots of the target are invalid")
    }
    return ServiceRoots(published: published, origin: origin)
}()

/// Prepares a batch for the origin of a gateway. The first byte selects the format.
///
/// Required: a batch that is forwarded can be read, and each of its requests stays below the root of the origin.
func fuzzBatchRequests(_ input: [UInt8]) throws(Finding) {
    guard let form = input.first else { return }
    let body = Array(input.dropFirst())
    let format: BatchUpload.Format = form % 2 == 0 ? .multipart : .json
    let type = form % 2 == 0 ? "multipart/mixed; boundary=b" : "application/json"
    let result = BatchTargets.forwarded(
        body, ["Content-Type": type], format: format, gatewayRoots, limits: GatewayLimits())
    guard case .success(let forwarded) = result else { return }
    _ = try? BatchUpload(forwarded, contentType: type, format: format, limits: GatewayLimits())
    for url in try urls(of: forwarded, format, type) {
        try require(RequestPath.isContained(url, in: gatewayRoots.origin), "a request leaves the service: \(url)")
    }
}

/// Returns the URLs of a batch, according to a reader of another component.
private func urls(of batch: [UInt8], _ format: BatchUpload.Format, _ type: String) throws(Finding) -> [String] {
    switch format {
    case .multipart:
        guard let read = try? MultipartBatchReader().readRequest(batch, contentType: type) else { return [] }
        return read.parts.flatMap { part in
            switch part {
            case .changeSet(let members): members.map(\.request.url)
            case .query(let request): [request.url]
            }
        }
    case .json:
        guard let requests = (try? JSONValue.parse(batch))?.object?["requests"]?.array else { return [] }
        return requests.compactMap { $0.object?["url"]?.string }
    }
}

let batchResponseSeeds: [[UInt8]] = [
    (
        0,
        "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: application/http\r\nContent-ID: 1\r\n\r\nHTTP/1.1 201 Created\r\nLocation: C(1)\r\n\r\n{\"ID\":1}\r\n--c\r\nContent-Type: application/http\r\nContent-ID: 2\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n\r\n--c--\r\n--b\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\n\r\n{}\r\n--b--\r\n"
    ),
    (
        1,
        #"{"responses":[{"id":"1","atomicityGroup":"g1","status":201,"headers":{"location":"C(1)"},"body":{"ID":1}},{"id":"2","atomicityGroup":"g1","status":204},{"id":"3","status":400,"body":{"error":{"code":"c","message":"m"}}}]}"#
    ),
].map { [UInt8($0.0)] + Array($0.1.utf8) }

let batchRequestSeeds: [[UInt8]] = [
    (
        0,
        "--b\r\nContent-Type: application/http\r\n\r\nGET Customers(1)?$select=ID HTTP/1.1\r\nAccept: application/json\r\n\r\n\r\n--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: application/http\r\nContent-ID: 1\r\nContent-Length: 150\r\n\r\nPOST http://public/odata/Customers HTTP/1.1\r\nRepeatability-Request-ID: r\r\nRepeatability-First-Sent: Fri, 27 Nov 2026 18:00:00 GMT\r\nContent-Type: application/json\r\n\r\n{\"Orders@odata.bind\":[\"http://public/odata/Orders(1)\"]}\r\n--c--\r\n--b--\r\n"
    ),
    (
        1,
        #"{"requests":[{"id":"1","method":"get","url":"Customers(1)"},{"id":"2","atomicityGroup":"g","method":"post","url":"/odata/Customers","headers":{"Repeatability-Request-ID":"r","Repeatability-First-Sent":"Fri, 27 Nov 2026 18:00:00 GMT"},"body":{"a":"http://public/odata/Orders(1)"}},{"id":"3","dependsOn":["2"],"if":"$2/status eq 200","method":"patch","url":"$2","body":{}}]}"#
    ),
].map { [UInt8($0.0)] + Array($0.1.utf8) }
