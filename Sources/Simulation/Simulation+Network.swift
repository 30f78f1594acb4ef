import ODataSandbox
import ODataWire
import SyncEngine
import Transport

extension Simulation {
    /// Delivers a request, possibly with faults.
    func deliver(_ request: WireRequest, from number: Int) async throws(TransportError) -> WireResponse {
        let device = devices.first { $0.number == number }
        clock.advance(milliseconds: Int64(5 + random.below(200)))
        counts.requests += 1
        if request.url.hasSuffix("$batch") { counts.batches += 1 }
        addTrace("d\(number) \(request.method) \(request.url) \(request.body.count)")
        trace.add(request.body)
        if let device, !device.isOnline {
            throw failure(.unreachable, number, mayHaveBeenSent: false)
        }
        if request.method != "GET" { device?.makesDurable() }
        if let leak = device?.leak(in: request) { violated("d\(number) sends \(leak).") }
        guard isStormy, let device, random.chance(severity) else { return answer(request, number) }
        return try await deliverWithFault(request, device)
    }

    private func answer(_ request: WireRequest, _ number: Int, _ fault: Fault? = nil) -> WireResponse {
        if let login, !login.believes(request.headers["Authorization"], of: number, now: clock.now) {
            return refusal(401, ["WWW-Authenticate": "Bearer"])
        }
        var request = request
        if options.plants.contains(.uncheckedETags) { request = request.withoutETags }
        let before = service
        var response = service.handle(request, from: number, fault)
        if options.plants.contains(.emptyDeltas) { response = response.withoutChanges(request) }
        if isStormy, options.plants.contains(.forgetfulService), request.method != "GET", random.chance(10) {
            service.forget(since: before)
        }
        if isStormy, options.plants.contains(.repeatedRequests), request.method != "GET" {
            _ = service.handle(request, from: number)
        }
        recorder?.observe(service.ledger)
        counts.add(request, response, replaces: !serviceOptions.supportsPatch)
        addTrace("→ \(response.status) \(response.body.count)")
        trace.add(response.body)
        return response
    }

    private func failure(_ code: TransportError.Code, _ number: Int, mayHaveBeenSent: Bool) -> TransportError {
        addTrace("→ d\(number) \(code), \(mayHaveBeenSent ? "may have been sent" : "not sent")")
        return TransportError(code, "Simulated.", mayHaveBeenSent: mayHaveBeenSent)
    }

    private static let onTheWay: [FaultKind] = [
        .unreachable, .lostRequest, .lostAnswer, .lostAnswer, .tornAnswer, .shortAnswer,
        .busy, .refusedPart,
        .refusedPart, .distortedAnswer, .distortedAnswer, .gatewayBefore,
        .gatewayAfter, .unauthorized, .expiredLogin, .refusedLogin, .expiredToken, .slowAnswer, .editInFlight,
        .editInFlight, .otherDeviceInFlight,
        .cancelInFlight, .crashInFlight, .crashInFlight,
    ]

    private static let ofModifications: [FaultKind] = [.lateRequest, .lateRequest, .repeatedRequest]

