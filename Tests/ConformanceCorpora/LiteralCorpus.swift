package import EDM
package import Foundation

/// The conformance data in a directory next to the checkout, read with the JSON scanner under test.
package enum LiteralCorpus {
    package static let root: URL = {
        if let path = ProcessInfo.processInfo.environment["TIDELOG_CONFORMANCE"] { return URL(fileURLWithPath: path) }
        return URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("../shared/conformance").standardizedFileURL
    }()

    package static let isPresent: Bool = {
        let isPresent = FileManager.default.fileExists(atPath: root.appendingPathComponent("literals").path)
        if !isPresent { print("skipped: the conformance corpora are not next to the checkout") }
        return isPresent
    }()

    package static func bytes(_ path: String) throws -> [UInt8] {
        try [UInt8](Data(contentsOf: root.appendingPathComponent(path)))
    }

    /// Returns the rows of a JSON Lines file.
    package static func rows(_ path: String) throws -> [JSONValue] {
        try bytes(path).split(separator: 0x0A).map { try JSONValue.parse(Array($0)) }
    }
}

extension JSONValue {
    package var flag: Bool? {
        if case .boolean(let flag) = self { flag } else { nil }
    }
}
