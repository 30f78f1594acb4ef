import ConformanceCorpora
import EDM
import ODataQuery
import Testing

/// The test cases of the OASIS grammar for URLs and query options, checked against a model made from the constraints of
/// the grammar.
@Suite(.enabled(if: QueryCorpus.isPresent, "skipped: the conformance corpora are not next to the checkout"))
struct QueryGrammarCorpusTests {
    /// Rules that do not concern URLs or that other suites check.
    private static let otherRules: [String: String] = [
        "context": "context URLs are read by the payload reader",
        "header": "HTTP headers are not part of URLs", "prefer": "HTTP headers are not part of URLs",
        "preference": "HTTP headers are not part of URLs",
        "includeannotationspreference": "HTTP headers are not part of URLs",
        "maxpagesizepreference": "HTTP headers are not part of URLs",
        "request-id": "HTTP headers are not part of URLs",
    ]

    /// Returns the reason for excluding a case whose verdict depends on a fact that a model cannot express.
    private func exception(_ row: QueryCorpus.Row) -> String? {
        switch row.input {
        case "$search=more&more":
            "invalid only because the constraints list three names of custom options; a service accepts any"
        default: nil
        }
    }

    @Test func `the parser agrees with the OASIS suite about the rules of URLs and queries`() throws {
        var constraints = try QueryCorpus.object("abnf/core-constraints.json")
        // The constraints list no names for this rule, so the rule accepts every identifier. The model must declare the
        // name that the cases use.
        if constraints["primitiveFunctionImport"] == nil {
            constraints["primitiveFunctionImport"] = ["TheMostPopularName"]
        }
        let plain = QueryGrammarModel(constraints: constraints)
        let aliased = QueryGrammarModel(constraints: constraints, hasKeyAlias: true)
        var report = CorpusReport("abnf core")
        for row in try QueryCorpus.rows("abnf/core.jsonl") {
            let rule = row["rule"].lowercased()
            if let reason = Self.otherRules[rule] ?? Self.literalReason(rule) ?? exception(row) {
                report.exclude("\(row["rule"]): \(reason)")
                continue
            }
            // One case needs the key of the same set under an alias.
            let grammar = row.input.contains("KeyAlias") ? aliased : plain
            report.record(row, Result { try read(row.input, as: rule, grammar) })
        }
        report.print()
        #expect(report.failures.count == 0)
    }

    @Test func `requests for temporal data are rejected because of an unknown option`() throws {
        for row in try QueryCorpus.rows("abnf/temporal.jsonl") {
            let error = #expect(throws: URLSyntaxError.self, "\(row.input)") {
                try QueryOptions.parse(ServiceURL.split(row.input).query ?? "", version: .v401)
            }
            #expect(error?.code == .unknownOption, "\(row.input)")
        }
    }

    private static func literalReason(_ rule: String) -> String? {
        let isLiteral =
            rule.hasSuffix("value") || rule.hasSuffix("literal") || rule.hasPrefix("geo")
            || ["boolean", "date", "guid", "null"].contains(rule)
        return isLiteral ? "judged with the primitive literals" : nil
    }

    private func read(_ input: String, as rule: String, _ grammar: QueryGrammarModel) throws {
        let model = grammar.model
        switch rule {
        case "filter", "orderby", "expand", "select", "search", "compute", "systemqueryoption", "customqueryoption",
            "queryoptions", "deltatoken", "skiptoken":
            // The type of `$this` is known only in a nested option, so the check uses no type here.
            let type = input.contains("($this") ? nil : grammar.entityType
            _ = try QueryOptions.parse(input, version: .v401, type: type, model: model)
        case "boolcommonexpr", "commonexpr", "firstmemberexpr", "isofexpr", "notexpr", "propertypathexpr", "anyexpr":
            // A lambda operator is a segment after a collection. Some cases of firstMemberExpr are bodies of lambda
            // expressions.
            let text = try PercentCoding.decode(rule == "anyexpr" ? "Products/\(input)" : input)
            if text.hasPrefix("lambda/") {
                _ = try Expression.parse("Products/any(lambda:\(text))", version: .v401).typeCheck(
                    against: grammar.entityType, model: model, version: .v401)
                return
            }
            _ = try Expression.parse(text, version: .v401).typeCheck(
                against: grammar.entityType, model: model, version: .v401)
        case "searchexpr": _ = try SearchExpression.parse(input, version: .v401)
        case "resourcepath", "entitysetname": _ = try ResourcePath.parse(input, model: model, version: .v401)
        case "odatarelativeuri": _ = try ServiceRequest.parse(input, model: model, version: .v401)
        case "odataidentifier": _ = try QueryOptions.parse("$compute=1 as \(input)", version: .v401)
        case "functionparameter":
            _ = try ResourcePath.parse("ProductsByColor(\(input))", model: model, version: .v401)
        case "odatauri": try readAbsolute(input, model)
        default: Issue.record("No reader for the rule \(rule)")
        }
    }

    /// Reads an absolute URL. The grammar does not define the end of the service root, so the URL is valid if it is
    /// valid for the service root that ends at any of its slashes.
    private func readAbsolute(_ input: String, _ model: EntityDataModel) throws {
        guard let scheme = input.firstRange(of: "://") else {
            _ = try ServiceURL.relativePart(of: input, serviceRoot: "http://host/service/")
            throw URLSyntaxError(.outsideService, "This is no absolute URL.", in: input)
        }
        var lastError: any Error = URLSyntaxError(.outsideService, "There is no service root.", in: input)
        for slash in input.indices where slash >= scheme.upperBound && input[slash] == "/" {
            do {
                _ = try ServiceRequest.parse(input, serviceRoot: String(input[...slash]), model: model, version: .v401)
                return
            } catch {
                lastError = error
            }
        }
        throw lastError
    }
}
