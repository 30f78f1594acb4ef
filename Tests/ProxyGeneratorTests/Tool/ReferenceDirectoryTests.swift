import Foundation
import Testing

#if os(macOS) || os(Linux)
    /// The directories in which the program searches for referenced documents.
    @Suite struct ReferenceDirectoryTests {
        private let tool: Tool

        init() throws { tool = try Tool() }

        private func metadata(_ uri: String) -> String {
            SmallDocuments.v4(
                "<EntityType Name=\"Employee\" BaseType=\"Other.Person\"/>",
                references: SmallDocuments.reference(uri, "People.V1"))
        }

        private let people = SmallDocuments.v4(SmallDocuments.type("Person"), namespace: "People.V1", container: false)

        @Test(arguments: [
            ("https://example.org/a/people.xml", "people.xml"), ("people.xml?x=1", "people.xml"),
            ("sub/people.xml", "sub/people.xml"), ("sub/people.xml", "people.xml"), ("/abs/people.xml", "people.xml"),
            ("my%20people.xml", "my people.xml"), ("https://example.org/odata", "People.V1.xml"),
            ("https://example.org/odata", "anything.edmx"), ("../people.xml", "people.xml"),
        ])
        func `a referenced document is found by its URI, its namespace or its declarations`(uri: String, file: String)
            throws
        {
            try tool.write(metadata(uri), to: "m.xml")
            try tool.write(people, to: file)
            #expect(try tool.run(["-m", "m.xml", "-d", "out"]) == ("", 0))
            #expect(try tool.names(in: "out").contains("Person.swift"))
        }

        @Test(arguments: ["-reference", "--reference"])
        func `a referenced document is read from the directory in the option`(option: String) throws {
            try tool.write(people, to: "other/people.xml")
            #expect(try tool.run([option, "other", "-d", "out"], input: metadata("people.xml")) == ("", 0))
            #expect(try tool.names(in: "out").contains("Person.swift"))
        }

        @Test(arguments: ["../people.xml", "sub/../../people.xml", "%2e%2e/people.xml"])
        func `no document outside of the directory is read`(uri: String) throws {
            try tool.write(people, to: "people.xml")
            try tool.write(metadata(uri), to: "in/m.xml")
            let result = try tool.run(["-m", "in/m.xml", "-d", "out", "-v"])
            #expect(result.said.contains("People.V1.Person is not declared in any document that was read."))
            #expect(!(try tool.names(in: "out").contains("Person.swift")))
        }

        @Test func `a type with a base type in a missing document has no inherited properties`() throws {
            try tool.write(metadata("people.xml"), to: "m.xml")
            #expect(try tool.run(["-m", "m.xml", "-d", "out"]) == ("", 0))
            #expect(try tool.text("out/Employee.swift").contains("class Employee: EntityValue"))
        }

        @Test func `a document with the expected name and a different namespace is ignored`() throws {
            try tool.write(metadata("people.xml"), to: "m.xml")
            try tool.write(SmallDocuments.v4(SmallDocuments.type("Person"), namespace: "Else"), to: "people.xml")
            #expect(try tool.run(["-m", "m.xml", "-d", "out"]) == ("", 0))
            #expect(!(try tool.names(in: "out").contains("Person.swift")))
        }

        @Test(arguments: ["people.xml", "https://example.org/odata"])
        func `a document that only mentions the namespace is ignored`(uri: String) throws {
            let mention = SmallDocuments.reference("people.xml", "People.V1") + "<!-- Namespace=\"People.V1\" -->"
            try tool.write(metadata(uri), to: "m.xml")
            try tool.write(
                SmallDocuments.v4(SmallDocuments.type("Else"), namespace: "Else", references: mention), to: "alpha.xml")
            try tool.write(
                SmallDocuments.v4(SmallDocuments.type("Else"), namespace: "Else", references: mention), to: "people.xml"
            )
            try tool.write(people, to: "zeta.xml")
            #expect(try tool.run(["-m", "m.xml", "-d", "out"]) == ("", 0))
            #expect(try tool.names(in: "out").contains("Person.swift"))
            #expect(!(try tool.names(in: "out").contains("Else.swift")))
        }

        @Test func `the namespace is recognized in any XML notation`() throws {
            try tool.write(metadata("https://example.org/odata"), to: "m.xml")
            try tool.write(
                people.replacing("Namespace=\"People.V1\"", with: "Namespace = 'People.V1'"), to: "other.xml")
            #expect(try tool.run(["-m", "m.xml", "-d", "out"]) == ("", 0))
            #expect(try tool.names(in: "out").contains("Person.swift"))
        }

        @Test func `an invalid document without references to it is ignored`() throws {
            try tool.write(metadata("https://example.org/odata"), to: "m.xml")
            try tool.write(String(people.dropLast(10)), to: "alpha.xml")
            try tool.write(people, to: "zeta.xml")
            #expect(try tool.run(["-m", "m.xml", "-d", "out"]) == ("", 0))
            #expect(try tool.names(in: "out").contains("Person.swift"))
        }

        @Test func `a referenced document that is invalid is refused with its name`() throws {
            try tool.write(metadata("people.xml"), to: "m.xml")
            try tool.write(String(people.dropLast(10)), to: "people.xml")
            let result = try tool.run(["-m", "m.xml", "-d", "out"])
            #expect(result.code == 1)
            #expect(result.said.contains("people.xml: line "))
        }

        @Test func `a directory with the name of the document is ignored`() throws {
            try tool.write(metadata("people.xml"), to: "m.xml")
            try tool.write("", to: "people.xml/x")
            #expect(try tool.run(["-m", "m.xml", "-d", "out"]) == ("", 0))
        }
    }
#endif
