import ODataWire
import Testing

/// Each of the six combinations of multiplicities, with each technique, from both ends, in both versions.
///
/// The tests check whether the call is allowed, the view from both ends at once, the requests, and that the service and
/// the store agree at the end.
///
/// Features: RC-06.
@Suite struct GridTests {
    static let parts = Combination.all.flatMap { combination in
        Wanted.Version.allCases.map { Part(combination: combination, version: $0) }
    }

    struct Part: Sendable, CustomTestStringConvertible {
        let combination: Combination
        let version: Wanted.Version

        var testDescription: String { "\(combination), \(version.rawValue.uppercased())" }
    }

    private func forEachCell(_ part: Part, _ body: (Cell, Observation, Comment) throws -> Void) async throws {
        let observations = try await Grid.shared.observations(of: part.combination, part.version)
        for (cell, observation) in zip(part.combination.cells, observations) {
            try body(
                cell, observation, "\(cell.technique.rawValue) at \(cell.end) to \(cell.aim.rawValue): \(cell.call)")
        }
    }

    @Test(arguments: parts)
    func `each call is allowed or refused according to the multiplicities, with the rule and a legal alternative`(
        _ part: Part
    ) async throws {
        try await forEachCell(part) { cell, observation, comment in
            switch (cell.outcome, observation.refusal) {
            case (.allowed, nil): break
            case (.allowed, let refusal?): Issue.record("Refused: \(refusal.message) – \(comment)")
            case (.refused, nil): Issue.record("Allowed: \(comment)")
            case (.refused(let expected), let refusal?):
                #expect(refusal.code == expected.code, comment)
                for part in expected.says { #expect(refusal.message.contains(part), comment) }
                for part in expected.advises { #expect(refusal.recovery.contains(part), comment) }
            }
        }
    }

    @Test(arguments: parts)
    func `a refused call changes neither state nor log`(_ part: Part) async throws {
        try await forEachCell(part) { _, observation, comment in
            guard let refusal = observation.refusal else { return }
            #expect(refusal.leftNoTrace, comment)
            #expect(observation.local == View(first: part.combination.links, second: part.combination.links), comment)
        }
    }

    @Test(arguments: parts)
    func `an allowed call is visible at both ends at once`(_ part: Part) async throws {
        try await forEachCell(part) { cell, observation, comment in
            guard case .allowed(let links, _) = cell.outcome, observation.refusal == nil else { return }
            #expect(observation.local == View(first: links, second: links), comment)
        }
    }

    @Test(arguments: parts)
    func `the upload sends exactly the expected requests, as planned`(_ part: Part) async throws {
        try await forEachCell(part) { cell, observation, comment in
            guard let batches = cell.batches(part.version), let seen = observation.synchronization else { return }
            let sent = seen.batches.map { String(decoding: $0.body, as: UTF8.self) }
            let wanted = batches.enumerated().map { index, changeSets in
                let lines = changeSets.map { $0.map { $0[part.version] } }
                return WantedBatch.text(lines, part.version, number: index + 1)
            }
            #expect(sent == wanted, comment)
            #expect(seen.planned?.body == seen.batches.first?.body, comment)
            for (index, batch) in seen.batches.enumerated() {
                #expect(batch.url == "/\(part.version.rawValue)/$batch", comment)
                #expect(
                    batch.headers["Content-Type"] == "multipart/mixed; boundary=batch_tidelog_\(index + 1)", comment)
                for header in WantedBatch.headers(part.version) {
                    #expect(batch.headers[header.name] == header.value, comment)
                }
            }
        }
    }

    @Test(arguments: parts)
    func `store and service contain the same links after an upload and after a download`(_ part: Part) async throws {
        try await forEachCell(part) { cell, observation, comment in
            guard case .allowed(let links, _) = cell.outcome, let seen = observation.synchronization else { return }
            let expected = View(first: links, second: links)
            #expect(seen.failures.isEmpty, comment)
            #expect(seen.afterUpload == expected, comment)
            #expect(seen.afterDownload == expected, comment)
            #expect(seen.server == expected, comment)
        }
    }

    @Test(arguments: parts)
    func `online, the service allows and refuses the same calls as a store`(
        _ part: Part
    ) async throws {
        let template = try await Grid.shared.template(of: part.combination, part.version)
        for cell in part.combination.cells {
            let comment: Comment = "\(cell.technique.rawValue) at \(cell.end) to \(cell.aim.rawValue): \(cell.call)"
            let observation = try await OnlineRun.observe(cell, on: template)
            switch cell.outcome {
            case .allowed(let links, _):
                #expect(observation.refusal == nil, comment)
                #expect(observation.server == View(first: links, second: links), comment)
            case .refused where cell.isLostOnTheWire: break
            case .refused:
                #expect(observation.refusal != nil, comment)
                let links = part.combination.links
                #expect(observation.server == View(first: links, second: links), comment)
            }
        }
    }

    @Test
    func `the table has a cell for each technique, end and aim of each combination, or declares it meaningless`() {
        for combination in Combination.all {
            for end in [combination.first.place, combination.second.place] {
                for technique in Technique.allCases {
                    for aim in technique.aims {
                        let isThere = combination.cells.contains {
                            $0.technique == technique && $0.end == end && $0.aim == aim
                        }
                        let isExcused = combination.meaningless.contains {
                            $0.techniques.contains(technique) && ($0.end ?? end) == end && ($0.aim ?? aim) == aim
                        }
                        #expect(
                            isThere != isExcused, "\(combination): \(technique.rawValue) at \(end) to \(aim.rawValue)")
                    }
                }
            }
            for cell in combination.cells { #expect(cell.technique.aims.contains(cell.aim)) }
        }
    }
}
