import Foundation
import TestSupport
import Testing

#if os(macOS) || os(Linux)
    /// Each option of the program, in every spelling.
    @Suite struct OptionTests {
        private let tool: Tool

        init() throws { tool = try Tool() }

        private let metadata = SmallDocuments.v4(SmallDocuments.type("Order"))

        @Test(arguments: [["-m", "m.xml"], ["--metadata", "m.xml"], ["--metadata=m.xml"], ["-m", "-"], []])
        func `metadata is read from a file or from standard input`(arguments: [String]) throws {
            try tool.write(metadata, to: "m.xml")
            #expect(try tool.run(arguments + ["-d", "out"], input: metadata) == ("", 0))
            #expect(try tool.names(in: "out").contains("Order.swift"))
        }

        @Test(arguments: ["file://", "FILE://localhost"])
        func `metadata is read from the URL of a file`(scheme: String) throws {
            try tool.write(
                SmallDocuments.v4(
                    "<EntityType Name=\"Boss\" BaseType=\"Other.Person\"/>",
                    references: SmallDocuments.reference("people.xml", "People")), to: "my files/m.xml")
            try tool.write(
                SmallDocuments.v4(SmallDocuments.type("Person"), namespace: "People", container: false),
                to: "my files/people.xml")
            let url = scheme + tool.path("my files/m.xml").replacing(" ", with: "%20")
            #expect(try tool.run(["-m", url, "-d", "out"]) == ("", 0))
            #expect(try tool.names(in: "out").contains("Person.swift"))
        }

        @Test(arguments: ["-s", "--service"])
        func `the service option sets the name of the service class`(option: String) throws {
            #expect(try tool.run([option, "Sales", "-d", "out"], input: metadata) == ("", 0))
            #expect(try tool.names(in: "out") == ["Order.swift", "Sales.swift", "SalesMetadata.swift"])
        }

        @Test(arguments: ["-cp", "-prefix", "--prefix"])
        func `class names begin with the prefix`(option: String) throws {
            #expect(try tool.run([option, "My", "-d", "out"], input: metadata) == ("", 0))
            #expect(
                try tool.names(in: "out") == ["MyContainer.swift", "MyContainerMetadata.swift", "MyOrder.swift"])
        }

        @Test func `files are written to the current directory if there is no destination`() throws {
            #expect(try tool.run([], input: metadata) == ("", 0))
            #expect(try tool.names() == ["Container.swift", "ContainerMetadata.swift", "Order.swift"])
        }

        @Test(arguments: ["-d", "--destination"])
        func `the destination is created with its parent directories`(option: String) throws {
            #expect(try tool.run([option, "a/b c/d"], input: metadata) == ("", 0))
            #expect(try tool.names(in: "a/b c/d").count == 3)
        }

        @Test(arguments: ["-package", "--package"])
        func `the package option creates a folder in the destination`(option: String) throws {
            #expect(try tool.run([option, "My.Sales", "-d", "out"], input: metadata) == ("", 0))
            #expect(try tool.names(in: "out") == ["My.Sales"])
            #expect(try tool.names(in: "out/My.Sales").contains("Order.swift"))
        }

        @Test func `the package none creates no folder`() throws {
            #expect(try tool.run(["-package", "none", "-d", "out"], input: metadata) == ("", 0))
            #expect(try tool.names(in: "out").contains("Order.swift"))
        }

        @Test(arguments: ["-internal", "--internal"])
        func `internal classes are not public`(option: String) throws {
            #expect(try tool.run([option, "-d", "out"], input: metadata) == ("", 0))
            #expect(!(try tool.text("out/Order.swift").contains("public ")))
        }

        @Test(arguments: [
            "-dio", "--disable-optionals", "--disableOptionals", "-open:enumerations", "--open-enumerations",
            "--no-interaction",
        ])
        func `flags are accepted without a message`(flag: String) throws {
            #expect(try tool.run([flag, "-d", "out"], input: metadata) == ("", 0))
        }

        @Test(arguments: ["-p", "--proxylibs"])
        func `the resources option is accepted with a message that it is not needed`(option: String) throws {
            let result = try tool.run([option, "/nowhere", "-d", "out"], input: metadata)
            #expect(
                result == ("tidelog-proxygen: --proxylibs has no effect: the generator has no resources.\n", 0))
        }

        @Test func `options that begin with the same letter are distinguished`() throws {
            let result = try tool.run(
                ["-p", "x", "-prefix", "My", "-package", "Sales", "-parser:ALLOW_CASE_CONFLICTS", "-d", "out"],
                input: SmallDocuments.v4(SmallDocuments.type("Order") + SmallDocuments.type("ORDER")))
            #expect(result.code == 0)
            #expect(try tool.names(in: "out/Sales").contains("MyOrder.swift"))
        }

        @Test(arguments: ["-v", "--verbose"])
        func `verbose prints input, names and written files to standard error`(option: String) throws {
            let result = try tool.output([option, "-d", "out"], input: metadata)
            #expect(result.printed == "")
            for words in ["Read standard input", "N.Order is Order.", "Written: out/Order.swift."] {
                #expect(result.said.contains(words), "\(words)")
            }
        }

        @Test(arguments: ["-h", "--help"])
        func `help lists every spelling of the options`(option: String) throws {
            let result = try tool.output([option])
            #expect(result.code == 0)
            for spelling in [
                "-m, --metadata", "-s, --service", "-cp, -prefix, --prefix", "-d, --destination",
                "-dio, --disable-optionals, --disableOptionals", "--no-interaction", "-v, --verbose", "-p, --proxylibs",
                "-package, --package", "-internal, --internal", "-open:enumerations, --open-enumerations",
                "-reference, --reference", "-annotate, --annotate", "-parser:ALLOW_CASE_CONFLICTS", "-h, --help",
            ] {
                #expect(result.printed.contains(spelling), "\(spelling)")
            }
        }

        // MARK: Case conflicts

        private let conflict = SmallDocuments.v4(SmallDocuments.type("Order") + "\n" + SmallDocuments.type("ORDER"))

        @Test func `names that differ in case only are refused with a message that names the option`() throws {
            let result = try tool.run(["-d", "out"], input: conflict)
            #expect(
                result == (
                    """
                    tidelog-proxygen: standard input: line 4, column 1: The names of the EntityType "ORDER" and of the \
                    EntityType "Order" in line 3 of standard input differ only in case; -parser:ALLOW_CASE_CONFLICTS \
                    allows it.

                    """, 1
                ))
            #expect(try tool.names() == [])
        }

        @Test(arguments: ["-parser:ALLOW_CASE_CONFLICTS", "--allow-case-conflicts"])
        func `the option allows names that differ in case only`(option: String) throws {
            #expect(try tool.run([option, "-d", "out"], input: conflict) == ("", 0))
            #expect(try tool.names(in: "out").count == 4)
        }

        // MARK: Options of the parser (PG-18)

        @Test(arguments: ["-parser:EXCLUDE_SERVER_ONLY_ELEMENTS", "--exclude-server-only"])
        func `elements for the server only have no class`(option: String) throws {
            let secret = SmallDocuments.type("Secret").replacing(
                "</EntityType>",
                with: #"<Annotation Term="com.sap.cloud.server.odata.sql.v1.ServerOnly"/></EntityType>"#)
            let document = SmallDocuments.v4(SmallDocuments.type("Order") + secret)
            #expect(try tool.run(["-d", "all"], input: document).code == 0)
            #expect(try tool.names(in: "all").contains("Secret.swift"))
            #expect(try tool.run([option, "-d", "out"], input: document) == ("", 0))
            #expect(try !tool.names(in: "out").contains("Secret.swift"))
            #expect(try tool.names(in: "out").contains("Order.swift"))
        }

        @Test(arguments: ["-parser:STRICT_FACET_WARNINGS", "--facet-warnings"])
        func `questionable facets are printed to standard error`(option: String) throws {
            let document = SmallDocuments.v4(
                SmallDocuments.type("Order").replacing(
                    "</EntityType>", with: #"<Property Name="Amount" Type="Edm.Decimal" Scale="2"/></EntityType>"#))
            #expect(try tool.run(["-d", "quiet"], input: document) == ("", 0))
            let result = try tool.output([option, "-d", "out"], input: document)
            #expect(result.code == 0)
            #expect(result.said.contains("N.Order/Amount: Edm.Decimal has no Precision."))
        }

        @Test(arguments: ["-parser:IGNORE_ALL_REFERENCES", "--ignore-references"])
        func `referenced documents can be left unread`(option: String) throws {
            try tool.write(
                SmallDocuments.v4(
                    SmallDocuments.type("Order", "<NavigationProperty Name=\"By\" Type=\"People.Person\"/>"),
                    references: SmallDocuments.reference("people.xml", "People")), to: "m.xml")
            try tool.write(
                SmallDocuments.v4(SmallDocuments.type("Person"), namespace: "People", container: false),
                to: "people.xml")
            #expect(try tool.run(["-m", "m.xml", "-d", "all"]) == ("", 0))
            #expect(try tool.names(in: "all").contains("Person.swift"))
            #expect(try tool.run(["-m", "m.xml", option, "-d", "out"]) == ("", 0))
            #expect(try !tool.names(in: "out").contains("Person.swift"))
        }

        @Test func `options of the parser that describe the behavior anyway are accepted`() throws {
            let names = [
                "PROCESS_MIXED_VERSIONS", "DISABLE_NAME_VALIDATION", "DISABLE_FACET_WARNINGS",
                "IGNORE_UNDEFINED_TERMS", "RETAIN_ORIGINAL_TEXT", "DEFAULT_VARIABLE_SCALE",
            ]
            #expect(try tool.run(names.map { "-parser:" + $0 } + ["-d", "out"], input: metadata) == ("", 0))
            #expect(try tool.run(["-parser:NO_SUCH_OPTION", "-d", "other"], input: metadata).code != 0)
        }

        // MARK: Annotations

        @Test(arguments: ["-annotate", "--annotate"])
        func `a file of annotations sets names`(option: String) throws {
            try tool.write(SmallDocuments.annotations(("N.Order", "Proxy.ClassName", "Purchase")), to: "names.xml")
            #expect(try tool.run([option, "names.xml", "-d", "out"], input: metadata) == ("", 0))
            #expect(try tool.names(in: "out").contains("Purchase.swift"))
        }

        @Test func `an annotation without a matching element is refused with file and line`() throws {
            try tool.write(SmallDocuments.annotations(("N.Ordre", "Proxy.ClassName", "Purchase")), to: "names.xml")
            let result = try tool.run(["-annotate", "names.xml", "-d", "out"], input: metadata)
            #expect(result.code == 1)
            #expect(result.said.hasPrefix("tidelog-proxygen: names.xml: line 3, column "))
            #expect(try tool.names() == ["names.xml"])
        }

        @Test func `the error for a missing file of annotations names the file`() throws {
            let result = try tool.run(["-annotate", "none.xml", "-d", "out"], input: metadata)
            #expect(result == ("tidelog-proxygen: none.xml cannot be read: there is no such file.\n", 1))
        }

        // MARK: Bad input

        @Test(arguments: [
            (["--nothing"], "Unknown option '--nothing'"), (["-q"], "Unknown option '-q'"),
            (["-parser:OTHER"], "Unknown option '-parser:OTHER'"), (["-open:other"], "Unknown option '-open:other'"),
            (["-m"], "Missing value for '-m <file>'"), (["-prefix"], "Missing value for '-prefix <text>'"),
            (["stray"], "Unexpected argument 'stray'"), (["-m", "none.xml"], "none.xml cannot be read"),
            (["-m", "."], "cannot be read: it is a directory"), (["-m", ""], "A file without a name cannot be read."),
            (["-m", "file:///none/m.xml"], "file:///none/m.xml cannot be read: there is no such file."),
            (["-m", "file://elsewhere/etc/passwd"], "cannot be read: there is no such file."),
            (["-s", "class"], "--service must be an unused Swift identifier"),
            (["-prefix", "1"], "--prefix must be an unused Swift identifier"),
            (["-package", "../x"], "--package must be the name"),
            (["-reference", "none"], "none is not a directory"),
            (["-m", "http://user:secret@host/"], "The URL of the metadata is not valid"),
        ])
        func `an error is printed in one line, and no files are written`(arguments: [String], words: String) throws {
            let result = try tool.run(arguments, input: metadata)
            #expect(result.code == 1)
            #expect(result.said.hasPrefix("tidelog-proxygen: ") && result.said.contains(words), "\(result.said)")
            #expect(result.said.count(where: { $0 == "\n" }) == 1)
            #expect(!result.said.contains("secret"))
            #expect(try tool.names() == [])
        }

        @Test func `invalid metadata is refused with file and line`() throws {
            try tool.write("no metadata", to: "bad.xml")
            let result = try tool.run(["-m", "bad.xml", "-d", "out"])
            #expect(result.code == 1)
            #expect(result.said.hasPrefix("tidelog-proxygen: bad.xml: line 1, column 1: "))
            #expect(try tool.names() == ["bad.xml"])
        }

        @Test func `metadata without entity types is refused with the name of the file`() throws {
            try tool.write(SmallDocuments.v4(""), to: "m.xml")
            let result = try tool.run(["-m", "m.xml", "-d", "out"])
            #expect(result.said.hasPrefix("tidelog-proxygen: m.xml: The metadata declares no entity type"))
            #expect(result.code == 1)
        }
    }

    /// Metadata downloaded from a service.
    @Suite struct DownloadTests {
        private let tool: Tool

        init() throws { tool = try Tool() }

        @Test(arguments: [
            ("", "GET /$metadata "), ("svc", "GET /svc/$metadata "), ("svc/$metadata?x=1", "GET /svc/$metadata?x=1 "),
            ("svc?client=100", "GET /svc/$metadata?client=100 "), ("m.xml", "GET /m.xml "),
        ])
        func `metadata is read from the URL of a service or its document`(path: String, request: String) throws {
            let service = try CannedService(status: "200 OK", body: CustomersAndOrders.v2)
            #expect(try tool.run(["-m", service.root + path, "-d", "out"]) == ("", 0))
            #expect(try tool.names(in: "out").count == 4)
            #expect(service.requests.first?.hasPrefix(request) == true, "\(service.requests)")
        }

        @Test(arguments: [
            ("401 Unauthorized", "The service denied access with status 401"),
            ("404 Not Found", "The resource does not exist at the service"),
            ("500 Internal Server Error", "The service responded with status 500"),
            ("200 OK", "The document is an HTML page"),
        ])
        func `a response that is not metadata is reported, and no files are written`(status: String, words: String)
            throws
        {
            let service = try CannedService(status: status, body: "<html></html>")
            let result = try tool.run(["-m", service.root + "?token=secret", "-d", "out"])
            #expect(result.code == 1)
            #expect(result.said.contains(words) && !result.said.contains("secret"), "\(result.said)")
            #expect(try tool.names() == [])
        }

        @Test func `the error for a service that requires credentials names the curl command`() throws {
            let service = try CannedService(status: "401 Unauthorized", body: "")
            let said = try tool.run(["-m", service.root]).said
            #expect(said.contains("curl -u USER -o metadata.xml '\(service.root)$metadata'"))
        }
    }
#endif
