internal import GatewayCore
internal import ODataQuery
internal import ODataWire
internal import Transport

extension GatewayService {
    /// Sends a request to the origin and streams the response back. Only the links change.
    func passThrough(
        _ request: IncomingRequest, _ kind: RequestClass, _ body: RequestBody
    ) async throws(RequestRefusal) -> GatewayResponse {
        switch body {
        case .bytes(let bytes): return try await send(request, kind, .bytes(bytes))
        case .arriving(let length):
            let count: Int? = if case .known(let count) = length { count } else { nil }
            return try await transfer(request, kind, RequestPipe(count: count))
        }
    }

    /// Sends a request whose body is forwarded while it arrives.
    private func transfer(
        _ request: IncomingRequest, _ kind: RequestClass, _ pipe: RequestPipe
    ) async throws(RequestRefusal) -> GatewayResponse {
        let limit = configuration.limits.bodyBytes
        let transfer = BodyTransfer(into: pipe, limit: limit)
        Task { await transfer.run(request.body) }
        let result = await withTaskCancellationHandler { () -> Result<GatewayResponse, RequestRefusal> in
            do throws(RequestRefusal) {
                return .success(try await send(request, kind, .pipe(pipe)))
            } catch {
                return .failure(error)
            }
        } onCancel: {
            pipe.close()
        }
        switch result {
        case .success(let response): return response.ended { pipe.close() }
        case .failure(let refusal):
            pipe.close()
            throw transfer.refusal ?? refusal
        }
    }

    private func send(
        _ request: IncomingRequest, _ kind: RequestClass, _ body: OriginClient.OriginBody
    ) async throws(RequestRefusal) -> GatewayResponse {
        guard let origin = origin(kind.endpoint) else { throw RequestRefusal(404, "There is no service at this URL.") }
        var headers = HeaderRules.forwarded(request.headers, trustsForwarded: configuration.trustsForwarded)
        if kind.kind == .metadata { headers["Range"] = nil }
        let head: WireResponse
        let received: ResponseBody
        do throws(TransportError) {
            (head, received) = try await origin.stream(
                request.method, kind.roots.originTarget(kind.rest), headers, body)
        } catch {
            countError(error, kind.endpoint)
            throw refusal(error, isSafe: ["GET", "HEAD", "OPTIONS"].contains(request.method))
        }
        return try await answer(request, kind, head, received)
    }

    /// Returns the response to the client for a response of the origin.
    private func answer(
        _ request: IncomingRequest, _ kind: RequestClass, _ head: WireResponse, _ received: ResponseBody
    ) async throws(RequestRefusal) -> GatewayResponse {
        let contentType = (head.headers["Content-Type"] ?? "").lowercased()
        let isEncoded = head.headers["Content-Encoding"].map { !$0.equalsIgnoringCase("identity") } ?? false
        let hasBody = request.method != "HEAD" && head.status != 204 && head.status != 304
        guard hasBody, !isEncoded, head.status != 206 else {
            let headers = HeaderRules.answered(head.headers, kind.roots, isRewritten: false)
            return GatewayResponse(status: head.status, headers: headers, body: .stream(received, nil))
        }
        if kind.kind == .metadata, head.status == 200, contentType.contains("xml") {
            let document = MetadataAnnotation.declared(in: try await whole(received))
            return answer(kind, head, document)
        }
        if contentType.hasPrefix("multipart/mixed") {
            let bytes = try await whole(received)
            return answer(
                kind, head,
                BatchLinks.rewrite(bytes, contentType: head.headers["Content-Type"] ?? "", kind.roots, .response))
        }
        if contentType.hasPrefix("application/json") {
            if let length = head.headers["Content-Length"].flatMap({ Int($0) }), length <= 256 << 10 {
                let bytes = try await whole(received)
                return answer(kind, head, LinkRewriter.rewrite(bytes, kind.roots, .response, scope: kind.scope))
            }
            let headers = HeaderRules.answered(head.headers, kind.roots, isRewritten: true)
            let rewriter = LinkRewriter(kind.roots, .response, scope: kind.scope)
            return GatewayResponse(status: head.status, headers: headers, body: .stream(received, rewriter))
        }
        let headers = HeaderRules.answered(head.headers, kind.roots, isRewritten: false)
        return GatewayResponse(status: head.status, headers: headers, body: .stream(received, nil))
    }

    func answer(_ kind: RequestClass, _ head: WireResponse, _ body: [UInt8]) -> GatewayResponse {
        let headers = HeaderRules.answered(head.headers, kind.roots, isRewritten: true)
        return GatewayResponse(status: head.status, headers: headers, body: .bytes(body))
    }

    private func whole(_ received: ResponseBody) async throws(RequestRefusal) -> [UInt8] {
        var bytes: [UInt8] = []
        do throws(TransportError) {
            for try await chunk in received {
                bytes += chunk
                if bytes.count > configuration.limits.bodyBytes { break }
            }
        } catch {
            throw RequestRefusal(502, "The response of the service is incomplete.")
        }
        guard bytes.count <= configuration.limits.bodyBytes else {
            throw RequestRefusal(
                502, "The response of the service has more than \(configuration.limits.bodyBytes) bytes.")
        }
        return bytes
    }

    /// Returns the response to the client for a response that was not received. 503 with Retry-After states that the
    /// origin has not executed the request.
    func refusal(_ error: TransportError, isSafe: Bool) -> RequestRefusal {
        if !error.mayHaveBeenSent || isSafe && [.unreachable, .resolve, .disconnected].contains(error.code) {
            return RequestRefusal(
                503, "The service cannot be reached.", headers: ["Retry-After": environment.retryAfter()])
        }
        return error.code == .timeout
            ? RequestRefusal(504, "The service did not respond in time.")
            : RequestRefusal(502, "The response of the service was lost.")
    }
}
