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
        func all(_ end: LedgerCompletion.End) -> [LedgerCompletion] {
            sent.map { .init(keys: keys($0.unit), attempt: $0.attempt, end: end) }
        }
        let response: WireResponse
        let transmission = await send("POST", contentType: remaining.contentType, remaining.body)
        switch transmission {
        case .notSent:
            try await record(all(.notExecuted), transmission)
            throw RequestRefusal(503, "The service cannot be reached.", headers: ["Retry-After": "5"])
        case .lost:
            try await record(all(.doubt), transmission)
            throw Self.inDoubt
        case .answered(let answered): response = answered
        }
        let isBatch = response.isSuccess && response.status != 202 || response.hasParts
        guard isBatch else {
            let meaning = AnswerMeaning(batchStatus: response)
            try await record(all(meaning == .notExecuted ? .notExecuted : .doubt), transmission)
            return answered(response)
        }
        guard let outcomes = batch.outcomes(response, without: omitted) else {
            try await record(all(.doubt), transmission)
            throw Self.inDoubt
        }
        let completions = sent.map { unit, attempt in
            LedgerCompletion(
                keys: keys(unit), attempt: attempt, end: end(of: unit, outcomes[unit.part]))
        }
        func isInDoubt(_ part: Int) -> Bool { if case .inDoubt = UnitResult(outcomes[part]) { true } else { false } }
        let own = partAnswers(outcomes, sent.map(\.unit), batch)
        guard !omitted.isEmpty else {
            let isWhole = !outcomes.keys.contains(where: isInDoubt)
            return try await record(completions, transmission) {
                answered(isWhole ? marked(response, own, batch) : response)
            }
        }
        try await record(completions, transmission)
        if sent.contains(where: { isInDoubt($0.unit.part) }) { throw Self.inDoubt }
        return try composed(batch, parts.merging(own) { $1 })
    }

    // MARK: Outcomes

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

    private func end(of unit: UploadUnit, _ outcome: BatchPartOutcome?) -> LedgerCompletion.End {
        switch UnitResult(outcome) {
        case .members(let responses):
            // A member that is executed later has no outcome yet.
            if responses.contains(where: { AnswerMeaning($0) != .outcome }) { return .doubt }
            return .done(UnitOutcome.members(responses).encoded)
        case .failed(let response, let culprit):
            switch AnswerMeaning(response) {
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

    /// Returns the answers for parts that were sent. Parts without an outcome have none.
    private func partAnswers(
        _ outcomes: [Int: BatchPartOutcome], _ units: [UploadUnit], _ batch: BatchUpload
    ) -> [Int: BatchUpload.PartAnswer] {
        let units = Dictionary(uniqueKeysWithValues: units.map { ($0.part, $0) })
        return Dictionary(
            uniqueKeysWithValues: outcomes.compactMap { part, outcome in
                partAnswer(outcome, units[part], batch).map { (part, $0) }
            })
    }

    private func partAnswer(
        _ outcome: BatchPartOutcome, _ unit: UploadUnit?, _ batch: BatchUpload
    ) -> BatchUpload.PartAnswer? {
        switch UnitResult(outcome) {
        case .members(let responses):
            let outcome = UnitOutcome.members(responses)
            guard let unit, responses.allSatisfy({ AnswerMeaning($0) == .outcome }) else { return .unit(outcome) }
            return .unit(marked(outcome, unit.dialect))
        case .failed(let response, let culprit):
            let index = culprit.flatMap { id in unit?.contentIDs.firstIndex { $0 == id } }
            let outcome = UnitOutcome.failed(response, culprit: index)
            guard let unit, AnswerMeaning(response) == .outcome else { return .unit(outcome) }
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

    /// Returns the service's first answer to a batch, with the header of the client's dialect in the response to each unit
    /// that has ended: each response of a service that recognizes repetitions has it (OASIS Repeatable Requests 1.0, section
    /// 3.2.1), and without it a client has to assume that nothing recognizes them.
    ///
    /// - Parameter parts: The answers to the parts.
    /// - Returns: The answer of the service as it is if a part without an answer precedes one with an answer.
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
