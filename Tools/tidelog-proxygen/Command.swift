internal import ArgumentParser
internal import Foundation
internal import ProxyGenerator

/// The program `tidelog-proxygen`, which converts metadata to Swift sources. Its options are those of the generator of
/// SAP's SDK, with two dashes.
struct Command: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tidelog-proxygen",
        abstract: "Generates Swift classes from the metadata of an OData service.",
        discussion: """
            Writes a class for each entity type, one for the service with functions for each entity set, and the \
            metadata itself, so that entities can be created without the service. The same metadata results in the \
            same sources.

            Either all files are written or none. Files that an earlier run generated for the same service, and that \
            are no longer generated, are removed; files of other services and files that were not generated never \
            change.

            Exit codes: 0 success, 1 failure, with one sentence on standard error.
            """)

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The metadata document: a file, the URL of a file, of a service or of its metadata, or - for standard input.",
            discussion:
                "Without it, standard input. If the service requires credentials, download the document first.",
            valueName: "file"))
    var metadata: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The name of the service class. Without it, the name of the entity container.", valueName: "name"))
    var service: String?

    @Option(
        name: [.customLong("cp", withSingleDash: true), .customLong("prefix", withSingleDash: true), .long],
        help: ArgumentHelp("The prefix of all class names except a name given by --service.", valueName: "text"))
    var prefix = ""

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The directory to write to; created if it does not exist.",
            discussion: "Files are written to this directory itself, not to a folder 'public' in it.",
            valueName: "directory"))
    var destination = "."

    @Option(
        name: [.customLong("package", withSingleDash: true), .long],
        help: ArgumentHelp(
            "A folder in the destination to write to, such as that of a target of a package.",
            discussion: "Without it, and with none, the files are in the destination itself.", valueName: "name|none"))
    var package: String?

    @Option(
        help: ArgumentHelp(
            "Write everything to this one file of the destination, instead of a file for each type.", valueName: "file")
    )
    var singleFile: String?

    @Flag(
        name: [
            .customLong("dio", withSingleDash: true), .customLong("disable-optionals"), .customLong("disableOptionals"),
        ],
        help: "Generate non-optional types for properties that must not be null.")
    var disableOptionals = false

    @Flag(
        name: [.customLong("internal", withSingleDash: true), .customLong("internal")],
        help: "Generate internal classes instead of public ones.")
    var isInternal = false

    @Flag(
        name: [.customLong("open:enumerations", withSingleDash: true), .customLong("open-enumerations")],
        help: "Generate enumerations to which the service can add members.")
    var openEnumerations = false

    @Option(
        name: [.customLong("reference", withSingleDash: true), .long],
        help: ArgumentHelp(
            "The directory of documents that the metadata refers to. Without it, the directory of the metadata document.",
            valueName: "directory"))
    var reference: String?

    @Option(
        name: [.customLong("annotate", withSingleDash: true), .long],
        help: ArgumentHelp(
            "A document with annotations that set names: ClassName and PropertyName.", valueName: "file"))
    var annotate: String?

    @OptionGroup var parser: ParserArguments

    @Flag(name: .shortAndLong, help: "Report the files read, written and removed, and the names, on standard error.")
    var verbose = false

    @Flag(
        name: .customLong("no-interaction"),
        help: "Accepted for compatibility, without effect: the program never asks for input.")
    var noInteraction = false

    @Option(
        name: [.customShort("p"), .customLong("proxylibs")],
        help: ArgumentHelp(
            "Accepted for compatibility, without effect: the generator has no resources.", valueName: "directory"))
    var proxylibs: String?

    func run() async throws {
        if proxylibs != nil { Program.say("--proxylibs has no effect: the generator has no resources.") }
        let directory = try outputDirectory()
        let sources = try await generate()
        for note in sources.notes { printStatus(note) }
        for warning in sources.facetWarnings { Program.say(warning) }
        var files = sources.files
        if let singleFile {
            guard singleFile.hasSuffix(".swift"), Self.isPlainName(singleFile) else {
                throw Failure(
                    "--single-file must be the name of a Swift file, such as Service.swift, not '\(singleFile)'.")
            }
            files = [sources.singleFile(named: singleFile)]
        }
        try Output(directory: directory, replacesOtherServices: singleFile != nil, printStatus: printStatus).write(
            files)
    }

    private func generate() async throws -> ProxySources {
        let input = MetadataInput(printStatus: printStatus)
        let document = try await input.metadata(metadata)
        let directory = parser.ignoreReferences ? nil : try referenceDirectory()
        do throws(ProxyError) {
            let references = try ReferencedDocuments(of: document) { wanted in
                directory?.find(wanted, for: document)
            }
            for source in references.found {
                printStatus("Read \(source.name ?? "a document") (\(source.bytes.count) bytes).")
            }
            let annotations = try annotate.map { path throws(ProxyError) in try input.annotations(path) }
            return try ProxySources(
                document, references: references.found, annotations: annotations,
                options: ProxyOptions(
                    service: service, prefix: prefix, isInternal: isInternal, disablesOptionals: disableOptionals,
                    hasOpenEnumerations: openEnumerations, allowsCaseConflicts: parser.allowCaseConflicts,
                    excludesServerOnlyElements: parser.excludeServerOnly, hasFacetWarnings: parser.facetWarnings))
        } catch {
            throw Failure(error.description)
        }
    }

    private func outputDirectory() throws -> URL {
        let directory = URL(filePath: destination, directoryHint: .isDirectory)
        guard let package, package != "none" else { return directory }
        guard Self.isPlainName(package) else {
            throw Failure("--package must be the name of a folder, not '\(package)'.")
        }
        return directory.appending(path: package, directoryHint: .isDirectory)
    }

    /// The directory of referenced documents. If the document is no file, it has to be given.
    private func referenceDirectory() throws -> ReferenceDirectory? {
        if let reference {
            let directory = URL(filePath: reference, directoryHint: .isDirectory)
            guard (try? directory.resourceValues(forKeys: [.isDirectoryKey]))?.isDirectory == true else {
                throw Failure("\(reference) is not a directory.")
            }
            return ReferenceDirectory(directory: directory)
        }
        guard let metadata, MetadataInput.isFile(metadata) else { return nil }
        return ReferenceDirectory(directory: MetadataInput.file(metadata).deletingLastPathComponent())
    }

    private static func isPlainName(_ name: String) -> Bool {
        !name.isEmpty && !name.hasPrefix(".")
            && !name.contains { $0 == "/" || $0 == "\\" || $0.isNewline || $0 == "\0" }
    }

    private func printStatus(_ sentence: String) {
        if verbose { Program.say(sentence) }
    }
}
