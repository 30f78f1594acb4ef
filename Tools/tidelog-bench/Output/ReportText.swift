internal import Foundation

/// A report as text, with a table that is also a Markdown table, for use in documents.
enum ReportText {
    static func lines(_ report: Report) -> [String] {
        table(report.cases) + (report.notes.isEmpty ? [] : [""] + report.notes) + summary(report.cases)
    }

    private static func table(_ cases: [Case]) -> [String] {
        let head = ["case", "ours", "unit", "baseline", "its value", "ratio", "target", "met"]
        return table(
            head,
            cases.map { row in
                [
                    row.name, NumberText.short(row.ours), row.unit.rawValue, row.baseline?.name ?? "",
                    row.baseline.map { NumberText.short($0.value) } ?? "", row.ratio.map(NumberText.short) ?? "",
                    row.target?.description ?? "", row.isMet.map { $0 ? "yes" : "NO" } ?? "",
                ]
            })
    }

    /// Returns the table with columns as wide as their widest cell, so that the text is readable.
    static func table(_ head: [String], _ rows: [[String]]) -> [String] {
        let widths = head.indices.map { column in ([head] + rows).map { $0[column].count }.max() ?? 0 }
        func line(_ cells: [String]) -> String {
            let padded = zip(cells, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
            return "| " + padded.joined(separator: " | ") + " |"
        }
        let rule = "|" + widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "|") + "|"
        return [line(head), rule] + rows.map(line)
    }

    private static func summary(_ cases: [Case]) -> [String] {
        let judged = cases.filter { $0.isMet != nil }
        guard !judged.isEmpty else { return [] }
        let missed = judged.filter { $0.isMet == false }
        var lines = ["", "\(judged.count - missed.count) of \(judged.count) targets met."]
        for row in missed {
            let against = row.baseline.map { " compared with \($0.name)" } ?? ""
            lines.append("Not met: \(row.name)\(against), \(row.target?.description ?? "").")
        }
        return lines
    }

    /// Returns one JSON object for each row.
    static func json(_ report: Report, bench: String) throws -> [String] {
        struct Row: Encodable {
            let bench: String
            let row: Case
            enum Member: String, CodingKey { case bench }

            func encode(to encoder: any Encoder) throws {
                var members = encoder.container(keyedBy: Member.self)
                try members.encode(bench, forKey: .bench)
                try row.encode(to: encoder)
            }
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try report.cases.map {
            String(decoding: try encoder.encode(Row(bench: bench, row: $0)), as: UTF8.self)
        }
    }
}
