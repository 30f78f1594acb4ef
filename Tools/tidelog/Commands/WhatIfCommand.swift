internal import ArgumentParser
internal import LogInspection
internal import ODataWire
internal import OfflineStore
internal import Operations
internal import Tidelog

struct WhatIfCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "what-if", abstract: "Show the result of a changed history, without changing the store.",
        discussion: """
            Recomputes the history in memory from the first change on, and prints the differences at the end like \
            'diff', and the requests of the next push in both histories. Operations are validated again; an operation \
            that is no longer valid is omitted with a notice. Responses of the service are used as recorded, except \
            those to requests that would have been different or not sent.

                tidelog what-if --skip 9
                tidelog what-if --at 8 --insert lines.jsonl
                tidelog what-if --reorder 12,9
                tidelog what-if --answer 10=412:error.json

            Exit codes: 0 success, 1 failure, 2 damage, 64 usage.
            """)

    @Option(help: ArgumentHelp("Omit this record; may be repeated.", valueName: "seq"))
    var skip: [UInt64] = []

    @Option(help: ArgumentHelp("Insert the operations of this file, in the format of 'apply'.", valueName: "file"))
    var insert: String?

    @Option(help: ArgumentHelp("The place of the insertion; the end by default.", valueName: "seq|time"))
    var at: PointArgument?

    @Option(
        help: ArgumentHelp("Exchange the places of these operations, in this order.", valueName: "seq,seq,…"),
        transform: ReorderArgument.init)
    var reorder: ReorderArgument?

    @Option(
        help: ArgumentHelp(
            "Use another response of the service to the operation: a status, and a file with the body. May be repeated.",
            valueName: "seq=status[:file]"), transform: AnswerArgument.init)
    var answer: [AnswerArgument] = []

    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        if skip.isEmpty, insert == nil, reorder == nil, answer.isEmpty {
            throw ValidationError("Name a change: --skip, --insert, --reorder or --answer.")
        }
    }

    func run() async throws {
        let store = try options.inspected
        var alteration = WhatIfChanges()
        alteration.skipped = Set(skip)
        alteration.order = reorder?.operations ?? []
        for answer in answer { alteration.answers[answer.operation] = try answer.response() }
        if let insert {
            let place = try await options.past(at: at?.point ?? .sequence(.max))
            alteration.insertionPlace = place.sequence
            alteration.insertions = try await intents(insert, on: place)
        }
        let report = try await store.altered(alteration, through: .sequence(.max))
        for record in report.withoutPlace {
            try Console.print(format.json ? DroppedRecordText(record).json : DroppedRecordText(record).line)
        }
        for answers in report.droppedAnswers {
            try Console.print(format.json ? DroppedResponsesText(answers).json : DroppedResponsesText(answers).line)
        }
        for standing in report.standings {
            try Console.print(format.json ? OutcomeChangeText(standing).json : OutcomeChangeText(standing).line)
        }
        var output = DifferenceOutput(isJSON: format.json)
        let counts = try await StateDifference(
            before: report.real, after: report.altered, matching: .entityIDs
        ).run { difference throws(TidelogError) in output.print(difference) }
        try output.end()
        if format.json { return try Console.print(PlansText(report).json) }
        try Console.print(
            "\(counts.added) added, \(counts.removed) removed, \(counts.changed) changed; "
                + "\(counted(report.countWithoutPlace, "record", "records")) omitted.")
        for line in PlansText(report).lines { try Console.print(line) }
    }

    private func intents(
        _ path: String, on place: HistoricalODataProvider
    ) async throws -> [(intent: Intent, options: IntentOptions)] {
        var lines = try LineReader(path: path)
        var writer = IntentWriter(provider: place, model: try await place.model(), names: [:])
        var number = 0
        while let line = try lines.next() {
            number += 1
            if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { continue }
            do {
                let operation = try OperationLineReader().read(line)
                if case .changeSet = operation { throw CommandFailure("A change set cannot be inserted.") }
                try await writer.add(operation)
            } catch {
                throw LineFailure(file: lines.name, line: number, cause: error)
            }
        }
        return writer.written.map { ($0.intent, IntentOptions()) }
    }
}

/// An argument such as `12,9,10`.
struct ReorderArgument {
    let operations: [SequenceNumber]

