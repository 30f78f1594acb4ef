internal import EDM

/// The Swift sources of a service: a class per entity type, one for the service, and the metadata that they carry.
///
/// The text becomes a model, the model a plan in which everything has its Swift name (``ServicePlan``), and the plan the
/// files. The same document and options give the same bytes, on any machine.
public struct ProxySources: Sendable, Hashable {
    /// The service, its metadata, and the types: entity types first, then complex and enumeration types and type
    /// definitions, each in the order of the document.
    public let files: [GeneratedFile]

    /// - Parameter metadata: CSDL XML of any version that Tidelog reads, in UTF-8.
    public init(metadata: [UInt8], options: ProxyOptions = ProxyOptions()) throws(ProxyError) {
        guard let document = Self.document(metadata) else { throw .notUTF8 }
        let model: EntityDataModel
        do throws(CSDLError) {
            // What is read here is what the generated code will read.
            model = try CSDLReader.read(Array(document.utf8))
        } catch {
            throw .metadata(line: error.line, column: error.column, message: error.message)
        }
        let plan = try ServicePlan(model: model, options: options)
        guard !plan.entities.isEmpty else { throw .noEntityTypes }
        let style = SourceStyle(plan: plan, isInternal: options.isInternal)
        files = style.files(metadata: document)
    }

    /// The document without byte order mark and with line feeds only, which is the same document (XML 1.0, section 2.11).
    private static func document(_ bytes: [UInt8]) -> String? {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        var afterReturn = false
        for byte in bytes.starts(with: mark) ? bytes[3...] : bytes[...] {
            if byte == 0x0D {
                text.append(0x0A)
            } else if !(byte == 0x0A && afterReturn) {
                text.append(byte)
            }
            afterReturn = byte == 0x0D
        }
        return String(validating: text, as: UTF8.self)
    }
}
