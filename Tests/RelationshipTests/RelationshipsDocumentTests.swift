import Foundation
import ODataWire
import Testing

/// `Docs/Relationships.md` compared with the table and the requests of its cells.
@Suite struct RelationshipsDocumentTests {
    private let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Docs/Relationships.md").path

    @Test func `the document contains every cell with its bytes`() async throws {
        let text = try await document()
        if ProcessInfo.processInfo.environment["TIDELOG_WRITE_DOCS"] == "1" {
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            return
        }
        let known = try String(contentsOfFile: path, encoding: .utf8)
        let (new, old) = (text.split(separator: "\n"), known.split(separator: "\n"))
        let line = zip(new, old).first { $0 != $1 }
        #expect(
            text == known,
            """
            Docs/Relationships.md differs from the cells\(line.map { ": the document has \"\($1)\", the cells have \"\($0)\"" } ?? ""). \
            Check that the new bytes are right, then run \
            TIDELOG_WRITE_DOCS=1 swift test --filter RelationshipTests and check the difference.
            """)
    }

    private func document() async throws -> String {
        let example = try #require(
            Combination.customersAndOrders.cells.firstIndex {
                $0.technique == .contentID && $0.end == "Customers/Orders" && $0.aim == .create
            })
        var examples: [String] = []
        for version in Wanted.Version.allCases {
            let seen = try await Grid.shared.observations(of: .customersAndOrders, version)[example].synchronization
            let batch = try #require(seen?.batches.first)
            let head = batch.headers.fields.filter { $0.name != "Cookie" && $0.name != "x-csrf-token" }
                .map { "\($0.name): \($0.value)" }
            let body = String(decoding: batch.body, as: UTF8.self).components(separatedBy: "\r\n").dropLast()
            examples.append((["POST \(batch.url) HTTP/1.1"] + head + [""] + body).joined(separator: "\n"))
        }
        var document = RelationshipsDocument(
            introduction: RelationshipsDocument.introduction(v2: examples[0], v4: examples[1]))
        for combination in Combination.all {
            document.add(
                combination, v2: try await Grid.shared.observations(of: combination, .v2),
                v4: try await Grid.shared.observations(of: combination, .v4))
        }
        return document.text
    }
}
