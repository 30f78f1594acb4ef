internal import GatewayCore
internal import ODataWire

extension UploadCall {
    /// Answers a batch with repeatable units. Units that are done are answered by the ledger, the rest is sent in one
    /// batch.
    func batch(
        _ batch: BatchUpload, _ body: [UInt8], _ contentType: String
    ) async throws(RequestRefusal) -> GatewayResponse {
        let verdicts = try await verdicts(batch.units)
        var parts: [Int: BatchUpload.PartAnswer] = [:]
        var sent: [(unit: UploadUnit, attempt: Int64)] = []
        var locations: [String: String] = [:]
        for (unit, verdict) in zip(batch.units, verdicts) {
            switch verdict {
            case .wait: throw Self.inDoubt
            case .send(let attempt): sent.append((unit, attempt))
            case .refuse(let refusal): parts[unit.part] = .single(refused(unit, refusal))
            case .replay(let bytes):
                guard let outcome = UnitOutcome(encoded: bytes) else {
                    parts[unit.part] = .single(refused(unit, .doubt))
                    continue
                }
                parts[unit.part] = .unit(marked(outcome, unit.dialect))
                collectLocations(outcome, unit, &locations)
            }
        }
        let omitted = Set(parts.keys)
        if omitted.count == batch.batch.parts.count { return try composed(batch, parts) }
        let remaining: (body: [UInt8], contentType: String)?
        if omitted.isEmpty {
            remaining = (body, contentType)
        } else {
            remaining = batch.remaining(without: omitted, locations: locations)
        }
        guard let remaining else {
            // A request refers to one that is done, in a way that cannot be replaced.
            try await record(sent.map { .init(keys: keys($0.unit), attempt: $0.attempt, end: .notExecuted) }, .notSent)
            for (unit, _) in sent { parts[unit.part] = .single(refused(unit, .doubt)) }
            return try composed(batch, parts)
        }
        return try await forward(batch, remaining, sent, parts, omitted)
    }

    private func forward(
        _ batch: BatchUpload, _ remaining: (body: [UInt8], contentType: String),
        _ sent: [(unit: UploadUnit, attempt: Int64)], _ parts: [Int: BatchUpload.PartAnswer], _ omitted: Set<Int>
    ) async throws(RequestRefusal) -> GatewayResponse {
        func all(_ end: LedgerCompletion.AttemptEnd) -> [LedgerCompletion] {
            sent.map { .init(keys: keys($0.unit), attempt: $0.attempt, end: end) }
        }
        let response: WireResponse
        let transmission = await send("POST", contentType: remaining.contentType, remaining.body)
        switch transmission {
        case .notSent:
            try await record(all(.notExecuted), transmission)
            guard omitted.isEmpty else { throw Self.inDoubt }
            throw RequestRefusal(503, "The service cannot be reached.", headers: ["Retry-After": "5"])
        case .lost:
            try await record(all(.doubt), transmission)
            throw Self.inDoubt
        case .answered(let answered): response = answered
        }
        let isBatch = response.isSuccess && response.status != 202 || response.hasParts
        guard isBatch else {
            let meaning = ResponseMeaning(batchStatus: response)
            try await record(all(meaning == .notExecuted ? .notExecuted : .doubt), transmission)
            // The status concerns the units that were sent, but the client would apply it to all. A challenge is passed
            // on: the client has to meet it.
            guard omitted.isEmpty || [401, 403, 407].contains(response.status) else { throw Self.inDoubt }
            return answered(response)
        }
        guard let answer = batch.read(response, without: omitted) else {
            try await record(all(.doubt), transmission)
            throw Self.inDoubt
        }
        let completions = sent.map { unit, attempt in
            LedgerCompletion(
                keys: keys(unit), attempt: attempt, end: end(of: unit, answer.outcomes[unit.part]))
        }
        let units = sent.map(\.unit)
        guard !omitted.isEmpty else {
            let ended = zip(units, completions).filter(\.1.isDone).map { unit, _ in (unit.part, unit.dialect) }
            return try await record(completions, transmission) {
                first(response, answer, Dictionary(uniqueKeysWithValues: ended), units, batch)
            }
        }
        try await record(completions, transmission)
        if units.contains(where: { isInDoubt(answer.outcomes[$0.part]) }) { throw Self.inDoubt }
        return try composed(batch, parts.merging(partAnswers(answer.outcomes, units, batch)) { $1 })
    }

