import TestSupport
import Testing

#if os(Linux)
    /// Mistakes that the compiler explains.
    @Suite(.enabled(if: SwiftCompiler.path != nil, "skipped: there is no compiler"), .timeLimit(.minutes(30)))
    struct `Errors of the compiler` {
        static let given = """
            func given(_ price: DecimalValue, _ count: Int, _ weight: Double, _ date: Date, _ moment: GlobalDateTime,
                _ day: LocalDate, _ uuid: UUID, _ guid: GuidValue, _ number: Decimal, _ local: LocalDateTime) {
            """

        /// Statements, and the beginning of the error that explains the mistake.
        static let mistakes: [(statement: String, message: String)] = [
            ("_ = price / 3", "A quotient may have infinitely many digits."),
            ("_ = price * count", "Convert the other number: a * DecimalValue(b)"),
            ("_ = count * price", "Convert the other number: DecimalValue(a) * b"),
            ("_ = price + weight", "Convert the other number: a + DecimalValue(b)"),
            ("_ = weight - price", "Convert the other number: DecimalValue(a) - b"),
            ("_ = price - number", "Convert the other number: a - DecimalValue(b)"),
            ("_ = moment < moment", "Two values can be the same point in time: compare a.instant < b.instant"),
            ("let now: GlobalDateTime? = .now", "Write GlobalDateTime(.now), which is part of TidelogFoundation"),
            ("_ = LocalDate(date)", "The day depends on the time zone: LocalDate(date, in: .current)"),
            ("_ = LocalTime(date)", "The time of day depends on the time zone"),
            ("_ = LocalDateTime(date)", "Choose a time zone"),
            ("_ = Date(day)", "A day has no time zone: Date(startOf: day, in: .current)"),
            ("_ = Date(local)", "Choose a time zone"),
        ]

        static let withoutImport: [(statement: String, message: String)] = [
            "GlobalDateTime(date)", "GuidValue(uuid)", "DecimalValue(number)", "Date(moment)", "UUID(guid)",
            "Decimal(price)",
        ].map { ("_ = \($0)", "Import TidelogFoundation, a product of the package Tidelog") }

        /// Statements that must compile next to the unavailable operators.
        static let right = """
            _ = price * 2 + 0.5 - 1
            _ = (price + 1) * (2 + price) - -price
            _ = [price, 1, 2.5].reduce(0, +)
            _ = price * DecimalValue(count) + DecimalValue(weight)
            _ = price.divided(by: 3, scale: 2)
            var sum = price
            sum += 1; sum -= price; sum *= 2
            _ = GlobalDateTime(date); _ = GuidValue(uuid); _ = DecimalValue(number); _ = Date(moment); _ = UUID(guid)
            _ = Decimal(price); _ = Date(utc: local); _ = LocalDate(date, in: .current)
            _ = count * 2; _ = weight / 3; _ = number * 2; _ = 10 / 3; _ = 1.5 * 2
            let now: GlobalDateTime? = GlobalDateTime(.now)
            _ = now
            """

        private func errors(_ statements: [String], imports: [String]) throws -> [String] {
            let lines = imports.map { "import \($0)" } + [Self.given] + statements + ["}"]
            let options = [
                "-typecheck", "-swift-version", "6", "-parse-as-library", "-suppress-warnings", "-diagnostic-style",
                "llvm",
            ]
            let result = try SwiftCompiler.run(
                options + SwiftCompiler.searchPaths, [(name: "Mistakes.swift", text: lines.joined(separator: "\n"))])
            let errors = result.output.split(separator: "\n").map(String.init).filter { $0.contains(" error: ") }
            return result.status == 0 || !errors.isEmpty ? errors : [result.output]
        }

        private func expectMistakes(
            _ mistakes: [(statement: String, message: String)], imports: [String],
            sourceLocation: SourceLocation = #_sourceLocation
        ) throws {
            let found = try errors(mistakes.map(\.statement), imports: imports)
            for (index, mistake) in mistakes.enumerated() {
                // The given constants are two lines.
                let line = found.filter { $0.contains("Mistakes.swift:\(imports.count + index + 3):") }
                #expect(
                    line.count == 1 && line[0].contains(mistake.message), "\(mistake.statement): \(line)",
                    sourceLocation: sourceLocation)
            }
        }

        @Test func `a mistake with numbers and dates is explained`() throws {
            try expectMistakes(Self.mistakes, imports: ["Foundation", "Tidelog", "TidelogFoundation"])
        }

        @Test func `without its import, conversions name the module that has them`() throws {
            try expectMistakes(Self.withoutImport, imports: ["Foundation", "Tidelog"])
        }

        @Test func `correct expressions compile`() throws {
            let found = try errors([Self.right], imports: ["Foundation", "Tidelog", "TidelogFoundation"])
            #expect(found == [])
        }
    }
#endif
