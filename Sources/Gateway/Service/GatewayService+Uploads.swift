internal import GatewayCore
internal import Logging
internal import ODataWire
internal import Transport

extension GatewayService {
    /// Answers a single repeatable modification.
    func upload(
        _ request: IncomingRequest, _ kind: RequestClass, _ received: [UInt8]
    ) async throws(RequestRefusal) -> GatewayResponse {
        let body =
            kind.hasJSONBody
            ? LinkRewriter.rewrite(received, kind.roots, .request, scope: kind.scope) : received
        let wire = WireRequest(method: request.method, url: kind.rest, headers: request.headers, body: body)
        guard let unit = try UploadUnit(part: 0, requests: [wire], contentIDs: [nil], isChangeSet: false) else {
            return try await modifying(request, kind) { () throws(RequestRefusal) in
                try await passThrough(request, kind, .bytes(body))
            }
        }
        let call = UploadCall(self, kind, request.headers)
        // A client that goes away does not stop the upload: its outcome answers the repetition.
        return try await Task(executorPreference: environment.executor) {
            () -> Result<GatewayResponse, RequestRefusal> in
            do throws(RequestRefusal) {
                return .success(try await call.single(wire, unit))
            } catch {
                return .failure(error)
            }
        }.value.get()
    }

    /// Answers a batch, with repeatable units or without.
    func batch(
        _ request: IncomingRequest, _ kind: RequestClass, _ received: [UInt8]
    ) async throws(RequestRefusal) -> GatewayResponse {
        let contentType = request.headers["Content-Type"] ?? ""
        let format: BatchUpload.Format = kind.kind == .jsonBatch ? .json : .multipart
        let forwarded = BatchTargets.forwarded(
            received, request.headers, format: format, kind.roots, limits: configuration.limits)
        guard try RepeatabilityIdentifier(request.headers) == nil else {
            throw RepeatabilityIdentifier.refusal(
                .oasis, status: 501, "A batch as a whole is not repeatable; its change sets are.")
        }
        let batch = try BatchUpload(
            (try? forwarded.get()) ?? received, contentType: contentType, format: format, limits: configuration.limits)
        let body = try forwarded.get()
        guard let batch else {
            return try await modifying(request, kind) { () throws(RequestRefusal) in
                try await passThrough(request, kind, .bytes(body))
            }
        }
        let call = UploadCall(self, kind, request.headers)
        return try await Task(executorPreference: environment.executor) {
            () -> Result<GatewayResponse, RequestRefusal> in
            do throws(RequestRefusal) {
                return .success(try await call.batch(batch, body, contentType))
            } catch {
                return .failure(error)
            }
        }.value.get()
    }
}

/// One request with repeatable units.
struct UploadCall: Sendable {
    let service: GatewayService
    let kind: RequestClass
    let headers: HTTPHeaders
    let principal: [UInt8]
    let rules: LedgerRules
    private let marks: WriteMarks

    init(_ service: GatewayService, _ kind: RequestClass, _ headers: HTTPHeaders) {
        self.service = service
        self.kind = kind
        self.headers = headers
        principal = service.principal(headers, endpoint: kind.endpoint.name)
        rules = service.rules(kind.endpoint)
        marks = service.writeMarks(headers, kind.endpoint)
    }

    static let inDoubt = RequestRefusal(
        504, "The response of the service was lost. Repeat the request with the same identifiers.")

    /// Not 503: nothing was forwarded, but only the ledger knows whether an earlier attempt was executed, and a client
    /// may send the changes under other identifiers after 503.
    private static let unknown = RequestRefusal(
        504, "The ledger cannot be used. Repeat the request with the same identifiers.")

    func keys(_ unit: UploadUnit) -> [LedgerKey] { unit.keys(endpoint: kind.endpoint.name) }

    func claim(_ unit: UploadUnit) -> LedgerClaim {
        LedgerClaim(keys: keys(unit), principal: principal, fingerprint: service.fingerprint(unit))
    }

    // MARK: The ledger

    /// The longest time between the claim of an attempt and its transmission, in milliseconds.
    private static let markPatience: Int64 = 2_000

