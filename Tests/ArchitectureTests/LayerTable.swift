import Foundation

/// The layer table of `Docs/Architecture.md`.
struct LayerTable {
    struct Layer {
        let target: String
        let dependencies: Set<String>
        /// The position in the table, 0 for the top row.
        let row: Int
        let isPure: Bool
    }

    let layers: [Layer]

    /// Reads the rows below the heading `| target | contains | depends on |`. A row without a target in backticks starts a
    /// new section.
    init(_ document: String) {
        var layers: [Layer] = []
        var section = ""
        var isInside = false
        for line in document.split(separator: "\n", omittingEmptySubsequences: false) {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 5 else {
                if isInside { break }
                continue
            }
            if cells[1] == "target", cells[3] == "depends on" {
                isInside = true
                continue
            }
            guard isInside, !cells[1].hasPrefix("---") else { continue }
            guard let target = Self.names(cells[1]).first else {
                section = cells[1]
                continue
            }
            layers.append(
                Layer(
                    target: target, dependencies: Set(Self.names(cells[3])), row: layers.count,
                    isPure: section == "*pure below*"))
        }
        self.layers = layers
    }

    /// Returns the words in backticks.
    private static func names(_ cell: String) -> [String] {
        cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }
}
