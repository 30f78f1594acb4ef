/// A table with headings. Each column is as wide as its widest cell; a terminal limits the total width.
struct TextTable {
    enum Alignment { case left, right }

    /// Returns the minimum width of a column, regardless of the terminal. The first column names the subject of the
    /// row.
    private static func narrowest(_ column: Int) -> Int { column == 0 ? 24 : 8 }

    private var headings: [String]
    private var alignments: [Alignment]
    private var rows: [[String]] = []
    private let width: Int?

    /// - Parameter width: The width of the terminal, or nil for no limit, as for output to programs.
    init(_ columns: [(heading: String, alignment: Alignment)], width: Int? = Terminal.width) {
        headings = columns.map(\.heading)
        alignments = columns.map(\.alignment)
        self.width = width
    }

    /// Adds a row. Missing cells are empty; cells without a heading are ignored.
    mutating func add(_ cells: [String]) {
        rows.append(headings.indices.map { $0 < cells.count ? oneLine(cells[$0]) : "" })
    }

    /// The heading, the rule and the rows, without spaces at the ends of lines.
    var lines: [String] {
        let widths = fitted(
            headings.indices.map { column in
                rows.reduce(headings[column].columns) { max($0, $1[column].columns) }
            })
        let rule = widths.map { String(repeating: "-", count: $0) }
        return [line(headings, widths), line(rule, widths)] + rows.map { line($0, widths) }
    }

    /// Returns the widths after the widest columns of text were narrowed; columns of numbers keep their width.
    private func fitted(_ widths: [Int]) -> [Int] {
        guard let width else { return widths }
        var widths = widths
        var excess = widths.reduce(2 * (widths.count - 1), +) - width
        while excess > 0 {
            let flexible = widths.indices.filter { alignments[$0] == .left && widths[$0] > Self.narrowest($0) }
            guard let widest = flexible.max(by: { widths[$0] < widths[$1] }) else { break }
            // Narrows to the next wider column, so that several columns share the reduction.
            let next = flexible.filter { widths[$0] < widths[widest] }.map { widths[$0] }.max() ?? 0
            let cut = min(excess, widths[widest] - max(next, Self.narrowest(widest)))
            widths[widest] -= cut
            excess -= cut
        }
        return widths
    }

    private func line(_ cells: [String], _ widths: [Int]) -> String {
        let padded = cells.indices.map { column in
            let cell = cells[column].cut(toColumns: widths[column])
            let blanks = String(repeating: " ", count: max(0, widths[column] - cell.columns))
            return alignments[column] == .right ? blanks + cell : cell + blanks
        }
        let text = padded.joined(separator: "  ")
        return String(text[..<(text.lastIndex { $0 != " " }.map { text.index(after: $0) } ?? text.startIndex)])
    }
}

extension String {
    /// The number of terminal columns of the text. East Asian characters and emoji have two (Unicode Standard Annex 11,
    /// by blocks).
    var columns: Int { utf8.count == unicodeScalars.count ? utf8.count : reduce(0) { $0 + $1.columns } }

    /// Returns the text, truncated with an ellipsis to the given number of columns.
    func cut(toColumns limit: Int) -> String {
        guard columns > limit else { return self }
        var result = ""
        var width = 1
        for character in self {
            width += character.columns
            if width > limit { break }
            result.append(character)
        }
        return result + "…"
    }
}

extension Character {
    fileprivate var columns: Int {
        guard let scalar = unicodeScalars.first else { return 0 }
        if scalar.properties.isEmojiPresentation { return 2 }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }
}
