import ProxyGenerator
import Testing

/// Real services' metadata.
@Suite(.enabled(if: CSDLCorpus.isPresent, "skipped: the conformance corpora are not beside the checkout"))
struct CorpusTests {
    @Test(arguments: CSDLCorpus.rows.filter { !$0.isInvalid && $0.entityTypes > 0 })
    func `a valid document gives a file for each entity type, and two for the service`(row: CSDLCorpus.Row) throws {
        let options = ProxyOptions(allowsCaseConflicts: true)
        let sources = try ProxySources(metadata: CSDLCorpus.bytes(row.file), options: options)
        let names = sources.files.map { $0.name.lowercased() }
        #expect(names.count == row.entityTypes + 2)
        #expect(Set(names).count == names.count)
    }

    @Test(arguments: CSDLCorpus.rows.filter { !$0.isInvalid && $0.entityTypes == 0 })
    func `a valid document without entity types gives nothing`(row: CSDLCorpus.Row) throws {
        let bytes = try CSDLCorpus.bytes(row.file)
        #expect(throws: ProxyError.noEntityTypes(document: nil)) { try ProxySources(metadata: bytes) }
    }

    @Test(arguments: CSDLCorpus.rows.filter(\.isInvalid))
    func `an invalid document is refused with its line`(row: CSDLCorpus.Row) throws {
        let bytes = try CSDLCorpus.bytes(row.file)
        #expect {
            try ProxySources(metadata: bytes)
        } throws: {
            guard case .metadata? = $0 as? ProxyError else { return false }
            return true
        }
    }

    #if os(macOS) || os(Linux)
        @Test(
            .enabled(if: Compiler.path != nil, "skipped: there is no swiftc on the search path"),
            arguments: [
                "v2/northwind-v2.xml", "v2/olingo-refscenario.xml", "v2/sap-api-sales-order.xml", "v3/northwind-v3.xml",
                "v4/trippin-classic-rw.xml", "v4/oasis-special-characters.xml", "v4/oasis-miscellaneous-v4.01.xml",
                "v4/sap-travel-sflight.xml",
            ])
        func `sources for a real service parse`(file: String) throws {
            let files = try ProxySources(metadata: CSDLCorpus.bytes("csdl/" + file)).files
            #expect(try Compiler.complaints(files) == "")
        }
    #endif
}
