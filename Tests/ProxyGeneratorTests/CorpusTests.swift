import Foundation
import ProxyGenerator
import Testing

/// Generation from the metadata of real services.
@Suite(.enabled(if: CSDLCorpus.isPresent, "skipped: the conformance corpora are not next to the checkout"), .serialized)
struct CorpusTests {
    private static let valid = CSDLCorpus.rows.filter { !$0.isInvalid && $0.entityTypes > 0 }

    @Test func `each valid document yields a file for each type and two for the service`() throws {
        for row in Self.valid {
            let names = try ProxySources(row).files.map { $0.name.lowercased() }
            #expect(names.count == row.types + 2, "\(row)")
            #expect(Set(names).count == names.count, "\(row)")
        }
    }

    @Test(arguments: CSDLCorpus.rows.filter { !$0.isInvalid && $0.entityTypes == 0 })
    func `a valid document without entity types is refused`(row: CSDLCorpus.Row) throws {
        #expect {
            try ProxySources(row)
        } throws: {
            guard case .noEntityTypes? = $0 as? ProxyError else { return false }
            return true
        }
    }

    @Test(arguments: CSDLCorpus.rows.filter(\.isInvalid))
    func `an invalid document is refused with its line, or its omitted elements are noted`(row: CSDLCorpus.Row) throws {
        do {
            let notes = try ProxySources(row).notes
            #expect(row.file.hasSuffix("sap-invalid-references.xml"))
            #expect(notes.count { $0.contains("Omitted: Annotation") } == 2, "\(notes)")
        } catch {
            guard case .metadata? = error as? ProxyError else {
                Issue.record("\(row): \(error)")
                return
            }
        }
    }

    #if os(macOS) || os(Linux)
        @Test(.enabled(if: Compiler.path != nil, "skipped: there is no swiftc on the search path"))
        func `the sources of every valid document parse`() throws {
            let files = try Self.valid.map { row in
                try ProxySources(row).singleFile(named: row.file.replacing("/", with: "_") + ".swift")
            }
            #expect(files.count > 90)
            let complaints = try Compiler.complaints(files)
            #expect(complaints == "")
        }

        /// Services that differ in version, size and features. SAP Business One, with 382 entity types, is the largest
        /// one that compiles in reasonable time. The sources for Microsoft Graph are only parsed.
        static let compiled: [(file: String, options: ProxyOptions)] = [
            ("v2/northwind-v2.xml", ProxyOptions()),
            ("v2/sap-api-sales-order.xml", ProxyOptions(disablesOptionals: true)),
            ("v2/sap-epm-prod-man.xml", ProxyOptions(isInternal: true)),
            ("v2/pyodata-example-srv.xml", ProxyOptions()),
            ("v2/function-import-scenario.xml", ProxyOptions()),
            ("v3/sap-business-one-v3.xml", ProxyOptions(allowsCaseConflicts: true)),
            ("v3/odata-svc-rw-v3.xml", ProxyOptions(prefix: "Demo")),
            ("v4/northwind-v4.xml", ProxyOptions(disablesOptionals: true)),
            ("v4/trippin-classic-rw.xml", ProxyOptions(hasOpenEnumerations: true)),
            ("v4/trippin-restier.xml", ProxyOptions()),
            ("v4/odatanet-default-service.xml", ProxyOptions(disablesOptionals: true, hasOpenEnumerations: true)),
            ("v4/olingo-static-service.xml", ProxyOptions()),
            ("v4/oasis-special-characters.xml", ProxyOptions()),
            ("v4/oasis-miscellaneous-v4.01.xml", ProxyOptions(isInternal: true)),
            ("v4/codegen/KeywordsAsNames.xml", ProxyOptions()),
            ("v4/codegen/DupNames.xml", ProxyOptions(allowsCaseConflicts: true)),
            ("v4/codegen/OverrideOperations.xml", ProxyOptions()),
            ("v4/codegen/EntityHierarchyWithIDAndId.xml", ProxyOptions(allowsCaseConflicts: true)),
        ]

        @Test(
            .enabled(if: Compiler.hasModules, "skipped: there is no swiftc, or no module to compile with"),
            arguments: compiled)
        func `sources for a real service compile without a warning`(file: String, options: ProxyOptions) throws {
            let sources = try ProxySources(metadata: CSDLCorpus.bytes("csdl/" + file), options: options)
            let complaints = try Compiler.typeComplaints(sources.files)
            #expect(complaints == "")
        }

        @Test(
            .enabled(if: Compiler.hasModules, "skipped: there is no swiftc, or no module to compile with"),
            arguments: ["v4/trippin-classic-rw.xml", "v4/odatanet-default-service.xml"])
        func `sources compile in a module whose default isolation is the main actor`(file: String) throws {
            let sources = try ProxySources(metadata: CSDLCorpus.bytes("csdl/" + file))
            let complaints = try Compiler.typeComplaints(sources.files, "-default-isolation", "MainActor")
            #expect(complaints == "")
        }

        @Test(.enabled(if: Compiler.hasModules, "skipped: there is no swiftc, or no module to compile with"))
        func `sources of a service of several documents compile`() throws {
            func source(_ name: String) throws -> MetadataSource {
                MetadataSource(name: name, bytes: try CSDLCorpus.bytes("csdl/v4/modelref/" + name))
            }
            let others = ["GPS.xml", "Location.xml", "Map.xml", "CoreTerms.xml", "DeviceModelTerms.xml"]
            let sources = try ProxySources(
                source("ODataModelRefServiceCsdl.xml"), references: others.map(source))
            #expect(sources.files.count > 7)
            let complaints = try Compiler.typeComplaints(sources.files)
            #expect(complaints == "")
        }
    #endif
}

extension ProxySources {
    /// Creates sources. Names that differ only in case are allowed, because some documents contain them.
    fileprivate init(_ row: CSDLCorpus.Row) throws {
        try self.init(
            metadata: CSDLCorpus.bytes(row.file), options: ProxyOptions(allowsCaseConflicts: true))
    }
}
