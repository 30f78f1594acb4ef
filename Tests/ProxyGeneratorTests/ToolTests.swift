import Foundation
import Testing

#if os(macOS) || os(Linux)
    /// The program itself.
    @Suite final class ToolTests {
        private let folder = FileManager.default.temporaryDirectory.appending(path: "proxygen-\(UUID().uuidString)")

        init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }
        deinit { try? FileManager.default.removeItem(at: folder) }

        private func file(_ name: String) -> String { folder.appending(path: name).path }
        private var names: [String] {
            get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
        }

        /// What it says, and its exit code.
        private func run(_ arguments: [String], input: String = "") throws -> (said: String, code: Int32) {
            // The test bundle stands beside the executables that were built with it.
            let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
            var products = URL(filePath: bundle).deletingLastPathComponent()
            let tool = "tidelog-proxygen"
            while products.path != "/", !FileManager.default.isExecutableFile(atPath: "\(products.path)/\(tool)") {
                products.deleteLastPathComponent()
            }
            try Data(input.utf8).write(to: folder.appending(path: ".input"))
            let process = Process()
            let pipe = Pipe()
            process.executableURL = products.appending(path: tool)
            process.arguments = arguments
            process.standardInput = try FileHandle(forReadingFrom: folder.appending(path: ".input"))
            process.standardOutput = pipe
            process.standardError = pipe
            try process.run()
            let said = try pipe.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            try FileManager.default.removeItem(at: folder.appending(path: ".input"))
            return (String(decoding: said, as: UTF8.self), process.terminationStatus)
        }

        @Test func `metadata that is piped in becomes files in the destination`() throws {
            let result = try run(["-d", folder.path, "-s", "Sales"], input: CustomersAndOrders.v2)
            #expect(result == ("", 0))
            #expect(try names == ["Customer.swift", "Order.swift", "Sales.swift", "SalesMetadata.swift"])
        }

        @Test func `a second run replaces what the first one wrote`() throws {
            _ = try run(["-d", folder.path, "-s", "Sales"], input: CustomersAndOrders.v2)
            let result = try run(["-d", folder.path, "-s", "Sales", "--internal"], input: CustomersAndOrders.v2)
            #expect(result == ("", 0))
            #expect(!(try String(contentsOfFile: file("Order.swift"), encoding: .utf8).contains("public ")))
        }

        @Test func `a file of the same name that was not generated stays, and nothing is written`() throws {
            try Data("// mine\n".utf8).write(to: folder.appending(path: "Order.swift"))
            let result = try run(["-d", folder.path], input: CustomersAndOrders.v2)
            #expect(result.code == 1)
            #expect(result.said.contains("Order.swift was not generated and is not replaced."))
            #expect(try names == ["Order.swift"])
        }

        @Test func `a file that cannot be read is named`() throws {
            let result = try run(["-m", file("none.xml"), "-d", folder.path])
            #expect(result.code == 1)
            #expect(result.said.contains("none.xml cannot be read"))
        }

        @Test func `metadata that cannot be read is refused with file and line`() throws {
            try Data("no metadata".utf8).write(to: folder.appending(path: "bad.xml"))
            let result = try run(["-m", file("bad.xml"), "-d", file("out")])
            #expect(result.code == 1)
            #expect(result.said.contains("bad.xml: line 1, column 1: "))
            #expect(try names == ["bad.xml"])
        }
    }
#endif