    /// Returns the service's first response to a batch, with the header of the client's dialect in the responses to
    /// each unit that has ended: each response of a service that recognizes repetitions has it (OASIS Repeatable
    /// Requests 1.0, section 3.2.1), and without it a client has to assume that nothing recognizes them.
    ///
    /// The bytes are those of the service, with the lines of the header and the links of the gateway. Only if that is
    /// not possible, as in JSON, the response is composed anew.
    ///
    /// - Parameter ended: The dialects of the units that have ended, by part.
    private func first(
        _ response: WireResponse, _ answer: BatchAnswer, _ ended: [Int: RepeatabilityIdentifier.Dialect],
        _ units: [UploadUnit], _ batch: BatchUpload
    ) -> GatewayResponse {
        let isWhole = !answer.outcomes.values.contains(where: isInDoubt)
        guard isWhole, !ended.isEmpty else { return answered(response) }
        if let body = answer.body(kind.roots, accepting: ended) { return service.answer(kind, response, body) }
        return answered(marked(response, partAnswers(answer.outcomes, units, batch), batch))
    }

    // MARK: Outcomes

    private func isInDoubt(_ outcome: BatchPartOutcome?) -> Bool {
        if case .inDoubt = UnitResult(outcome) { true } else { false }
    }

    /// The outcome of a part, whether it is a change set or a request by itself.
    private enum UnitResult {
        case members([WireResponse])
        case failed(WireResponse, culprit: String?)
        case notProcessed
        case inDoubt

        init(_ outcome: BatchPartOutcome?) {
            switch outcome {
            case .changeSet(.members(let responses)): self = .members(responses)
            case .changeSet(.failed(let response, let culprit)): self = .failed(response, culprit: culprit)
            case .query(.answered(let response)):
                self = response.isSuccess ? .members([response]) : .failed(response, culprit: nil)
            case .changeSet(.notProcessed), .query(.notProcessed): self = .notProcessed
            case .changeSet(.inDoubt), .query(.inDoubt), nil: self = .inDoubt
            }
        }
    }

    private func end(of unit: UploadUnit, _ outcome: BatchPartOutcome?) -> LedgerCompletion.AttemptEnd {
        switch UnitResult(outcome) {
        case .members(let responses):
            // A member that is executed later has no outcome yet.
            if responses.contains(where: { ResponseMeaning($0) != .outcome }) { return .doubt }
            return .done(UnitOutcome.members(responses).encoded)
        case .failed(let response, let culprit):
            switch ResponseMeaning(response) {
            case .outcome:
                let index = culprit.flatMap { id in unit.contentIDs.firstIndex { $0 == id } }
                return .done(UnitOutcome.failed(response, culprit: index).encoded)
            case .notExecuted: return .notExecuted
            case .unknown: return .doubt
            }
        case .notProcessed: return .notExecuted
        case .inDoubt: return .doubt
        }
    }

    /// Returns the responses for parts that were sent. Parts without an outcome have none.
    private func partAnswers(
        _ outcomes: [Int: BatchPartOutcome], _ units: [UploadUnit], _ batch: BatchUpload
    ) -> [Int: BatchUpload.PartAnswer] {
        let units = Dictionary(uniqueKeysWithValues: units.map { ($0.part, $0) })
        return Dictionary(
            uniqueKeysWithValues: outcomes.compactMap { part, outcome in
                partAnswer(outcome, units[part], batch.contentIDs(of: part)).map { (part, $0) }
            })
    }

