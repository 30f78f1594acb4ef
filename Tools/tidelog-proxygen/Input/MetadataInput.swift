internal import Foundation
internal import HTTPTypes
internal import ProxyGenerator
internal import Transport

/// The source of the documents: a file, standard input, or a service.
struct MetadataInput {
    let printStatus: (String) -> Void

    /// Returns whether the text is the path of a file.
    static func isFile(_ text: String) -> Bool { text != "-" && !isURL(text) }

    /// Returns the file for a path, or for the URL of a local file.
    static func file(_ text: String) -> URL {
        guard text.lowercased().hasPrefix("file://"), let url = URL(string: text), url.isFileURL,
            ["", "localhost"].contains(url.host() ?? "")
        else { return URL(filePath: text) }
        return URL(filePath: url.path(percentEncoded: false))
    }

    private static func isURL(_ text: String) -> Bool {
        let start = text.prefix(8).lowercased()
        return start.hasPrefix("http://") || start == "https://"
    }

    func metadata(_ text: String?) async throws(Failure) -> MetadataSource {
        let source: MetadataSource
        if let text, Self.isURL(text) {
            source = try await download(text)
        } else if let text, text != "-" {
            source = MetadataSource(name: text, bytes: try bytes(ofFile: text))
        } else {
            source = MetadataSource(name: "standard input", bytes: try standardInput())
        }
        printStatus("Read \(source.name ?? "") (\(source.bytes.count) bytes).")
        return source
    }

    func annotations(_ path: String) throws(ProxyError) -> MetadataSource {
        let bytes: [UInt8]
        do throws(Failure) {
            bytes = try self.bytes(ofFile: path)
        } catch {
            throw .unreadable(error.description)
        }
        printStatus("Read \(path) (\(bytes.count) bytes).")
        return MetadataSource(name: path, bytes: bytes)
    }

    private func bytes(ofFile path: String) throws(Failure) -> [UInt8] {
        guard !path.isEmpty else { throw Failure("A file without a name cannot be read.") }
        let url = Self.file(path)
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory) else {
            throw Failure("\(path) cannot be read: there is no such file.")
        }
        guard !isDirectory.boolValue else { throw Failure("\(path) cannot be read: it is a directory.") }
        do {
            return [UInt8](try FileHandle(forReadingFrom: url).readToEnd() ?? Data())
        } catch {
            throw Failure("\(path) cannot be read: \(error.localizedDescription)")
        }
    }

    private func standardInput() throws(Failure) -> [UInt8] {
        guard isatty(STDIN_FILENO) == 0 else {
            throw Failure("Name the metadata document with --metadata, or write it to standard input.")
        }
        do {
            return [UInt8](try FileHandle.standardInput.readToEnd() ?? Data())
        } catch {
            throw Failure("Standard input cannot be read: \(error.localizedDescription)")
        }
    }

    // MARK: Services

    private func download(_ text: String) async throws(Failure) -> MetadataSource {
        let url = Self.documentURL(text)
        let name = String(url.prefix { $0 != "?" })
        guard let request = HTTPRequest(method: .get, url: url, headerFields: [.accept: "application/xml"]) else {
            // The URL is not printed, because it may contain a password.
            throw Failure(
                "The URL of the metadata is not valid: it must be percent-encoded, without credentials.")
        }
        let answer: (response: HTTPResponse, body: [UInt8])
        do throws(TransportError) {
            answer = try await defaultTransport().send(request, body: [])
        } catch {
            throw Failure(error.message)
        }
        switch answer.response.status.code {
        case 200..<300: return MetadataSource(name: name, bytes: answer.body)
        case 401, 403:
            throw Failure(
                "The service denied access with status \(answer.response.status.code) (GET \(name)). If it requires credentials, "
                    + "download the document with curl -u USER -o metadata.xml '\(name)' and give --metadata metadata.xml."
            )
        case 404: throw Failure("The resource does not exist at the service (404, GET \(name)).")
        default: throw Failure("The service responded with status \(answer.response.status.code) (GET \(name)).")
        }
    }

    /// Returns the URL of the document: a URL that ends in `$metadata`, `.xml`, `.edmx` or `.csdl` is that of the
    /// document, any other one is a service root.
    private static func documentURL(_ text: String) -> String {
        let whole = text.prefix { $0 != "#" }
        let path = whole.prefix { $0 != "?" }
        let query = whole.dropFirst(path.count)
        let isDocument = ["$metadata", ".xml", ".edmx", ".csdl"].contains { path.lowercased().hasSuffix($0) }
        return isDocument ? String(whole) : "\(path)\(path.hasSuffix("/") ? "" : "/")$metadata\(query)"
    }
}
