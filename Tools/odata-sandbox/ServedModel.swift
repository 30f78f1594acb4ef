internal import EDM
internal import ODataSandbox

/// A service with the metadata of a file.
struct ServedModel {
    let sandbox: Sandbox
    /// Whether the metadata are those of a V2 service.
    let isLegacy: Bool
    /// A sentence for each element of the document that is not served.
    let warnings: [String]

    init(_ path: String, etags: [String]) throws(Failure) {
        let bytes = try InputFile.read(path)
        let model: EntityDataModel
        do throws(CSDLError) {
            model = try CSDLReader.read(bytes)
            sandbox = try Sandbox(
                v4Metadata: bytes, v2Metadata: bytes,
                configuration: SandboxConfiguration(model, etags: Set(etags)))
        } catch {
            throw Failure("\(path), \(error) \(Self.remedy)")
        }
        isLegacy = model.version.isLegacy
        warnings = model.defects.compactMap { defect in
            defect.omitted.map { "\(path), \(defect.fault) The \($0.kind) \($0.path) is not served." }
        }
        let names = model.entitySets.map(\.name).sorted()
        if names.isEmpty {
            let reason = model.defects.first.map { "\(path), \($0.fault)" } ?? "\(path) declares no entity set."
            throw Failure("\(reason) There is no entity set to serve. \(Self.remedy)")
        }
        for name in etags where !names.contains(name) {
            throw Failure("\(path) declares no entity set \(name) for --etags. It declares: \(Self.list(names)).")
        }
    }

    private static let remedy = "Correct the document, or store the $metadata of the service again."

    private static func list(_ names: [String]) -> String {
        let shown = names.prefix(20).joined(separator: ", ")
        return names.count > 20 ? "\(shown) and \(names.count - 20) more" : shown
    }
}