    private func partAnswer(
        _ outcome: BatchPartOutcome, _ unit: UploadUnit?, _ contentIDs: [String?]
    ) -> BatchUpload.PartAnswer? {
        switch UnitResult(outcome) {
        case .members(let responses):
            let outcome = UnitOutcome.members(responses)
            guard let unit, responses.allSatisfy({ ResponseMeaning($0) == .outcome }) else { return .unit(outcome) }
            return .unit(marked(outcome, unit.dialect))
        case .failed(let response, let culprit):
            let index = culprit.flatMap { id in contentIDs.firstIndex { $0 == id } }
            let outcome = UnitOutcome.failed(response, culprit: index)
            guard let unit, ResponseMeaning(response) == .outcome else { return .unit(outcome) }
            return .unit(marked(outcome, unit.dialect))
        case .notProcessed, .inDoubt: return nil
        }
    }

    private func marked(_ outcome: UnitOutcome, _ dialect: RepeatabilityIdentifier.Dialect) -> UnitOutcome {
        func marked(_ response: WireResponse) -> WireResponse {
            var response = response
            response.headers[dialect.resultHeader] = "accepted"
            return response
        }
        return switch outcome {
        case .members(let responses): .members(responses.map(marked))
        case .failed(let response, let culprit): .failed(marked(response), culprit: culprit)
        }
    }

    /// Returns the service's first response to a batch, composed anew.
    ///
    /// - Parameter parts: The responses to the parts.
    /// - Returns: The response of the service as it is if a part without a response precedes one with a response.
    private func marked(
        _ response: WireResponse, _ parts: [Int: BatchUpload.PartAnswer], _ batch: BatchUpload
    ) -> WireResponse {
        let isPrefix = (0..<parts.count).allSatisfy { parts[$0] != nil }
        guard isPrefix, !parts.isEmpty, let answer = batch.answer(parts) else { return response }
        var marked = response
        marked.headers["Content-Type"] = answer.headers["Content-Type"]
        marked.body = answer.body
        return marked
    }

    private func refused(_ unit: UploadUnit, _ refusal: LedgerRefusal) -> WireResponse {
        let error = RepeatabilityIdentifier.refusal(unit.dialect, status: refusal.status, refusal.message)
        var headers = error.headers
        headers["Content-Type"] = "application/json"
        return WireResponse(status: error.status, headers: headers, body: error.body)
    }

    private func collectLocations(_ outcome: UnitOutcome, _ unit: UploadUnit, _ locations: inout [String: String]) {
        guard case .members(let responses) = outcome else { return }
        for (id, response) in zip(unit.contentIDs, responses) {
            if let id, let location = response.headers["Location"] { locations[id] = location }
        }
    }

    // MARK: Answers

    private func composed(
        _ batch: BatchUpload, _ parts: [Int: BatchUpload.PartAnswer]
    ) throws(RequestRefusal) -> GatewayResponse {
        guard let answer = batch.answer(parts) else { throw Self.inDoubt }
        return answered(answer)
    }

    private func answered(_ response: WireResponse) -> GatewayResponse {
        let contentType = response.headers["Content-Type"] ?? ""
        let lower = contentType.lowercased()
        let body =
            if lower.hasPrefix("multipart/mixed") {
                BatchLinks.rewrite(response.body, contentType: contentType, kind.roots, .response)
            } else if lower.hasPrefix("application/json") {
                LinkRewriter.rewrite(response.body, kind.roots, .response, scope: kind.scope)
            } else {
                response.body
            }
        return service.answer(kind, response, body)
    }
}

extension WireResponse {
    /// V2 services answer batches with 202.
    fileprivate var hasParts: Bool {
        isSuccess && (headers["Content-Type"] ?? "").lowercased().hasPrefix("multipart/")
    }
}
