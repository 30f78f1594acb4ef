import ConformanceCorpora
import EDM
import Foundation
import ODataQuery
import Testing

/// The rules of the OData ABNF for primitive values, checked with the test cases of the standard.
@Suite(.enabled(if: LiteralCorpus.isPresent, "skipped: the conformance corpora are not next to the checkout"))
struct `Literals in the test cases of the grammar` {
    @Test(arguments: ["core", "legacy"])
    func `the parser accepts exactly the primitive values that the standard accepts`(suite: String) throws {
        var judged = 0
        for row in try LiteralCorpus.rows("abnf/\(suite).jsonl") {
            let rule = try #require(row["rule"]?.string)
            let input = try #require(row["input"]?.string)
            guard let accepted = accepts(input, rule: rule) else { continue }
            judged += 1
            #expect(accepted == row["valid"]?.flag, "\(rule) \(input)")
        }
        #expect(judged > 15)
    }

    /// Whether the rule matches the whole input, or nil for rules that do not concern primitive values.
    private func accepts(_ input: String, rule: String) -> Bool? {
        let types: [String: PrimitiveType] = [
            "boolean": .boolean, "byte": .byte, "date": .date, "dateTimeOffset": .dateTimeOffset, "decimal": .decimal,
            "double": .double, "duration": .duration, "guid": .guid, "int16": .int16, "int32": .int32, "int64": .int64,
            "timeOfDay": .timeOfDay, "sbyte": .sbyte, "single": .single, "string": .string, "binary": .binary,
        ]
        switch rule {
        case "null", "nullValue": return input == "null"
        case "primitiveValue":
            let values = Set(types.values).subtracting([.string, .boolean])
            return values.contains { reads(input, $0, .json) } || isEnumeration("T.T'\(input)'")
        case "enumValue": return isEnumeration("T.T'\(input)'")
        // The namespace is optional since 4.01.
        case "enumLiteral", "enum": return isEnumeration(input) || isEnumeration("T.T\(input)")
        case "primitiveLiteral": return scanned(input) != nil
        // The rules for integers do not limit the range: +128 matches `sbyte`.
        case "sbyteLiteral", "byteLiteral", "int16Literal", "int32Literal", "int64Literal":
            return scanned(input).map { $0 == .int32 || $0 == .int64 } ?? false
        default: break
        }
        if rule.hasPrefix("geography") || rule.hasPrefix("geometry"),
            let type = PrimitiveType(rawValue: "Edm." + rule.prefix(1).uppercased() + rule.dropFirst())
        {
            return reads(input, type, .url)
        }
        if let type = types[rule] { return decoded(input).map { reads($0, type, .url) } ?? false }
        for (suffix, form) in [
            ("Literal", PrimitiveLiteral.LiteralContext.url), ("ValueInUrl", .url), ("Value", .json),
        ]
        where rule.hasSuffix(suffix) {
            guard let type = types[String(rule.dropLast(suffix.count))] else { return nil }
            let text = form == .url ? decoded(input) : input
            return text.map { reads($0, type, form) } ?? false
        }
        return nil
    }

    private func reads(_ text: String, _ type: PrimitiveType, _ form: PrimitiveLiteral.LiteralContext) -> Bool {
        (try? PrimitiveLiteral.parse(text, as: type, version: .v401, form: form)) != nil
    }

    private func scanned(_ input: String) -> PrimitiveType? {
        guard let text = decoded(input) else { return nil }
        let bytes = Array(text.utf8)
        let literal = PrimitiveLiteral.scan(bytes[...], version: .v401)
        return literal?.length == bytes.count ? literal?.type : nil
    }

    private func isEnumeration(_ text: String) -> Bool {
        PrimitiveLiteral.scanEnumeration(Array(text.utf8)[...])?.length == text.utf8.count
    }

    private func decoded(_ text: String) -> String? { text.removingPercentEncoding }
}
