internal import Foundation
internal import ProxyGenerator

/// A directory with referenced documents. A reference cannot lead outside of it.
struct ReferenceDirectory {
    let directory: URL

    /// Returns the first document that declares the namespace: at the path in the URI of a reference, below the
    /// directory or directly in it; with the name of the namespace; or else any other document, in order of the names.
    /// An unreadable document at the path of a reference is returned too, so that the reader reports the error.
    func find(_ wanted: ReferencedDocuments.NeededNamespace, for document: MetadataSource) -> MetadataSource? {
        let named = wanted.uris.flatMap(Self.paths) + Self.endings.map { "\(wanted.namespace).\($0)" }
        for path in named where Self.staysInside(path) {
            if let found = read(path, document), found.declares(wanted.namespace) ?? true { return found }
        }
        for name in others {
            if let found = read(name, document), found.declares(wanted.namespace) == true { return found }
        }
        return nil
    }

    private static let endings = ["xml", "edmx", "csdl"]
    /// The maximum number of files that are searched. A directory of documents has only a few, a directory of downloads
    /// many.
    private static let mostFiles = 500
    private static let mostBytes = 64 << 20

    private var others: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
        let documents = names.filter { name in Self.endings.contains { name.lowercased().hasSuffix(".\($0)") } }
        return Array(documents.sorted().prefix(Self.mostFiles))
    }

    /// Returns the whole relative path, and the last component.
    private static func paths(_ uri: String) -> [String] {
        let plain = uri.prefix { $0 != "?" && $0 != "#" }
        let text = String(plain).removingPercentEncoding ?? String(plain)
        let last = text.split(separator: "/").last.map(String.init)
        return (text.contains("://") ? [] : [text]) + (last.map { [$0] } ?? [])
    }

    private static func staysInside(_ path: String) -> Bool {
        !path.isEmpty && !path.hasPrefix("/") && !path.contains("\0") && !path.split(separator: "/").contains("..")
    }

    /// Returns nil for a path that is no file, and for the document that contains the reference.
    private func read(_ path: String, _ document: MetadataSource) -> MetadataSource? {
        let url = directory.appending(path: path)
        guard
            let values = try? url.resolvingSymlinksInPath().resourceValues(forKeys: [.isRegularFileKey, .fileSizeKey]),
            values.isRegularFile == true, values.fileSize ?? 0 <= Self.mostBytes,
            let data = try? Data(contentsOf: url)
        else { return nil }
        let source = MetadataSource(name: url.relativePath, bytes: [UInt8](data))
        return source.bytes == document.bytes ? nil : source
    }
}
