import EDM
import ODataSandbox
import ODataWire
import OfflineStore
import SyncEngine
import Transport

/// The delivery of a request of a device to the service, possibly with faults.
struct RequestDelivery {
    let request: WireRequest
    /// The number of the device.
    let number: Int

    private static let onTheWay: [FaultKind] = [
        .unreachable, .lostRequest, .lostAnswer, .lostAnswer, .tornAnswer, .shortAnswer,
        .inStreamError, .busy, .refusedPart,
        .refusedPart, .distortedAnswer, .distortedAnswer, .gatewayBefore,
        .gatewayAfter, .redirect, .redirect, .foreignRedirect,
        .unauthorized, .expiredLogin, .refusedLogin, .expiredToken, .slowAnswer, .suspension,
        .editInFlight, .editInFlight, .otherDeviceInFlight,
        .cancelInFlight, .crashInFlight, .crashInFlight,
    ]

    private static let ofModifications: [FaultKind] = [.lateRequest, .lateRequest, .repeatedRequest]

    /// Delivers a request, possibly with faults.
    func deliver(in run: isolated Simulation) async throws(TransportError) -> WireResponse {
        let device = run.devices.first { $0.number == number }
        run.clock.advance(milliseconds: Int64(5 + run.random.below(200)))
        run.counts.requests += 1
        if request.url.hasSuffix("$batch") { run.counts.batches += 1 }
        run.addTrace("d\(number) \(request.method) \(request.url) \(request.body.count)")
        run.trace.add(request.body)
        if let device, !device.isOnline {
            throw failure(.unreachable, mayHaveBeenSent: false, in: run)
        }
        if request.method != "GET", !run.habits.survivesPowerLoss { device?.makesDurable() }
        if let leak = device?.leak(in: request) { run.violated("d\(number) sends \(leak).") }
        guard run.isStormy, let device, run.random.chance(run.severity) else { return await answer(request, in: run) }
        return try await deliverWithFault(device, in: run)
    }

    private func deliverWithFault(_ device: Device, in run: isolated Simulation) async throws(TransportError)
        -> WireResponse
    {
        let troubles = request.method == "GET" ? Self.onTheWay : Self.onTheWay + Self.ofModifications
        let trouble = troubles[run.random.below(troubles.count)]
        guard run.happens(trouble) else { return await answer(request, in: run) }
        run.addTrace("d\(number) meets \(trouble)")
        switch trouble {
        case .unreachable: throw failure(.unreachable, mayHaveBeenSent: false, in: run)
        case .lateRequest:
            run.late.append((request, number))
            throw failure(.timeout, mayHaveBeenSent: true, in: run)
        case .repeatedRequest:
            let first = await answer(request, in: run)
            let second = await answerOrphan(in: run)
            return run.serviceOptions.repeatability == .none ? first : second
        case .lostRequest: throw failure(.disconnected, mayHaveBeenSent: true, in: run)
        case .lostAnswer:
            _ = await answer(request, in: run)
            throw failure(.disconnected, mayHaveBeenSent: !run.options.plants.contains(.lyingTransport), in: run)
        case .tornAnswer:
            _ = await answer(request, in: run)
            throw failure(.truncated, mayHaveBeenSent: true, in: run)
        case .shortAnswer: return await answerCutShort(in: run)
        case .inStreamError: return await answerWithInStreamError(in: run)
        case .busy:
            return refusal([429, 503][run.random.below(2)], ["Retry-After": "\(1 + run.random.below(120))"], in: run)
        case .refusedPart: return await answerRefusingPart(in: run)
        case .distortedAnswer: return await answerDistorted(in: run)
        case .gatewayBefore: return refusal([502, 504][run.random.below(2)], in: run)
        case .gatewayAfter:
            _ = await answer(request, in: run)
            return refusal([502, 504][run.random.below(2)], in: run)
        case .redirect:
            let status = Self.redirects[run.random.below(Self.redirects.count)]
            return await redirected(status, to: ServiceAddress.origin(of: run.root) + request.url, in: run)
        case .foreignRedirect:
            let status = Self.redirects[run.random.below(Self.redirects.count)]
            return await redirected(status, to: "http://login.test/", in: run)
        case .unauthorized: return refusal(401, ["WWW-Authenticate": "Bearer"], in: run)
        case .expiredLogin:
            run.login?.expire(of: number)
            return await answer(request, in: run)
        case .refusedLogin:
            run.login?.expire(of: number)
            run.login?.refuse(1 + run.random.below(3), of: number)
            return await answer(request, in: run)
        case .expiredToken:
            var request = request
            if request.headers["X-CSRF-Token"] != nil { request.headers["X-CSRF-Token"] = "expired" }
            return await answer(request, in: run)
        case .slowAnswer:
            run.clock.advance(milliseconds: Int64(1 + run.random.below(10)) * 60_000)
            return await answer(request, in: run)
        case .suspension: return try await answerAfterSuspension(in: run)
        case .editInFlight, .otherDeviceInFlight:
            let isBefore = run.random.chance(50)
            if isBefore { await meanwhile(trouble, device, in: run) }
            let response = await answer(request, in: run)
            if !isBefore { await meanwhile(trouble, device, in: run) }
            return response
        case .cancelInFlight: return try await answerToCancelled(device, in: run)
        case .crashInFlight:
            if run.random.chance(50) { _ = await answer(request, in: run) }
            device.crash()
            throw failure(.cancelled, mayHaveBeenSent: true, in: run)
        case .partition, .processCrash, .powerLoss, .diskStop, .diskError, .crashAtOpening, .secondProcess, .bitRot,
            .misplacedWrite, .readError, .viewsDamage, .clockJump, .metadataChange, .nodeCrash, .originUnreachable,
            .originRequestLost, .originAnswerLost, .originBusy,
            .originRedirect, .storageRefused, .storageAnswerLost:
            return await answer(request, in: run)
        }
    }