    /// Asks the ledger, and waits while an earlier attempt may still be executed. When this returns, the rows of all
    /// units that are to be sent are durable, and so is the mark that the user may change data.
    func verdicts(_ units: [UploadUnit]) async throws(RequestRefusal) -> [LedgerVerdict] {
        var (mark, claimed) = await service.environment.both(marks.before) { await ledgerVerdicts(units) }
        let (verdicts, hasWaited, time): (verdicts: [LedgerVerdict], hasWaited: Bool, time: Int64)
        switch claimed {
        case .success(let claim): (verdicts, hasWaited, time) = claim
        case .failure(let refusal):
            // Nothing was sent, but an earlier attempt may have been.
            _ = await marks.after(status: nil, attempts: 1)
            throw refusal
        }
        // The user may have changed data with an earlier attempt, whose process may have ended before its mark.
        let isAnsweredHere = verdicts.contains { if case .send = $0 { false } else { true } }
        if isAnsweredHere, await !marks.after(status: nil) { mark = .failure(Self.inDoubt) }
        // A reading that began meanwhile must not count as one with this change.
        if hasWaited, case .success = mark { mark = await marks.before() }
        // The leases of the attempts have begun with the claim, and must cover the response of the service.
        let sends = verdicts.contains { if case .send = $0 { true } else { false } }
        if sends, case .success = mark, service.environment.uptime() - time > Self.markPatience {
            mark = .failure(RequestRefusal(503, "The storage is slow.", headers: ["Retry-After": "5"]))
        }
        if case .failure(let refusal) = mark {
            try await record(
                zip(units, verdicts).compactMap { unit, verdict in
                    guard case .send(let attempt) = verdict else { return nil }
                    return LedgerCompletion(keys: keys(unit), attempt: attempt, end: .notExecuted)
                }, .notSent)
            // After 503 the client would also send those units anew that the ledger has answered.
            throw isAnsweredHere ? Self.inDoubt : refusal
        }
        return verdicts
    }

    private func ledgerVerdicts(
        _ units: [UploadUnit]
    ) async -> Result<(verdicts: [LedgerVerdict], hasWaited: Bool, time: Int64), RequestRefusal> {
        let claims = units.map(claim)
        var waited: Int64 = 0
        while true {
            let verdicts: [LedgerVerdict]
            let time = service.environment.uptime()
            do throws(LedgerStorageError) {
                verdicts = try await service.storage.claim(claims, rules)
            } catch {
                service.logger.error("\(error)")
                return .failure(Self.unknown)
            }
            let waits = verdicts.contains { if case .wait = $0 { true } else { false } }
            if !waits || waited == 0 { service.count(verdicts) }
            if !waits { return .success((verdicts, waited > 0, time)) }
            guard waited < service.environment.patience else { return .failure(Self.inDoubt) }
            await service.environment.sleep(250)
            waited += 250
        }
    }

    /// Records the ends of attempts, and that the user may have changed data. Throws if one of them is not durable, or
    /// another attempt has taken over: the repetition of the request then finds the ends, and records the change again.
    func record(
        _ completions: [LedgerCompletion], _ transmission: Transmission
    ) async throws(RequestRefusal) {
        let (recorded, isMarked) = await service.environment.both {
            await end(completions)
        } _: {
            await mark(transmission)
        }
        try recorded.get()
        if !isMarked { throw Self.inDoubt }
    }

    private func mark(_ transmission: Transmission) async -> Bool {
        switch transmission {
        case .notSent: true
        case .lost: await marks.after(status: nil)
        case .answered(let response): await marks.after(status: response.status)
        }
    }

    private func end(_ completions: [LedgerCompletion]) async -> Result<Void, RequestRefusal> {
        if completions.isEmpty { return .success(()) }
        do throws(LedgerStorageError) {
            let accepted = try await service.storage.complete(completions, rules)
            guard accepted.allSatisfy(\.self) else {
                throw LedgerStorageError("Another attempt took over the request.")
            }
            service.count(completions)
            return .success(())
        } catch {
            service.logger.error("The outcome was not recorded: \(error)")
            return .failure(Self.inDoubt)
        }
    }

