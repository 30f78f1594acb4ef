import ConformanceCorpora
import EDM
import ODataQuery
import Testing

/// The test cases of the OASIS grammar for `$apply`, checked against a model made from the constraints of the grammar.
@Suite(.enabled(if: QueryCorpus.isPresent, "skipped: the conformance corpora are not next to the checkout"))
struct ApplyGrammarCorpusTests {
    /// Expressions that the grammar accepts and the type check rejects, with the reason.
    private static let exceptions = [
        "$apply=aggregate((TaxRate sub 1) mul 'P1D' with average as Stuff)":
            "a string is multiplied, which the type check refuses and the grammar cannot see",
        "$apply=aggregate(Amount sub Discounts with sum as TotalAmount)":
            "a collection is subtracted, which the type check refuses and the grammar cannot see",
        "$apply=outerjoin(Sales as Sale,filter(Customer/Country eq 'FR'))":
            "Country is an entity under these constraints, which cannot be compared with a string",
    ]

    @Test func `the parser agrees with the OASIS suite about the rules of data aggregation`() throws {
        let grammar = QueryGrammarModel(constraints: try QueryCorpus.object("abnf/aggregation-constraints.json"))
        var report = CorpusReport("abnf aggregation")
        for row in try QueryCorpus.rows("abnf/aggregation.jsonl") {
            if let reason = Self.exceptions[row.input] {
                report.exclude(reason)
                continue
            }
            report.record(
                row,
                Result {
                    if row["rule"] == "odataRelativeUri" {
                        _ = try ServiceRequest.parse(row.input, model: grammar.model, version: .v401)
                    } else {
                        _ = try QueryOptions.parse(
                            row.input, version: .v401, type: grammar.entityType, model: grammar.model)
                    }
                })
        }
        report.print()
        #expect(report.failures.count == 0)
    }

    @Test func `valid expressions print to text that parses to an equal value`() throws {
        for row in try QueryCorpus.rows("abnf/aggregation.jsonl") where row.isValid && row["rule"] == "queryOptions" {
            guard Self.exceptions[row.input] == nil else { continue }
            let options = try QueryOptions.parse(row.input, version: .v401)
            let printed = try options.print(version: .v401)
            #expect(try QueryOptions.parse(printed, version: .v401) == options, "\(row.input) → \(printed)")
        }
    }
}
