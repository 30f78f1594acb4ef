internal import Foundation
internal import ProxyGenerator

/// The directory to which the sources are written.
struct Output {
    let directory: URL
    /// Whether files that were generated for another service are replaced, because the caller chose their names.
    let replacesOtherServices: Bool
    let printStatus: (String) -> Void

    private var files: FileManager { .default }

    /// Writes all files or none. They are written to temporary files, and renamed when all are complete. Unchanged
    /// files are not written, so that a build does not compile them again.
    func write(_ generated: [GeneratedFile]) throws(Failure) {
        var changed: [GeneratedFile] = []
        for file in generated {
            let url = directory.appending(path: file.name)
            guard exists(url) else {
                changed.append(file)
                continue
            }
            let present = try? String(contentsOf: url, encoding: .utf8)
            guard let present, present.hasPrefix(GeneratedFile.mark) else {
                throw Failure(
                    "\(url.relativePath) was not generated and is not overwritten. Choose another --destination.")
            }
            guard replacesOtherServices || present.hasPrefix(file.headline) else {
                throw Failure(
                    "\(url.relativePath) was generated for another service and is not overwritten. Remove it, or choose "
                        + "another --destination.")
            }
            // Compares bytes, because strings in Swift are equal if they are canonically equivalent.
            if present.utf8.elementsEqual(file.text.utf8) {
                printStatus("Unchanged: \(url.relativePath).")
            } else {
                changed.append(file)
            }
        }
        let made = try makeDirectory()
        do {
            try replace(changed)
            try removeLeftovers(of: generated)
        } catch {
            let reason = (error as? POSIXError).map { String(cString: strerror($0.code.rawValue)) + "." }
            // Removes only directories that are empty and were created by this call.
            for url in made where rmdir(url.path) != 0 { break }
            throw Failure("\(directory.relativePath) cannot be written: \(reason ?? error.localizedDescription)")
        }
    }

    /// Returns whether the path exists, also as a dangling symbolic link.
    private func exists(_ url: URL) -> Bool { (try? files.attributesOfItem(atPath: url.path)) != nil }

    /// Creates the directory and its missing parents. Returns those that were missing, the innermost first.
    private func makeDirectory() throws(Failure) -> [URL] {
        var missing: [URL] = []
        var next = directory.standardizedFileURL
        while !exists(next), next.path != "/" {
            missing.append(next)
            next = next.deletingLastPathComponent()
        }
        for (made, url) in missing.reversed().enumerated() where mkdir(url.path, 0o777) != 0 {
            let reason = String(cString: strerror(errno))
            for url in missing.suffix(made) { rmdir(url.path) }
            throw Failure("\(directory.relativePath) cannot be written: \(reason).")
        }
        return missing
    }

    private func replace(_ changed: [GeneratedFile]) throws {
        guard !changed.isEmpty else { return }
        let staging = directory.appending(path: ".tidelog-proxygen-\(UUID().uuidString)", directoryHint: .isDirectory)
        guard mkdir(staging.path, 0o777) == 0 else { throw Self.failure }
        defer { try? files.removeItem(at: staging) }
        // The names are numbers, because the name of a file may have the maximum length.
        for (number, file) in changed.enumerated() {
            try Data(file.text.utf8).write(to: staging.appending(path: "\(number).new"))
        }
        for (number, file) in changed.enumerated() {
            let place = directory.appending(path: file.name)
            guard rename(staging.appending(path: "\(number).new").path, place.path) == 0 else {
                throw Self.failure
            }
            printStatus("Written: \(place.relativePath).")
        }
    }

    /// The error of the last system call.
    private static var failure: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }

    /// Removes the files of an earlier generation for the same service: those with the same first line.
    private func removeLeftovers(of generated: [GeneratedFile]) throws {
        guard let headline = generated.first?.headline else { return }
        let names = Set(generated.map(\.name))
        let present = Set(try files.contentsOfDirectory(atPath: directory.path))
        for name in present.subtracting(names).sorted() where name.hasSuffix(".swift") {
            // If the file system ignores case, this may be the name of a new file.
            if let twin = names.first(where: { $0.lowercased() == name.lowercased() }), !present.contains(twin) {
                continue
            }
            let url = directory.appending(path: name)
            guard let text = try? String(contentsOf: url, encoding: .utf8), text.hasPrefix(headline + "\n") else {
                continue
            }
            try files.removeItem(at: url)
            printStatus("Removed: \(url.relativePath), which is no longer generated.")
        }
    }
}
