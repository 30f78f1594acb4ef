import Foundation
import ODataWire

/// `Docs/Relationships.md`, generated from the table and from the observations of its cells.
struct RelationshipsDocument {
    private var lines: [String] = []

    /// Starts the page.
    ///
    /// - Parameter introduction: The text before the combinations.
    init(introduction: String) { lines = [introduction] }

    var text: String { lines.joined(separator: "\n") + "\n" }

    mutating func add(_ combination: Combination, v2: [Observation], v4: [Observation]) {
        lines += [
            "## \(combination.multiplicities): \(combination.first.set) and \(combination.second.set)", "",
            combination.rule, "",
            "At the start: `\(combination.links)`. Requirement: \(combination.row).", "",
        ]
        addTable(combination)
        addAllowed(combination, v2, v4)
        addRefused(combination, v2, v4)
    }

    // MARK: The table

    private mutating func addTable(_ combination: Combination) {
        lines += ["| technique | end | create | move | delete |", "|---|---|---|---|---|"]
        for technique in Technique.allCases {
            for end in [combination.first.place, combination.second.place] {
                let slots = Aim.allCases.map { slot(combination, technique, end, $0) }
                guard slots.contains(where: { $0 != "–" }) else { continue }
                lines.append("| \(technique.rawValue) | \(end) | \(slots.joined(separator: " | ")) |")
            }
        }
        let reasons = combination.meaningless.map { excuse in
            let techniques = excuse.techniques.map(\.rawValue).joined(separator: ", ")
            let end = excuse.end.map { " at \($0)" } ?? ""
            let aim = excuse.aim.map { ", to \($0.rawValue)" } ?? ""
            return "- \(techniques)\(end)\(aim): \(excuse.why)"
        }
        lines += ["", "Not in the table:", ""] + reasons + [""]
    }

    private func slot(_ combination: Combination, _ technique: Technique, _ end: String, _ aim: Aim) -> String {
        var outcomes: [(words: String, numbers: [Int])] = []
        for (index, cell) in combination.cells.enumerated()
        where cell.technique == technique && cell.end == end && cell.aim == aim {
            let words = cell.outcome.words
            if let known = outcomes.firstIndex(where: { $0.words == words }) {
                outcomes[known].numbers.append(index + 1)
            } else {
                outcomes.append((words, [index + 1]))
            }
        }
        guard !outcomes.isEmpty else { return "–" }
        return outcomes.map { "\($0.words) (\($0.numbers.map(String.init).joined(separator: ", ")))" }.joined(
            separator: "; ")
    }

    // MARK: The cells

    /// Adds the requests of the allowed cells. Cells that send the same bytes share one block.
    private mutating func addAllowed(_ combination: Combination, _ v2: [Observation], _ v4: [Observation]) {
        var blocks: [(requests: String, cells: [String])] = []
        for (index, cell) in combination.cells.enumerated() {
            guard case .allowed = cell.outcome else { continue }
            let requests = Self.requests(v2[index], v4[index])
            let line = "# \(index + 1)  \(cell.call): \(v4[index].local.first)"
            if let known = blocks.firstIndex(where: { $0.requests == requests }) {
                blocks[known].cells.append(line)
            } else {
                blocks.append((requests, [line]))
            }
        }
        lines += ["### \(combination.first.set) and \(combination.second.set): allowed", ""]
        lines.append("```")
        for (index, block) in blocks.enumerated() { lines += (index > 0 ? [""] : []) + block.cells + [block.requests] }
        lines += ["```", ""]
    }

    private mutating func addRefused(_ combination: Combination, _ v2: [Observation], _ v4: [Observation]) {
        let refused = combination.cells.indices.filter { v4[$0].refusal != nil }
        guard !refused.isEmpty else { return }
        lines += ["### \(combination.first.set) and \(combination.second.set): refused", ""]
        var blocks: [(words: String, calls: [String])] = []
        for index in refused {
            let words = [v2[index], v4[index]].compactMap { $0.refusal.map { "*\($0.message)* \($0.recovery)" } }
            // The names of types may differ in the metadata of V2.
            let text = Set(words).count == 1 ? words[0] : "V2: \(words[0])  \nV4: \(words[1])"
            let call = "**\(index + 1)** \(combination.cells[index].call)"
            if let known = blocks.firstIndex(where: { $0.words == text }) {
                blocks[known].calls.append(call)
            } else {
                blocks.append((text, [call]))
            }
        }
        for block in blocks { lines += block.calls.map { "\($0)  " } + [block.words, ""] }
    }

    // MARK: Requests

    private static func requests(_ v2: Observation, _ v4: Observation) -> String {
        let (a, b) = (requests(v2, .v2), requests(v4, .v4))
        if a == b { return a.map { "V2, V4  \($0)" }.joined(separator: "\n") }
        return (a.map { "V2  \($0)" } + b.map { "V4  \($0)" }).joined(separator: "\n")
    }

    /// Returns each request in one line: its method and URL, the headers that are not in every request, and the body.
    private static func requests(_ observation: Observation, _ version: Wanted.Version) -> [String] {
        let batches = observation.synchronization?.batches ?? []
        return batches.enumerated().flatMap { number, batch in
            let requests = split(String(decoding: batch.body, as: UTF8.self))
            return requests.enumerated().map { index, request in
                (number == 0 ? "" : "then ") + (requests.count == 1 ? request : "(\(index + 1)) \(request)")
            }
        }
    }

    private static func split(_ batch: String) -> [String] {
        let usual =
            ["DataServiceVersion", "MaxDataServiceVersion", "OData-Version", "OData-MaxVersion", "Accept"]
            .map { $0 + ":" } + ["Content-Type:", "Content-Length:"]
        var found: [String] = []
        let lines = batch.components(separatedBy: "\r\n")
        for (index, line) in lines.enumerated() where line.hasSuffix(" HTTP/1.1") {
            let rest = lines[(index + 1)...]
            let headers = rest.prefix { !$0.isEmpty }.filter { header in !usual.contains { header.hasPrefix($0) } }
            let body = rest.drop { !$0.isEmpty }.dropFirst().prefix { !$0.hasPrefix("--") && !$0.isEmpty }
            found.append(
                ([line.replacingOccurrences(of: " HTTP/1.1", with: "")] + headers.map { "[\($0)]" } + body).joined(
                    separator: "  "))
        }
        return found
    }
}

extension Outcome {
    /// The outcome in a few words.
    fileprivate var words: String {
        switch self {
        case .allowed: "allowed"
        case .refused(let refused):
            switch refused.code {
            case "mandatoryEnd": "refused: mandatory end"
            case "wrongNavigationKind": "refused: a collection"
            case "linkNotFound": "refused: no such link"
            case "typeMismatch": "refused: must not be null"
            default: "refused: \(refused.code)"
            }
        }
    }
}