    init(_ text: String) throws {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        operations = parts.compactMap { SequenceNumber($0) }
        guard operations.count == parts.count, operations.count > 1, Set(operations).count == operations.count else {
            throw ValidationError("'\(text)' is not a list of different operations such as 12,9.")
        }
    }
}

/// An argument such as `10=412` or `10=412:error.json`.
struct AnswerArgument {
    let operation: SequenceNumber
    private let status: Int
    private let file: String?

    init(_ text: String) throws {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let answer =
            parts.count == 2 ? parts[1].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false) : []
        guard let operation = parts.first.flatMap({ SequenceNumber($0) }),
            let status = answer.first.flatMap({ Int($0) }),
            (200..<600).contains(status)
        else { throw ValidationError("'\(text)' does not have the form SEQ=STATUS or SEQ=STATUS:FILE.") }
        self.operation = operation
        self.status = status
        file = answer.count == 2 ? String(answer[1]) : nil
    }

    func response() throws -> WireResponse {
        guard let file else { return WireResponse(status: status) }
        var reader = try LineReader(path: file)
        return WireResponse(
            status: status, headers: HTTPHeaders([("Content-Type", "application/json")]), body: try reader.rest())
    }
}

/// A record that does not apply in the altered history.
struct DroppedRecordText {
    private let record: DroppedRecord

    init(_ record: DroppedRecord) { self.record = record }

    var line: String {
        switch record.reason {
        case .refused(let reason): "Operation \(record.sequence) is refused: \(oneLine(reason))"
        case .pointless: "Record \(record.sequence) is omitted: it refers only to omitted operations."
        }
    }

    var json: String {
        var json = JSONWriter()
        json.beginObject()
        json.member("leftOut", record.sequence)
        if case .refused(let reason) = record.reason { json.member("refused", reason) }
        json.endObject()
        return json.text
    }
}

/// Responses that are omitted from the altered history.
struct DroppedResponsesText {
    private let answers: DroppedResponses

    init(_ answers: DroppedResponses) { self.answers = answers }

    var line: String {
        let operations = answers.operations.map(String.init).joined(separator: ", ")
        return
            "Record \(answers.sequence): the response to operation \(operations) is not used, because the request would have been different "
            + "or not sent."
    }

    var json: String {
        var json = JSONWriter()
        json.beginObject()
        json.member("record", answers.sequence)
        json.numbers("droppedAnswers", answers.operations)
        json.endObject()
        return json.text
    }
}

/// An operation whose status differs in the altered history.
struct OutcomeChangeText {
    private let standing: OutcomeChange

    init(_ standing: OutcomeChange) { self.standing = standing }

    var line: String {
        let why = standing.refusal.map { " (\(oneLine($0)))" } ?? ""
        return "Operation \(standing.sequence): \(standing.real) → \(standing.altered)\(why)"
    }

    var json: String {
        var json = JSONWriter()
        json.beginObject()
        json.member("operation", standing.sequence)
        json.member("real", standing.real)
        json.member("altered", standing.altered)
        if let refusal = standing.refusal { json.member("refusal", refusal) }
        json.endObject()
        return json.text
    }
}

/// The next requests in both histories.
struct PlansText {
    private let report: WhatIfReport

    init(_ report: WhatIfReport) { self.report = report }

    var lines: [String] {
        if report.realPlan == report.alteredPlan {
            return [
                report.realPlan.isEmpty
                    ? "No requests to send in either history." : "The next push would send the same requests."
            ]
        }
        return ["The next push sends:"] + lines(report.realPlan) + ["It would send:"] + lines(report.alteredPlan)
    }

    private func lines(_ plan: [String]) -> [String] {
        plan.isEmpty ? ["    nothing"] : plan.map { "    " + oneLine($0) }
    }

    var json: String {
        var json = JSONWriter()
        json.beginObject()
        json.member("leftOutCount", report.countWithoutPlace)
        json.numbers("inserted", report.inserted)
        for (name, plan) in [("realPlan", report.realPlan), ("alteredPlan", report.alteredPlan)] {
            json.name(name)
            json.beginArray()
            for request in plan { json.string(request) }
            json.endArray()
        }
        json.endObject()
        return json.text
    }
}
