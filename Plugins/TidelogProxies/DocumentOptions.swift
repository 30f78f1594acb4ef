import Foundation

/// What `tidelog-proxygen.json` says for a document: an object with the arguments of the generator by the document's name,
/// those for all documents under `*`.
///
///     { "*": ["-internal"], "Shop.csdl": ["-s", "ShopService", "-annotate", "names.xml"] }
struct DocumentOptions {
    private(set) var arguments: [String] = []
    /// What the arguments come from and name.
    private(set) var files: [URL] = []

    init(folder: URL, document: String) throws {
        let file = folder.appending(path: "tidelog-proxygen.json")
        guard FileManager.default.fileExists(atPath: file.path) else { return }
        let options: [String: [String]]
        do {
            options = try JSONDecoder().decode([String: [String]].self, from: Data(contentsOf: file))
        } catch {
            throw OptionsError(
                description: "\(file.path) must be an object with a list of arguments for each document, or for \"*\".")
        }
        files = [file]
        for argument in (options["*"] ?? []) + (options[document] ?? []) {
            guard let option = arguments.last, Self.paths.contains(option) else {
                arguments.append(argument)
                continue
            }
            // A build runs anywhere, so paths are those from the document on.
            let url = argument.hasPrefix("/") ? URL(filePath: argument) : folder.appending(path: argument)
            arguments.append(url.path)
            if option.hasSuffix("annotate") { files.append(url) }
        }
    }

    private static let paths: Set<String> = ["-annotate", "--annotate", "-reference", "--reference"]
}

struct OptionsError: Error, CustomStringConvertible {
    let description: String
}