    private func deliverWithFault(
        _ request: WireRequest, _ device: Device
    ) async throws(TransportError) -> WireResponse {
        let number = device.number
        let troubles = request.method == "GET" ? Self.onTheWay : Self.onTheWay + Self.ofModifications
        let trouble = troubles[random.below(troubles.count)]
        guard happens(trouble) else { return answer(request, number) }
        addTrace("d\(number) meets \(trouble)")
        switch trouble {
        case .unreachable: throw failure(.unreachable, number, mayHaveBeenSent: false)
        case .lateRequest:
            late.append((request, number))
            throw failure(.timeout, number, mayHaveBeenSent: true)
        case .repeatedRequest:
            let first = answer(request, number)
            let second = answerOrphan(request, number)
            return serviceOptions.repeatability == .none ? first : second
        case .lostRequest: throw failure(.disconnected, number, mayHaveBeenSent: true)
        case .lostAnswer:
            _ = answer(request, number)
            throw failure(.disconnected, number, mayHaveBeenSent: !options.plants.contains(.lyingTransport))
        case .tornAnswer:
            _ = answer(request, number)
            throw failure(.truncated, number, mayHaveBeenSent: true)
        case .shortAnswer:
            var response = answer(request, number)
            response.body = Array(response.body.prefix(response.body.isEmpty ? 0 : random.below(response.body.count)))
            return response
        case .busy:
            return refusal([429, 503][random.below(2)], ["Retry-After": "\(1 + random.below(120))"])
        case .refusedPart:
            let status = [400, 409, 429, 500, 503][random.below(5)]
            let isForAWhile = status == 429 || status == 503
            let headers: HTTPHeaders = isForAWhile ? ["Retry-After": "\(1 + random.below(60))"] : .empty
            let part = Fault.BatchScope.number(1 + random.below(5))
            addTrace("part \(part) gets \(status)")
            return answer(request, number, Fault(.refuse(status: status, headers: headers), part: part))
        case .distortedAnswer:
            let distortions = version.isLegacy ? Self.distortions.filter { $0 != .reversed } : Self.distortions
            let distortion = distortions[random.below(distortions.count)]
            addTrace("\(distortion)")
            return answer(request, number, Fault(.distort(distortion), part: random.chance(50) ? .any : nil))
        case .gatewayBefore: return refusal([502, 504][random.below(2)])
        case .gatewayAfter:
            _ = answer(request, number)
            return refusal([502, 504][random.below(2)])
        case .unauthorized: return refusal(401, ["WWW-Authenticate": "Bearer"])
        case .expiredLogin:
            login?.expire(of: number)
            return answer(request, number)
        case .refusedLogin:
            login?.expire(of: number)
            login?.refuse(1 + random.below(3), of: number)
            return answer(request, number)
        case .expiredToken:
            var request = request
            if request.headers["X-CSRF-Token"] != nil { request.headers["X-CSRF-Token"] = "expired" }
            return answer(request, number)
        case .slowAnswer:
            clock.advance(milliseconds: Int64(1 + random.below(10)) * 60_000)
            return answer(request, number)
        case .editInFlight, .otherDeviceInFlight:
            let isBefore = random.chance(50)
            if isBefore { await meanwhile(trouble, device) }
            let response = answer(request, number)
            if !isBefore { await meanwhile(trouble, device) }
            return response
        case .cancelInFlight:
            await device.engine.cancelUpload()
            await device.engine.cancelDownload()
            // A transport can detect a cancellation at any time.
            guard random.chance(50) else { return answer(request, number) }
            if random.chance(50) { _ = answer(request, number) }
            throw failure(.cancelled, number, mayHaveBeenSent: true)
        case .crashInFlight:
            if random.chance(50) { _ = answer(request, number) }
            device.crash()
            throw failure(.cancelled, number, mayHaveBeenSent: true)
        case .partition, .processCrash, .powerLoss, .diskStop, .crashAtOpening, .bitRot: return answer(request, number)
        }
    }

    /// All distortions except the reordering of parts, which no client can detect. The responses of a V2 change set have
    /// no Content-ID, so their order cannot be detected either.
    private static let distortions = Fault.PayloadCorruption.allCases.filter { $0 != .reversedParts }

    private func refusal(_ status: Int, _ headers: HTTPHeaders = .empty) -> WireResponse {
        addTrace("→ \(status) on the way")
        return WireResponse(status: status, headers: headers, body: Array("<html>\(status)</html>".utf8))
    }

    /// Performs the events that happen while a request of the device is in flight.
    private func meanwhile(_ trouble: FaultKind, _ device: Device) async {
        guard !isInFlight else { return }
        isInFlight = true
        defer { isInFlight = false }
        if trouble == .editInFlight {
            for _ in 0...random.below(3) { if random.chance(80) { await edit(device) } else { await arrange(device) } }
            return
        }
        let others = devices.filter { $0.number != device.number && !$0.hasCrashed }
        guard !others.isEmpty else { return }
        let other = others[random.below(others.count)]
        await edit(other)
        await upload(other)
    }

    // MARK: Login

    /// Returns the authentication hook of the device's app.
    nonisolated func hook(_ number: Int) -> AuthenticationHook {
        { _ in await self.logIn(number) }
    }

    private func logIn(_ number: Int) -> Credentials? {
        let token = login?.token(for: number, now: clock.now)
        addTrace("d\(number) \(token.map { "logs in: \($0)" } ?? "does not log in")")
        return token.map { .bearer($0) }
    }

    // MARK: Late delivery

    /// Delivers the oldest delayed request, if there is any.
    func deliverLate() {
        guard !late.isEmpty else { return }
        let (request, device) = late.removeFirst()
        addTrace("late, of d\(device): \(request.method) \(request.url)")
        _ = answerOrphan(request, device)
    }

    /// Handles a request whose response no device awaits. If the service supports repeatable requests, it cannot have
    /// an additional effect.
    private func answerOrphan(_ request: WireRequest, _ number: Int) -> WireResponse {
        let before = service.ledger
        let response = answer(request, number)
        if serviceOptions.repeatability == .none { orphaned.add(from: before, to: service.ledger) }
        return response
    }

    func changeNetwork(of device: Device) {
        if device.isOnline, !happens(.partition) { return }
        device.isOnline.toggle()
        addTrace("d\(device.number) is \(device.isOnline ? "online" : "offline")")
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
