import EDM
import Foundation
import ODataQuery
import Testing

struct QueryStackTests {
    /// Runs the body on a thread with a stack of 512 KiB, the size for secondary threads on Apple platforms.
    private func onSmallStack(_ body: @escaping @Sendable () throws -> Bool) async -> Bool {
        await withCheckedContinuation { continuation in
            let thread = Thread { continuation.resume(returning: (try? body()) ?? false) }
            thread.stackSize = 512 << 10
            thread.start()
        }
    }

    @Test(arguments: [
        ("(", "A", ")", 60), ("not ", "A", "", 60), ("tolower(", "A", ")", 30), ("-", "A", "", 60),
        ("case(true:", "A", ")", 30), ("A/any(x:", "true", ")", 15), ("A/$count($filter=", "true", ") eq 1", 12),
    ])
    func `the deepest accepted expressions fit on a small stack`(
        open: String, core: String, close: String, depth: Int
    ) async {
        let text = String(repeating: open, count: depth) + core + String(repeating: close, count: depth)
        let isDone = await onSmallStack {
            let expression = try Expression.parse(text, version: .v401)
            _ = try expression.print(version: .v401)
            let scope = EvaluationScope(["A": .null])
            _ = try? ExpressionEvaluator().evaluate(expression, for: scope)
            return true
        }
        #expect(isDone)
    }

    @Test(arguments: [
        "(", "not ", "tolower(", "-", "case(true:", "A/any(x:", "A/$count($filter=", "[", "{\"a\":", "isof(", "A in (",
        "A eq (", "A(", "A/$filter(",
    ])
    func `a deeper expression is rejected before the stack overflows`(open: String) async {
        let isRefused = await onSmallStack {
            (try? Expression.parse(String(repeating: open, count: 10_000) + "A", version: .v401)) == nil
        }
        #expect(isRefused)
    }

    @Test(arguments: ["$expand=A($expand=", "$select=A($select=", "$search=(", "$expand=A($filter=A/$count($filter="])
    func `deeper options are rejected before the stack overflows`(query: String) async {
        let isRefused = await onSmallStack {
            let (name, rest) = (query.prefix { $0 != "=" }, query.drop { $0 != "=" }.dropFirst())
            let text = "\(name)=" + String(repeating: String(rest), count: 10_000)
            return (try? QueryOptions.parse(text, version: .v401)) == nil
        }
        #expect(isRefused)
    }
}