    // MARK: Faults

    /// Returns the beginning of the response, as if it were complete.
    private func answerCutShort(in run: isolated Simulation) async -> WireResponse {
        var response = await answer(request, in: run)
        response.body = Array(
            response.body.prefix(response.body.isEmpty ? 0 : run.random.below(response.body.count)))
        return response
    }

    /// Returns the beginning of the response, followed by an error.
    private func answerWithInStreamError(in run: isolated Simulation) async -> WireResponse {
        var response = await answer(request, in: run)
        response.body = Array(response.body.prefix(run.random.below(response.body.count + 1)))
        response.body += Array(#"{"error":{"code":"500","message":"The service has failed."}}"#.utf8)
        return response
    }

    /// Lets the service reject one part of a batch.
    private func answerRefusingPart(in run: isolated Simulation) async -> WireResponse {
        let status = [400, 409, 429, 500, 503][run.random.below(5)]
        let isForAWhile = status == 429 || status == 503
        let headers: HTTPHeaders = isForAWhile ? ["Retry-After": "\(1 + run.random.below(60))"] : .empty
        let part = Fault.BatchScope.number(1 + run.random.below(5))
        run.addTrace("part \(part) gets \(status)")
        return await answer(request, Fault(.refuse(status: status, headers: headers), part: part), in: run)
    }

    /// Returns the response in a form that no service would send.
    private func answerDistorted(in run: isolated Simulation) async -> WireResponse {
        let distortions = run.version.isLegacy ? Self.distortions.filter { $0 != .reversed } : Self.distortions
        let distortion = distortions[run.random.below(distortions.count)]
        run.addTrace("\(distortion)")
        return await answer(request, Fault(.distort(distortion), part: run.random.chance(50) ? .any : nil), in: run)
    }

    /// Suspends the app for hours while the request is in flight.
    private func answerAfterSuspension(in run: isolated Simulation) async throws(TransportError) -> WireResponse {
        let isReceived = run.random.chance(50)
        let response = isReceived ? await answer(request, in: run) : nil
        run.clock.advance(milliseconds: Int64(1 + run.random.below(72)) * 3_600_000)
        if let response, run.random.chance(50) { return response }
        throw failure(.disconnected, mayHaveBeenSent: true, in: run)
    }

    /// Cancels the work of the device while the request is in flight.
    private func answerToCancelled(
        _ device: Device, in run: isolated Simulation
    ) async throws(TransportError) -> WireResponse {
        await device.engine.cancelUpload()
        await device.engine.cancelDownload()
        // A transport can detect a cancellation at any time.
        guard run.random.chance(50) else { return await answer(request, in: run) }
        if run.random.chance(50) { _ = await answer(request, in: run) }
        throw failure(.cancelled, mayHaveBeenSent: true, in: run)
    }

    // MARK: The service

    /// Returns the response of the service, or of the gateway before it.
    ///
    /// - Parameter fault: A fault of the service that permits a response.
    private func answer(
        _ request: WireRequest, _ fault: Fault? = nil, in run: isolated Simulation
    ) async -> WireResponse {
        let response: WireResponse
        if let gateway = run.gateway {
            gateway.fault = fault
            response = await gateway.answer(request, from: number, in: run)
            gateway.fault = nil
        } else {
            response = serve(request, fault, in: run)
        }
        run.counts.add(request, response, replaces: !run.serviceOptions.supportsPatch)
        run.addTrace("→ \(response.status) \(response.body.count)")
        run.trace.add(response.body)
        return response
    }

    /// Lets the service handle a request.
    func serve(_ request: WireRequest, _ fault: Fault?, in run: isolated Simulation) -> WireResponse {
        let authorization = request.headers["Authorization"]
        let isOfGateway = run.gateway != nil && authorization == SimulatedGateway.credentials
        if let login = run.login, !isOfGateway, !login.believes(authorization, of: number, now: run.clock.now) {
            return refusal(401, ["WWW-Authenticate": "Bearer"], in: run)
        }
        var request = request
        if run.options.plants.contains(.uncheckedETags) { request = request.withoutETags }
        // A copy of the service would let it copy its content with the next change.
        let before = run.options.plants.contains(.forgetfulService) ? run.service : nil
        var response = run.service.handle(request, from: isOfGateway ? -1 : number, fault)
        if run.options.plants.contains(.emptyDeltas) { response = response.withoutChanges(request) }
        if run.isStormy, let before, request.method != "GET", run.random.chance(10) {
            run.service.forget(since: before)
        }
        if run.isStormy, run.options.plants.contains(.repeatedRequests), request.method != "GET" {
            _ = run.service.handle(request, from: number)
        }
        run.recorder?.observe(run.service.ledger)
        return response
    }

    func failure(_ code: TransportError.Code, mayHaveBeenSent: Bool, in run: isolated Simulation)
        -> TransportError
    {
        run.addTrace("→ d\(number) \(code), \(mayHaveBeenSent ? "may have been sent" : "not sent")")
        return TransportError(code, "Simulated.", mayHaveBeenSent: mayHaveBeenSent)
    }

    /// All distortions except the reordering of parts, which no client can detect. The responses of a V2 change set
    /// have no Content-ID, so their order cannot be detected either.
    private static let distortions = Fault.PayloadCorruption.allCases.filter { $0 != .reversedParts }

    static let redirects = [301, 302, 303, 307, 308]

    /// Returns a redirect, whose request may have been executed before only if the status is 303 (RFC 9110, section
    /// 15.4).
    private func redirected(_ status: Int, to target: String, in run: isolated Simulation) async -> WireResponse {
        if status == 303, request.method != "GET", run.random.chance(50) { _ = await answer(request, in: run) }
        return refusal(status, ["Location": target], in: run)
    }

    func refusal(_ status: Int, _ headers: HTTPHeaders = .empty, in run: isolated Simulation) -> WireResponse {
        run.addTrace("→ \(status) on the way")
        return WireResponse(status: status, headers: headers, body: Array("<html>\(status)</html>".utf8))
    }

    /// Performs the events that happen while a request of the device is in flight.
    func meanwhile(_ trouble: FaultKind, _ device: Device, in run: isolated Simulation) async {
        guard !run.isInFlight else { return }
        run.isInFlight = true
        run.interruptions += 1
        defer { run.isInFlight = false }
        if trouble == .editInFlight {
            for _ in 0...run.random.below(3) {
                if run.random.chance(80) {
                    await DeviceUser(device: device).edit(in: run)
                } else {
                    await DeviceUser(device: device).arrange(in: run)
                }
            }
            return
        }
        let others = run.devices.filter { $0.number != device.number && !$0.hasCrashed }
        guard !others.isEmpty else { return }
        let other = others[run.random.below(others.count)]
        await DeviceUser(device: other).edit(in: run)
        await DeviceSync(device: other).upload(in: run)
    }

    /// Delivers the oldest delayed request, if there is any.
    static func deliverLate(in run: isolated Simulation) async {
        guard !run.late.isEmpty else { return }
        let (request, device) = run.late.removeFirst()
        run.addTrace("late, of d\(device): \(request.method) \(request.url)")
        _ = await RequestDelivery(request: request, number: device).answerOrphan(in: run)
    }

    /// Handles a request whose response no device awaits. If the service supports repeatable requests, it cannot have
    /// an additional effect.
    private func answerOrphan(in run: isolated Simulation) async -> WireResponse {
        let before = run.service.ledger
        let response = await answer(request, in: run)
        if run.serviceOptions.repeatability == .none { run.orphaned.add(from: before, to: run.service.ledger) }
        return response
    }
}

extension WireResponse {
    /// The response to a delta link of V4 without its changes.
    fileprivate func withoutChanges(_ request: WireRequest) -> WireResponse {
        guard isSuccess, request.url.contains("$deltatoken=") else { return self }
        var response = self
        let link = FieldService.origin + request.url
        response.body = Array(#"{"@odata.context":"$metadata#X/$delta","value":[],"@odata.deltaLink":"\#(link)"}"#.utf8)
        return response
    }
}

extension WireRequest {
    /// The request with each `If-Match` replaced by a header of the same length, also inside a batch.
    fileprivate var withoutETags: WireRequest {
        var request = self
        request.headers["If-Match"] = nil
        let text = String(decoding: body, as: UTF8.self)
        for name in ["If-Match", "if-match"] where text.contains(name) {
            request.body = Array(
                text.split(separator: name, omittingEmptySubsequences: false).joined(separator: "No-Match").utf8)
        }
        return request
    }
}
