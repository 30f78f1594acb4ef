import ConformanceCorpora
import EDM
import Foundation
import ODataQuery
import Testing

/// URLs compared with the verdicts of the Olingo V2 URL parser, and URLs from the tests of the OData team.
@Suite(.enabled(if: QueryCorpus.isPresent, "skipped: the conformance corpora are not next to the checkout"))
struct URLCorpusTests {
    private func model(_ path: String) throws -> EntityDataModel {
        try CSDLReader.read([UInt8](Data(contentsOf: QueryCorpus.root.appending(path: "csdl/\(path)"))))
    }

    /// Returns the reason for excluding a row: a difference between the metadata document and the mocked model that
    /// Olingo used for its verdicts.
    private func deviation(_ row: QueryCorpus.Row) -> String? {
        switch row.input {
        case "FINullableParameter":
            "the document has no function import FINullableParameter; the mock has"
        default: nil
        }
    }

    @Test func `V2 URLs of the reference scenario are accepted or rejected as in Olingo`() throws {
        let model = try model("v2/olingo-refscenario.xml")
        var report = CorpusReport("v2-urls")
        for row in try QueryCorpus.rows("literals/v2-urls.jsonl") {
            if let reason = deviation(row) {
                report.exclude(reason)
                continue
            }
            report.record(row, Result { try ServiceRequest.parse(row.input, model: model, version: .v2) })
        }
        report.print()
        #expect(report.failures.count == 0)
    }

    @Test func `the Northwind URLs print to text that parses to equal options`() throws {
        let urls = try QueryCorpus.lines("literals/northwind-urls.txt")
        var parsed = 0
        for url in urls {
            let query = ServiceURL.split(url).query ?? ""
            // According to their source, these URLs have V2 literals but are for a V4 parser: the list mixes
            // `datetime''` with `contains` and `$expand=*`.
            let version: ODataVersion = query.contains("$expand=*") ? .v4 : .v2
            let options = try QueryOptions.parse(query, version: version)
            let printed = try options.print(version: version)
            #expect(try QueryOptions.parse(printed, version: version) == options, "\(url) → \(printed)")
            parsed += 1
        }
        print("northwind-urls: \(parsed) of \(urls.count) passed")
    }
}
