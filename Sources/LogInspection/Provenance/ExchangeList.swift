import Operations

/// Collects the batches that sent each operation, and their responses, record by record.
struct ExchangeList {
    private(set) var exchanges: [SequenceNumber: [Exchange]] = [:]

    mutating func add(_ record: Record, _ sequence: SequenceNumber) {
        switch record.body {
        case .batchPrepared(let prepared):
            for (place, requests) in prepared.changeSets.enumerated() {
                let sent = place < prepared.sent.count ? prepared.sent[place] : []
                for request in requests {
                    edit(request.operation, prepared.batch) { exchange in
                        exchange.prepared = sequence
                        guard exchange.method == nil,
                            let sent = sent.first(where: { $0.contentID == request.contentID })
                        else { return }
                        (exchange.method, exchange.url) = (sent.method, sent.url)
                        exchange.body = sent.body.isEmpty ? nil : sent.body
                    }
                }
            }
        case .batchAnswered(let answered):
            for outcome in answered.outcomes {
                edit(outcome.operation, answered.batch) { exchange in
                    exchange.answered = sequence
                    exchange.answeredAt = record.time
                    exchange.apply(outcome.result)
                }
            }
        default: break
        }
    }

    private mutating func edit(_ operation: SequenceNumber, _ batch: BatchID, _ change: (inout Exchange) -> Void) {
        var list = exchanges[operation] ?? []
        if list.last?.batch != batch { list.append(Exchange(batch: batch, operation: operation)) }
        change(&list[list.count - 1])
        exchanges[operation] = list
    }
}

extension Exchange {
    fileprivate mutating func apply(_ result: BatchAnswered.Result) {
        outcome = result.name
        switch result {
        case .confirmed, .notProcessed: break
        case .rejected(let refusal), .deferred(let refusal, _):
            status = refusal.status
            code = refusal.code
            message = refusal.message
            if !refusal.method.isEmpty { (method, url) = (refusal.method, refusal.url) }
            if let text = refusal.requestBody { body = body ?? Array(text.utf8) }
        case .inDoubt(let reason): message = reason
        }
    }
}
