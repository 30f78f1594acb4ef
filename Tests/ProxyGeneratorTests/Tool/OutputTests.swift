import Foundation
import Testing

#if os(macOS) || os(Linux)
    /// The files that the program writes, and the files that it leaves unchanged.
    @Suite struct OutputTests {
        private let tool: Tool

        init() throws { tool = try Tool() }

        private let metadata = SmallDocuments.v4(SmallDocuments.type("Order") + SmallDocuments.type("Item"))

        @Test func `metadata from standard input yields files in the destination`() throws {
            let result = try tool.run(["-d", "out", "-s", "Sales"], input: CustomersAndOrders.v2)
            #expect(result == ("", 0))
            #expect(
                try tool.names(in: "out") == ["Customer.swift", "Order.swift", "Sales.swift", "SalesMetadata.swift"])
        }

        @Test func `a second run replaces the files of the first`() throws {
            _ = try tool.run(["-d", "out"], input: metadata)
            let result = try tool.run(["-d", "out", "--internal"], input: metadata)
            #expect(result == ("", 0))
            #expect(!(try tool.text("out/Order.swift").contains("public ")))
        }

        @Test func `a type whose name exceeds the length of file names has a file with a shortened name`() throws {
            let names =
                (1...2).map { String(repeating: "\u{6F22}", count: 120) + "\($0)" } + [
                    String(repeating: "A", count: 128)
                ]
            let metadata = SmallDocuments.v4(names.map { SmallDocuments.type($0) }.joined())
            #expect(try tool.run(["-d", "out"], input: metadata) == ("", 0))
            let files = try tool.names(in: "out")
            #expect(files.count == 5)
            #expect(files.allSatisfy { $0.utf8.count <= 255 })
            #expect(try tool.run(["-d", "out"], input: metadata) == ("", 0))
            #expect(try tool.names(in: "out") == files)
        }

        @Test func `an unchanged file is not written again`() throws {
            _ = try tool.run(["-d", "out"], input: metadata)
            let old = Date(timeIntervalSince1970: 1_000_000)
            try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: tool.path("out/Order.swift"))
            _ = try tool.run(["-d", "out"], input: metadata)
            let attributes = try FileManager.default.attributesOfItem(atPath: tool.path("out/Order.swift"))
            #expect(attributes[.modificationDate] as? Date == old)
        }

        @Test func `a file of the same name that was not generated is kept, and no files are written`() throws {
            try tool.write("// mine\n", to: "out/Order.swift")
            let result = try tool.run(["-d", "out"], input: metadata)
            #expect(result.code == 1)
            #expect(result.said.contains("Order.swift was not generated and is not overwritten."))
            #expect(try tool.names(in: "out") == ["Order.swift"])
        }

        @Test func `a directory with the name of a file is kept, and no files are written`() throws {
            try tool.write("", to: "out/Order.swift/mine")
            let result = try tool.run(["-d", "out"], input: metadata)
            #expect(result.code == 1)
            #expect(try tool.names(in: "out") == ["Order.swift"])
        }

        @Test func `a file whose type was removed is deleted`() throws {
            _ = try tool.run(["-d", "out"], input: metadata)
            let result = try tool.run(["-d", "out", "-v"], input: SmallDocuments.v4(SmallDocuments.type("Order")))
            #expect(result.said.contains("Removed: out/Item.swift"))
            #expect(try tool.names(in: "out") == ["Container.swift", "ContainerMetadata.swift", "Order.swift"])
        }

        @Test func `files of another service and handwritten files are kept`() throws {
            _ = try tool.run(["-d", "out", "-s", "First"], input: SmallDocuments.v4(SmallDocuments.type("Order")))
            try tool.write("// mine\n", to: "out/Mine.swift")
            let other = SmallDocuments.v4(SmallDocuments.type("Item"), namespace: "Other")
            #expect(try tool.run(["-d", "out", "-s", "Second"], input: other) == ("", 0))
            #expect(try tool.names(in: "out").count == 7)
        }

        @Test func `a file of the same name of another service is kept, and no files are written`() throws {
            let first = SmallDocuments.v4(SmallDocuments.type("Order"))
            let second = SmallDocuments.v4(
                SmallDocuments.type("Item") + SmallDocuments.type("Order"), namespace: "Other")
            _ = try tool.run(["-d", "out", "-s", "First"], input: first)
            let text = try tool.text("out/Order.swift")
            let result = try tool.run(["-d", "out", "-s", "Second"], input: second)
            #expect(result.code == 1)
            #expect(result.said.contains("out/Order.swift was generated for another service and is not overwritten."))
            #expect(try tool.names(in: "out") == ["First.swift", "FirstMetadata.swift", "Order.swift"])
            #expect(try tool.text("out/Order.swift") == text)
        }

        @Test func `a single file with the name in the option is replaced, also for another service`() throws {
            _ = try tool.run(["-d", "out", "-s", "First", "--single-file", "All.swift"], input: metadata)
            #expect(
                try tool.run(["-d", "out", "-s", "Second", "--single-file", "All.swift"], input: metadata).code == 0)
            #expect(try tool.text("out/All.swift").contains("class Second: DataService"))
        }

        @Test func `no file is deleted if the metadata is invalid`() throws {
            _ = try tool.run(["-d", "out"], input: metadata)
            let before = try tool.names(in: "out")
            #expect(try tool.run(["-d", "out"], input: String(metadata.dropLast(20))).code == 1)
            #expect(try tool.names(in: "out") == before)
        }

        @Test func `a destination that cannot be created leaves no files`() throws {
            try tool.write("", to: "file")
            let result = try tool.run(["-d", "file/a/b"], input: metadata)
            #expect(result.code == 1)
            #expect(result.said.hasPrefix("tidelog-proxygen: file/a/b cannot be written: "))
            #expect(try tool.names() == ["file"])
        }

        @Test(.enabled(if: geteuid() != 0, "skipped: root may write everywhere"))
        func `a destination without write permission is not changed`() throws {
            try tool.write("", to: "out/other")
            try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: tool.path("out"))
            let result = try tool.run(["-d", "out"], input: metadata)
            #expect(result.code == 1)
            #expect(try tool.names(in: "out") == ["other"])
        }

        @Test func `directories that were created for a failed run are removed`() throws {
            // No file system supports a name of more than 255 bytes.
            let name = String(repeating: "T", count: 300) + ".swift"
            let result = try tool.run(["-d", "a/b", "--single-file", name], input: metadata)
            #expect(result.code == 1)
            #expect(try tool.names() == [])
        }

        @Test func `a single file contains all classes`() throws {
            let result = try tool.run(["-d", "out", "--single-file", "All.swift"], input: metadata)
            #expect(result == ("", 0))
            #expect(try tool.names(in: "out") == ["All.swift"])
            #expect(try tool.text("out/All.swift").contains("class Item"))
        }

        @Test(arguments: ["All", "../All.swift", ".swift", "a/All.swift"])
        func `the name of a single file must be the name of a Swift file`(name: String) throws {
            #expect(try tool.run(["-d", "out", "--single-file", name], input: metadata).code == 1)
            #expect(try tool.names() == [])
        }
    }
#endif
