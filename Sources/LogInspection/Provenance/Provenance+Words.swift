import EDM
import Operations

extension Provenance {
    /// Returns the cause as a short text for a table, without a full stop or line breaks. For an operation it includes
    /// the exchange with the service.
    public func words(of cause: Cause) -> String {
        switch cause {
        case .edit(let operation): "local edit" + outcomeWords(operation)
        case .download(let query): "download of \(Self.oneLine(query))"
        case .leftQuery(let query): "\(Self.oneLine(query)) no longer covers it"
        case .read: "read from the service"
        case .missing: "it does not exist at the service"
        case .answer(let batch, let operation): "response to batch \(batch)" + request(operation, batch)
        case .key(let batch, let operation):
            "key assigned by the response to batch \(batch)" + request(operation, batch)
        case .undo(let operations): "undo of \(Self.list(operations))"
        case .redo(let operations): "redo of \(Self.list(operations))"
        case .elision(let operations): "\(Self.list(operations)) cancelled out"
        case .amendment(let operations): "amendment of \(Self.list(operations))"
        case .conflict(let decision): "conflict, \(Self.words(of: decision))"
        case .metadata: "new metadata"
        case .compaction: "state at the compaction of the log"
        case .other(let kind): Self.oneLine(kind)
        }
    }

    /// Returns the content as text for a table: `'Ada'`, `17`, `Orders(1), Orders(2)`; `-` for missing content.
    ///
    /// - Parameter limit: The length in characters after which the text is truncated.
    public static func words(of content: AspectValue, limit: Int = 200) -> String {
        switch content {
        case .absent: "-"
        case .present: "there"
        case .value(.complex(let complex)): oneLine(json(of: .complex(complex)), limit: limit)
        case .value(.collection(let items)): oneLine(json(of: .collection(items)), limit: limit)
        case .value(let value): RecordSummary.text(of: value, limit: limit)
        case .entities(let entities): oneLine(entities.joined(separator: ", "), limit: limit)
        }
    }

    private static func json(of value: Value) -> String {
        var writer = HistoryJSONWriter()
        writer.value(value)
        return writer.json.text
    }

    static func words(of decision: ConflictResolved.Decision) -> String {
        switch decision {
        case .clientWins: "the client wins"
        case .serverWins: "the service wins"
        case .merged: "merged"
        case .app: "decided by a function of the app"
        case .call: "decided by a call"
        }
    }

    private static func oneLine(_ text: String, limit: Int = 200) -> String {
        RecordSummary.oneLine(text, limit: limit)
    }

    static func list(_ operations: [SequenceNumber]) -> String {
        operations.count == 1
            ? "operation \(operations[0])" : "operations \(operations.map(String.init).joined(separator: ", "))"
    }

    private func outcomeWords(_ operation: SequenceNumber) -> String {
        let last = exchanges[operation]?.last
        switch outcomes[operation] {
        case .confirmed(let batch): return ", confirmed by batch \(batch)" + (last.map(Self.address) ?? "")
        case .rejected(let batch, let refusal):
            return ", refused" + (batch.map { " in batch \($0)" } ?? "") + (last.map(Self.address) ?? "")
                + ": " + Self.words(of: refusal)
        case .inFlight(let batch): return ", sent with batch \(batch), no response yet"
        case .inDoubt(let batch, _): return ", in doubt since batch \(batch)"
        case .deferred(let refusal): return ", postponed: " + Self.words(of: refusal)
        case .pending: return ", pending"
        case .undone(let record, _): return ", undone by \(record)"
        case .elided: return ", cancelled out"
        case .kept: return ", kept in the store only"
        case .unknown, nil: return ""
        }
    }

    private func request(_ operation: SequenceNumber?, _ batch: BatchID) -> String {
        guard let operation else { return "" }
        let exchange = exchanges[operation]?.last { $0.batch == batch }
        return ", operation \(operation)" + (exchange.map(Self.address) ?? "")
    }

    /// Returns a text such as ` (PATCH Customers(1))`, or an empty one if the request is unknown.
    private static func address(_ exchange: Exchange) -> String {
        guard let method = exchange.method else { return "" }
        // The query of the URL may be a secret.
        let url = (exchange.url ?? "").prefix { $0 != "?" }
        return " (\(oneLine(method)) \(oneLine(String(url))))"
    }

    static func words(of refusal: Refusal) -> String {
        (refusal.status == 0 ? "" : "\(refusal.status) ") + oneLine(refusal.message)
    }
}
