/// Rows under headings, columns as wide as their widest cell.
struct TextTable {
    enum Alignment { case left, right }

    private var headings: [String]
    private var alignments: [Alignment]
    private var rows: [[String]] = []

    init(_ columns: [(heading: String, alignment: Alignment)]) {
        headings = columns.map(\.heading)
        alignments = columns.map(\.alignment)
    }

    /// Missing cells are empty; cells without a heading are left out.
    mutating func add(_ cells: [String]) {
        rows.append(headings.indices.map { $0 < cells.count ? oneLine(cells[$0]) : "" })
    }

    /// Heading, rule, rows; no blanks at the ends of lines.
    var lines: [String] {
        let widths = headings.indices.map { column in
            rows.reduce(headings[column].count) { max($0, $1[column].count) }
        }
        let rule = widths.map { String(repeating: "-", count: $0) }
        return [line(headings, widths), line(rule, widths)] + rows.map { line($0, widths) }
    }

    private func line(_ cells: [String], _ widths: [Int]) -> String {
        let padded = cells.indices.map { column in
            let blanks = String(repeating: " ", count: widths[column] - cells[column].count)
            return alignments[column] == .right ? blanks + cells[column] : cells[column] + blanks
        }
        let text = padded.joined(separator: "  ")
        return String(text[..<(text.lastIndex { $0 != " " }.map { text.index(after: $0) } ?? text.startIndex)])
    }
}