    /// Records the ends of attempts, and makes the response at the same time. It is returned only if the ends are
    /// durable.
    func record(
        _ completions: [LedgerCompletion], _ transmission: Transmission,
        _ answer: @escaping @Sendable () -> GatewayResponse
    ) async throws(RequestRefusal) -> GatewayResponse {
        async let made = answer()
        do throws(RequestRefusal) { try await record(completions, transmission) } catch {
            _ = await made
            throw error
        }
        return await made
    }

    /// The end of a transmission to the origin.
    enum Transmission: Sendable {
        case answered(WireResponse)
        /// The origin has not received the request.
        case notSent
        /// The origin may have executed the request.
        case lost
    }

    /// Sends a request whose units are in the ledger.
    func send(_ method: String, contentType: String?, _ body: [UInt8]) async -> Transmission {
        guard let origin = service.origin(kind.endpoint) else { return .notSent }
        var forwarded = HeaderRules.forwarded(headers, trustsForwarded: service.configuration.trustsForwarded)
        if let contentType { forwarded["Content-Type"] = contentType }
        Self.requireAnswer(&forwarded)
        do throws(TransportError) {
            return .answered(
                try await origin.upload(method, kind.roots.originTarget(kind.rest), forwarded, body))
        } catch {
            service.logger.warning("\(error.message)")
            service.countError(error, kind.endpoint)
            return error.mayHaveBeenSent ? .lost : .notSent
        }
    }

    /// Removes the preference for a response at a later time, which would not contain the outcome.
    private static func requireAnswer(_ headers: inout HTTPHeaders) {
        let preferences = headers.values("Prefer").flatMap { $0.split(separator: ",") }
            .map { $0.filter { $0 != "\t" } }.map { String($0.drop { $0 == " " }) }
        let kept = preferences.filter { !$0.lowercased().hasPrefix("respond-async") }
        guard kept.count < preferences.count else { return }
        headers["Prefer"] = kept.isEmpty ? nil : kept.joined(separator: ", ")
    }

    // MARK: A single request

    func single(_ request: WireRequest, _ unit: UploadUnit) async throws(RequestRefusal) -> GatewayResponse {
        switch try await verdicts([unit])[0] {
        case .wait: throw Self.inDoubt
        case .refuse(let refusal):
            throw RepeatabilityIdentifier.refusal(unit.dialect, status: refusal.status, refusal.message)
        case .replay(let bytes):
            guard case .members(let responses) = UnitOutcome(encoded: bytes), let response = responses.first else {
                throw Self.inDoubt
            }
            return answer(response, accepted: unit.dialect)
        case .send(let attempt):
            let keys = keys(unit)
            func end(_ end: LedgerCompletion.AttemptEnd) -> [LedgerCompletion] {
                [.init(keys: keys, attempt: attempt, end: end)]
            }
            let transmission = await send(request.method, contentType: nil, request.body)
            switch transmission {
            case .notSent:
                try await record(end(.notExecuted), transmission)
                throw RequestRefusal(503, "The service cannot be reached.", headers: ["Retry-After": "5"])
            case .lost:
                try await record(end(.doubt), transmission)
                throw Self.inDoubt
            case .answered(let response):
                switch ResponseMeaning(response) {
                case .outcome:
                    return try await record(end(.done(UnitOutcome.members([response]).encoded)), transmission) {
                        answer(response, accepted: unit.dialect)
                    }
                case .notExecuted: try await record(end(.notExecuted), transmission)
                case .unknown: try await record(end(.doubt), transmission)
                }
                return answer(response, accepted: nil)
            }
        }
    }

    private func answer(_ response: WireResponse, accepted dialect: RepeatabilityIdentifier.Dialect?) -> GatewayResponse
    {
        var response = response
        if let dialect { response.headers[dialect.resultHeader] = "accepted" }
        let isJSON = (response.headers["Content-Type"] ?? "").lowercased().hasPrefix("application/json")
        let body =
            isJSON
            ? LinkRewriter.rewrite(response.body, kind.roots, .response, scope: kind.scope) : response.body
        return service.answer(kind, response, body)
    }
}
