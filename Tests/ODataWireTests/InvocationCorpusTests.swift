import ConformanceCorpora
import EDM
import Foundation
import ODataQuery
import ODataWire
import Testing

/// Requests compared with the test cases of the OData ABNF, and recorded results of other services.
@Suite(.enabled(if: QueryCorpus.isPresent, "skipped: the conformance corpora are not next to the checkout"))
struct InvocationCorpusTests {
    typealias Argument = OperationInvocation.Argument

    /// Cases of the grammar, each with the call that it expresses.
    private static let calls: [(url: String, name: String, argument: Argument.ArgumentValue)] = [
        ("ProductsByCategoryId(categoryId=2)", "categoryId", .value(.integer(2))),
        ("ProductsByColor(color='red')", "color", .value(.string("red"))),
        (#"ProductsByColor(colors=@c)?@c=["red"]"#, "colors", .value(.collection([.string("red")]))),
        (
            #"ProductsByColor(colors=@c)?@c=["red","green"]"#, "colors",
            .value(.collection([.string("red"), .string("green")]))
        ),
        ("ProductsByComplex(complex=@c)?@c={}", "complex", .value(.complex(ComplexValue(properties: [:])))),
    ]

    @Test func `calls are written as in the test cases of the grammar`() throws {
        let model = try InvocationModel.v4()
        let valid = Set(try QueryCorpus.rows("abnf/core.jsonl").filter(\.isValid).map(\.input))
        for (url, name, content) in Self.calls {
            let operation = String(url.prefix { $0 != "(" })
            let request = try InvocationTests.request(model, operation, [Argument(name, content)])
            // The cases of the grammar name the alias `c`.
            let written = try PercentCoding.decode(request.url).replacing("@\(name)", with: "@c")
            #expect(written == url)
            #expect(valid.contains(url), "The corpus has no case \(url).")
        }
    }

    private func result(_ path: String, _ type: TypeReference, _ version: ODataVersion) throws -> InvocationPayload {
        let bytes = [UInt8](try Data(contentsOf: QueryCorpus.root.appending(path: "json/\(path)")))
        let model = version == .v2 ? try InvocationModel.v2() : try InvocationModel.v4("4.01")
        return try PayloadReader(version: version, model: model).result(bytes, type: type, name: "TestFunction1")
    }

    @Test func `recorded results are parsed`() throws {
        let text = TypeReference(.primitive(.string))
        #expect(
            try result("v4/lodata/Operation-ActionTest__test_callback__1.json", text, .v401)
                == .value(.string("hello")))
        #expect(
            try result(
                "v4/lodata/Operation-ActionTest__test_odata_decimal_argument__5.json",
                TypeReference(.primitive(.decimal)), .v401) == .value(.decimal(DecimalValue("3.14") ?? 0)))
        guard
            case .values(let values, nil) = try result(
                "v4/lodata/EntityEach-SQLTest__test_action_each__1.json",
                TypeReference(.primitive(.string), isCollection: true), .v401)
        else {
            Issue.record("It is no collection.")
            return
        }
        #expect(values.count == 2)
        guard
            case .value(.complex) = try result(
                "v2/northwind/FunctionComplexObjectTest.json", TypeReference(.complex(name: "NS.Place")), .v2)
        else {
            Issue.record("It is no complex value.")
            return
        }
    }
}
