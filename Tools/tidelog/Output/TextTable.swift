/// Rows under headings, columns as wide as their widest cell; on a terminal not wider than that.
struct TextTable {
    enum Alignment { case left, right }

    /// Narrower than this no column is made, however narrow the terminal is. The first says what the row is about.
    private static func narrowest(_ column: Int) -> Int { column == 0 ? 24 : 8 }

    private var headings: [String]
    private var alignments: [Alignment]
    private var rows: [[String]] = []
    private let width: Int?

    /// - Parameter width: of the terminal; nil for as wide as it comes, which is what programs read.
    init(_ columns: [(heading: String, alignment: Alignment)], width: Int? = Terminal.width) {
        headings = columns.map(\.heading)
        alignments = columns.map(\.alignment)
        self.width = width
    }

    /// Missing cells are empty; cells without a heading are left out.
    mutating func add(_ cells: [String]) {
        rows.append(headings.indices.map { $0 < cells.count ? oneLine(cells[$0]) : "" })
    }

    /// Heading, rule, rows; no blanks at the ends of lines.
    var lines: [String] {
        let widths = fitted(
            headings.indices.map { column in
                rows.reduce(headings[column].columns) { max($0, $1[column].columns) }
            })
        let rule = widths.map { String(repeating: "-", count: $0) }
        return [line(headings, widths), line(rule, widths)] + rows.map { line($0, widths) }
    }

    /// The widest columns of text give way, one after the other; numbers stay whole.
    private func fitted(_ widths: [Int]) -> [Int] {
        guard let width else { return widths }
        var widths = widths
        var excess = widths.reduce(2 * (widths.count - 1), +) - width
        while excess > 0 {
            let flexible = widths.indices.filter { alignments[$0] == .left && widths[$0] > Self.narrowest($0) }
            guard let widest = flexible.max(by: { widths[$0] < widths[$1] }) else { break }
            // Down to the next wider one, so that several share what has to go.
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
    /// How many columns of a terminal the text takes. East Asian characters and emoji take two (Unicode Standard Annex 11,
    /// by blocks).
    var columns: Int { utf8.count == unicodeScalars.count ? utf8.count : reduce(0) { $0 + $1.columns } }

    /// The text, or its beginning and an ellipsis, in so many columns.
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
