import ODataWire
import Testing

/// A service, and the form of the requests that a device sends to it.
struct MatrixService: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let version: String
    /// The options of the device; nil for those that the metadata declare.
    var options: ServiceOptions?
    /// The arguments of the sandbox.
    var arguments: [String] = []

    var hasBatches: Bool { options?.supportsBatch ?? true }

    /// Whether the service recognizes repeated requests.
    var isRepeatable: Bool { arguments.contains("--repeatable") }

    var supportsPatch: Bool { options?.supportsPatch ?? true }

    /// The method of an update.
    var updateMethod: String { supportsPatch ? SentRequest.update(version) : "PUT" }

    /// Both versions, each format of a batch, no batches, and repeatable requests.
    static let all = [
        MatrixService(testDescription: "V4, multipart", version: "v4"),
        MatrixService(testDescription: "V4, JSON", version: "v4", options: ServiceOptions(batchFormat: .json)),
        MatrixService(testDescription: "V4, no batches", version: "v4", options: ServiceOptions(supportsBatch: false)),
        MatrixService(testDescription: "V4, repeatable", version: "v4", arguments: ["--repeatable", "oasis"]),
        MatrixService(testDescription: "V2, multipart", version: "v2"),
        MatrixService(testDescription: "V2, no batches", version: "v2", options: ServiceOptions(supportsBatch: false)),
        MatrixService(
            testDescription: "V2, repeatable", version: "v2", options: ServiceOptions(repeatability: .sap),
            arguments: ["--repeatable", "sap"]),
    ]

    /// Services that do not support PATCH and MERGE.
    static let withoutPatch = ["v4", "v2"].map {
        MatrixService(
            testDescription: "\($0.uppercased()), no PATCH", version: $0, options: ServiceOptions(supportsPatch: false),
            arguments: ["--without", "patch"])
    }
}
