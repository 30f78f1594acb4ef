import EDM
import Testing

@testable import ODataQuery

/// The resolution of parameter aliases, and its limits.
struct ParameterAliasTests {
    private func resolved(_ query: String) throws -> QueryOptions {
        try QueryOptions.parse(query.replacing(" ", with: "%20"), version: .v401).resolvingAliases()
    }

    @Test(arguments: [
        ("$filter=A gt @min&@min=50", "$filter=A gt 50"),
        (
            "$expand=B($filter=A gt @min;$expand=C($orderby=@by))&@min=50&@by=D",
            "$expand=B($filter=A gt 50;$expand=C($orderby=D))"
        ),
        ("$filter=@a&@a=@b and C&@b=D eq @c", "$filter=D eq null and C"),
        ("$filter=B/any(b:b/A gt @min)&@min=50", "$filter=B/any(b:b/A gt 50)"),
        ("$filter=B/$count($filter=A gt @min) gt 1&@min=50", "$filter=B/$count($filter=A gt 50) gt 1"),
        (
            "$apply=filter(A gt @min)/groupby((B),aggregate(A with sum as C))&@min=50",
            "$apply=filter(A gt 50)/groupby((B),aggregate(A with sum as C))"
        ),
    ])
    func `an alias is resolved in options of all levels, or is null`(_ query: String, _ plain: String) throws {
        #expect(try resolved(query) == resolved(plain))
    }

    @Test func `an alias is resolved in the path`() throws {
        let condition = try Expression.parse("A gt @min", version: .v401)
        let plain = try Expression.parse("A gt 50", version: .v401)
        let path = ResourcePath(segments: [.filter(condition)], target: .nothing)
        let options = try QueryOptions.parse("@min=50", version: .v401)
        let result = try ServiceRequest(path: path, options: options).resolvingAliases()
        #expect(result.path.segments == [.filter(plain)])
    }

    @Test(arguments: ["@a=@a", "@a=@b&@b=1 add @c&@c=@a add @b"])
    func `an alias that refers to itself is rejected`(_ aliases: String) throws {
        let error = #expect(throws: EvaluationError.self) { try resolved("$filter=@a eq 1&" + aliases) }
        #expect(error?.code == .unsupported)
    }

    @Test func `aliases that grow exponentially or nest too deeply are rejected`() throws {
        let doubled = (1...40).map { "@a\($0)=@a\($0 - 1) add @a\($0 - 1)" }.joined(separator: "&")
        let error = #expect(throws: EvaluationError.self) { try resolved("$filter=@a40 eq 1&@a0=1&" + doubled) }
        #expect(error?.code == .outOfRange)
        func tower(on alias: String) -> Expression {
            (0..<40).reduce(.path(ExpressionPath(root: .alias(alias), segments: []))) { inner, _ in .not(inner) }
        }
        var options = QueryOptions()
        options.filter = tower(on: "a")
        options.aliases = [QueryOptions.ParameterAlias(name: "a", value: tower(on: "b"))]
        let tooHigh = #expect(throws: EvaluationError.self) { try options.resolvingAliases() }
        #expect(tooHigh?.code == .outOfRange)
        // A long chain of aliases does not increase the depth of the resolved expression.
        let chain = (1...100).map { "@a\($0)=@a\($0 - 1)" }.joined(separator: "&")
        #expect(try resolved("$filter=@a100 eq 1&@a0=A&" + chain) == resolved("$filter=A eq 1"))
    }

    @Test func `an expression that code nests too deeply is rejected before it is resolved`() throws {
        var options = QueryOptions()
        options.filter = (0..<100).reduce(Expression.property("A")) { inner, _ in .not(inner) }
        let error = #expect(throws: EvaluationError.self) { try options.resolvingAliases() }
        #expect(error?.code == .outOfRange)
        options.filter = (0..<64).reduce(Expression.property("A")) { inner, _ in .not(inner) }
        #expect(try options.resolvingAliases() == options)
    }
}
