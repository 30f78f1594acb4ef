internal import Tidelog

/// The explanation of a query, as lines or as JSON.
struct ExplanationText {
    private let explanation: QueryExplanation

    init(_ explanation: QueryExplanation) { self.explanation = explanation }

    /// The statements in the order in which they ran, each followed by SQLite's plan.
    var lines: [String] {
        var lines: [String] = []
        for statement in explanation.statements {
            lines.append(statement.sql)
            if !statement.parameters.isEmpty { lines.append("  ? = " + statement.parameters.joined(separator: ", ")) }
            lines += statement.plan.map { "  → " + $0 }
            if statement.callsEvaluator { lines.append("  tl_test, tl_key and tl_search are evaluated row by row.") }
            if statement.runs > 1 { lines.append("  \(statement.runs) times") }
            lines.append("")
        }
        lines += explanation.inMemory.map { "In memory: \($0)" }
        lines.append(explanation.entities == 1 ? "1 entity." : "\(explanation.entities) entities.")
        return lines
    }

    /// One object in each line: the statements, then the properties of the whole query.
    var json: [String] {
        explanation.statements.map { statement in
            var json = JSONWriter()
            json.beginObject()
            json.member("sql", statement.sql)
            json.strings("parameters", statement.parameters)
            json.strings("plan", statement.plan)
            json.member("runs", statement.runs)
            json.member("callsEvaluator", statement.callsEvaluator)
            json.endObject()
            return json.text
        } + [summary]
    }

    private var summary: String {
        var json = JSONWriter()
        json.beginObject()
        json.strings("inMemory", explanation.inMemory)
        json.member("entities", explanation.entities)
        json.endObject()
        return json.text
    }
}

extension JSONWriter {
    fileprivate mutating func strings(_ name: String, _ values: [String]) {
        self.name(name)
        beginArray()
        for value in values { string(value) }
        endArray()
    }
}
