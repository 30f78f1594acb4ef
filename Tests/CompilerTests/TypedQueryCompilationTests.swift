import Foundation
import TestSupport
import Testing

#if os(Linux)
    /// Expressions that the compiler must accept or reject.
    @Suite(.enabled(if: SwiftCompiler.path != nil, "skipped: there is no compiler"), .timeLimit(.minutes(30)))
    struct TypedQueryCompilationTests {
        /// Pairs of an expression that must compile and one that must not.
        static let pairs: [(allowed: String, refused: String)] = [
            ("Person.name > \"a\"", "Person.name > 10"),
            ("Errand.number == 10", "Errand.number == \"10\""),
            ("Errand.number == 10", "Errand.number == 10.5"),
            ("Person.name.startsWith(\"A\")", "Errand.number.startsWith(\"A\")"),
            ("Person.name.length() > 3", "Errand.cost.length() > 3"),
            ("Person.errands.any { $0.cost > 10 }", "Person.boss.any { $0.personID > 10 }"),
            ("Person.boss.name == \"x\"", "Person.errands.title == \"x\""),
            ("Person.errands.any { $0.cost > 10 }", "Person.errands.any { $0.emails == nil }"),
            ("Person.emails.any { $0 == \"x\" }", "Person.name.any { $0 == \"x\" }"),
            ("Person.photo == [1, 2]", "Person.photo.any { $0 == UInt8(1) }"),
            ("Errand.cost > DecimalValue([1].count)", "Errand.cost > [1].count"),
            ("Errand.cost > Errand.number", "Errand.cost > Errand.title"),
            ("Errand.day == Errand.due.date()", "Errand.day == Errand.due"),
            ("Errand.color == .red", "Errand.color > .red"),
            ("Errand.color == .red", "Errand.color == Errand.days"),
            ("Errand.days.has(.mon)", "Errand.color.has(.red)"),
            ("Person.token == GuidValue(high: 0, low: 0)", "Person.token > GuidValue(high: 0, low: 0)"),
            ("Errand.due.year() == 2024", "Errand.title.year() == 2024"),
            ("Errand.due.hour() == 1", "Errand.day.hour() == 1"),
            ("Errand.number + 1 == 2", "Person.name + \"x\" == \"y\""),
            ("Errand.day + Errand.length > Errand.day", "Errand.day + 1 > Errand.day"),
            ("Errand.cost * Errand.number > 1", "Errand.cost * Errand.hours > 1"),
            ("Errand.cost.promoted(to: Double.self) * Errand.hours > 1", "Errand.title.promoted(to: Double.self) > 1"),
            ("Person.boss == nil", "Person.reports == nil && Person.name == \"x\""),
            ("Person.address.city == \"Rome\"", "Person.address == \"Rome\""),
            ("Person.boss.path(Person.name) == \"x\"", "Person.boss.path(Errand.title) == \"x\""),
            ("Person.reports.of(Employee.self).any { $0.salary > 1 }", "Person.reports.any { $0.salary > 1 }"),
            ("Person.isMember == true && Person.name == \"x\"", "Person.isMember && Person.name == \"x\""),
            ("Errand.number.isIn([1, 2])", "Errand.number.isIn([\"1\"])"),
            ("QueryFilter.entityExists(Person.boss)", "QueryFilter.entityExists(Person.name)"),
            ("DataQuery().expand(Person.boss)", "DataQuery().expand(Person.name)"),
            ("DataQuery().orderBy(Person.name)", "DataQuery().orderBy(Person.emails)"),
            ("DataQuery().orderBy(Person.address.city)", "DataQuery().orderBy(Person.address)"),
            ("DataQuery().orderBy(Person.boss.name)", "DataQuery().orderBy(Person.boss)"),
            ("DataQuery().aggregate(Errand.cost.sum(as: \"s\"))", "DataQuery().aggregate(Errand.title.sum(as: \"s\"))"),
        ]

        /// Expressions of ten conditions: in a row, with arithmetic, and within a lambda.
        static let long = [
            """
            Errand.title == "x" && Errand.cost > 10 || Errand.number < 5 && Errand.person.name != nil
                && Errand.number < Errand.cost || Errand.color == .red && Errand.title.length() > 3
                && Errand.hours > 2.5 || Errand.due < .now && Errand.days.has(.mon)
            """,
            """
            Errand.number + 1 > 10 && Errand.number * 2 < 5 || Errand.cost * 2 - 1 < 10.5 && Errand.cost + 1 > 2.5
                && Errand.number - Errand.number == 3 || Errand.hours * 2 < 3 && Errand.hours / 3 > 2.5
                && -Errand.number == -4 || Errand.cost * Errand.number > 20 && Errand.due + Errand.length < .now
            """,
            """
            Person.errands.any {
                $0.title == "x" && $0.cost > 10 || $0.number < 5 && $0.person.name != nil && $0.number < $0.cost
                    || $0.color == .red && $0.title.length() > 3 && $0.hours > 2.5 || $0.due < .now && $0.days.has(.mon)
            }
            """,
        ]

        @Test func `the compiler rejects exactly the expressions that the types do not allow`() throws {
            let allowed = Self.pairs.enumerated().map { Self.function("allowed\($0)", $1.allowed) }
            let refused = Self.pairs.enumerated().map { Self.function("refused\($0)", $1.refused) }
            let said = try Self.complaints(["Allowed.swift": allowed, "Refused.swift": refused])
            #expect(!said.contains { $0.contains("Allowed.swift") || $0.contains("People.swift") }, "\(said)")
            // After the import, each line is one function.
            let accepted = Self.pairs.enumerated().filter { line, _ in
                !said.contains { $0.contains("Refused.swift:\(line + 2):") && $0.contains(" error: ") }
            }
            #expect(accepted.map(\.element.refused) == [])
        }

        @Test func `an expression of ten conditions compiles in less than half a second`() throws {
            let functions = Self.long.enumerated().map { Self.function("long\($0)", $1) }
            let said = try Self.complaints(
                ["Long.swift": functions], "-Xfrontend", "-warn-long-expression-type-checking=500")
            #expect(said.isEmpty, "\(said)")
        }

        /// Returns the errors and warnings for files that import Tidelog and use the typed classes of `TidelogTests`.
        private static func complaints(_ files: [String: [String]], _ options: String...) throws -> [String] {
            let classes = URL(filePath: #filePath).appending(path: "../../TidelogTests/Typed/People.swift").standardized
            let (_, output) = try SwiftCompiler.run(
                ["-typecheck", "-swift-version", "6", "-parse-as-library", "-diagnostic-style", "llvm", classes.path]
                    + options + SwiftCompiler.searchPaths,
                files.sorted { $0.key < $1.key }.map {
                    (name: $0.key, text: (["import Tidelog"] + $0.value).joined(separator: "\n"))
                })
            return output.split(separator: "\n").map(String.init)
                .filter { $0.contains("error: ") || $0.contains(" warning: ") }
        }

        private static func function(_ name: String, _ expression: String) -> String {
            "func \(name)() { let it = \(expression); let _: any Sendable = it as \(type(of: expression)) }"
        }

        private static func type(of expression: String) -> String {
            expression.hasPrefix("DataQuery") ? "DataQuery" : "QueryFilter"
        }
    }
#endif
