import ProxyGenerator
import Testing
import Tidelog

/// Documents that are referenced by metadata.
@Suite struct ReferenceTests {
    private func source(_ name: String, _ text: String) -> MetadataSource {
        MetadataSource(name: name, bytes: Array(text.utf8))
    }

    private func needing(_ namespace: String) -> MetadataSource {
        source(
            "m.xml",
            SmallDocuments.v4(
                "<EntityType Name=\"Employee\" BaseType=\"\(namespace).Person\"/>",
                references: SmallDocuments.reference("http://h/p.xml", namespace)))
    }

    private func person(in namespace: String, base: String? = nil) -> MetadataSource {
        let references = base.map { SmallDocuments.reference("\($0).xml", $0) } ?? ""
        let type =
            base.map { "<EntityType Name=\"Person\" BaseType=\"\($0).Person\"/>" } ?? SmallDocuments.type("Person")
        return source(
            "\(namespace).xml",
            SmallDocuments.v4(type, namespace: namespace, references: references, container: false))
    }

    @Test func `a missing document is requested by namespace, with the URIs of its references`() throws {
        var asked: [ReferencedDocuments.NeededNamespace] = []
        let references = try ReferencedDocuments(of: needing("P")) { wanted in
            asked.append(wanted)
            return nil
        }
        #expect(asked.map(\.namespace) == ["P"])
        #expect(asked.map(\.uris) == [["http://h/p.xml"]])
        #expect(references.unresolved == ["P.Person"])
    }

    @Test func `the references of a referenced document are requested as well`() throws {
        let all = ["P": person(in: "P", base: "Q"), "Q": person(in: "Q")]
        let references = try ReferencedDocuments(of: needing("P")) { all[$0.namespace] }
        #expect(references.found.map(\.name) == ["P.xml", "Q.xml"])
        #expect(references.unresolved == [])
    }

    @Test func `each of two documents that refer to each other is read once`() throws {
        let p = source(
            "p",
            SmallDocuments.v4(
                SmallDocuments.type("Person", "<NavigationProperty Name=\"E\" Type=\"N.Employee\"/>"), namespace: "P"))
        let references = try ReferencedDocuments(of: needing("P")) { _ in p }
        #expect(references.found.map(\.name) == ["p"])
    }

    @Test func `a namespace that only annotations use is not requested`() throws {
        let text = SmallDocuments.v4(
            SmallDocuments.type("Order", "<Annotation Term=\"Other.Label\" String=\"x\"/>"),
            references: SmallDocuments.reference("x", "Words"))
        _ = try ReferencedDocuments(of: source("m", text)) { wanted in
            Issue.record("asked for \(wanted.namespace)")
            return nil
        }
    }

    @Test func `an endless chain of documents is refused`() {
        #expect(throws: ProxyError.tooManyReferences(document: "m.xml")) {
            try ReferencedDocuments(of: needing("P1")) { wanted in
                person(in: wanted.namespace, base: "P\((Int(wanted.namespace.dropFirst()) ?? 0) + 1)")
            }
        }
    }

    @Test func `a referenced document that is invalid is refused with its name and line`() {
        #expect {
            try ReferencedDocuments(of: needing("P")) { _ in source("p.xml", "<a/>") }
        } throws: {
            guard case .metadata(let place, _)? = $0 as? ProxyError else { return false }
            return place.document == "p.xml" && place.line == 1
        }
    }

    @Test func `a class is generated for a type of another document, and the document is embedded`() throws {
        let files = try ProxySources(needing("P"), references: [person(in: "P")]).files
        #expect(files.map(\.name) == ["Container.swift", "ContainerMetadata.swift", "Employee.swift", "Person.swift"])
        #expect(files[1].text.contains("references: ["))
        #expect(files[2].text.contains("class Employee: Person"))
    }

    @Test func `several embedded documents are read as one model`() throws {
        let main = String(decoding: needing("P").bytes, as: UTF8.self)
        let other = String(decoding: person(in: "P").bytes, as: UTF8.self)
        let embedded = EmbeddedMetadata(main, references: [other])
        #expect(embedded.property("ID", of: "N.Employee").declaringType == "P.Person")
    }

    #if os(macOS) || os(Linux)
        @Test(.enabled(if: Compiler.path != nil, "skipped: there is no swiftc on the search path"))
        func `sources of several documents parse`() throws {
            let files = try ProxySources(needing("P"), references: [person(in: "P", base: "Q"), person(in: "Q")]).files
            #expect(try Compiler.complaints(files) == "")
        }

        @Test(.enabled(if: Compiler.path != nil, "skipped: there is no swiftc on the search path"))
        func `sources in a single file parse`() throws {
            let file = try ProxySources(needing("P"), references: [person(in: "P")]).singleFile(named: "All.swift")
            #expect(try Compiler.complaints([file]) == "")
        }
    #endif

    @Test func `a single file has one first line, one import and every class`() throws {
        let file = try ProxySources(needing("P"), references: [person(in: "P")]).singleFile(named: "All.swift")
        #expect(file.text.hasPrefix(GeneratedFile.mark))
        let lines = file.text.split(separator: "\n")
        #expect(lines.count { $0.hasSuffix("import Tidelog") } == 1)
        #expect(lines.count { $0.hasPrefix("nonisolated ") && $0.hasSuffix("{") } == 4)
    }
}
