import Foundation
import Testing

/// Functions that are not optimized because the compiler would crash.
@Suite struct OptimizerCrashTests {
    private let marker = "// Optimizer crash: see Tools/optimizer-crash."

    /// Returns the numbers of the lines that disable the optimization of a function without the marker on the line
    /// before. Another attribute may be between the two.
    private func unmarked(_ source: String) -> [Int] {
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }
        return lines.indices.filter { index in
            guard lines[index].hasPrefix("@"), lines[index].contains("@_optimize(none)") else { return false }
            return lines[..<index].last { !$0.hasPrefix("@") } != marker
        }.map { $0 + 1 }
    }

    @Test func `functions that are not optimized refer to the reduced case`() throws {
        for path in try PackageSources.swiftFiles("Sources") {
            let lines = unmarked(try PackageSources.text(path))
            #expect(lines.isEmpty, "\(path):\(lines): put `\(marker)` before `@_optimize(none)`")
        }
    }

    @Test func `the marker is the line before the attributes`() {
        let source = """
            // Optimizer crash: see Tools/optimizer-crash.
            @inline(never) @_optimize(none)
            func marked() {}

            // Optimizer crash: see Tools/optimizer-crash.
            @inline(never)
            @_optimize(none)
            func markedToo() {}

            // It is slow.
            @_optimize(none)
            func unmarked() {}
            """
        #expect(unmarked(source) == [11])
    }
}
