internal import Foundation

/// The resources of this process.
enum Resources {
    /// The resident memory, or 0 if it is unknown.
    static var residentKiB: Int {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * 4
    }

    /// The number of open files, or 0 if it is unknown.
    static var descriptors: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    }

    /// The size of all files in a folder, in bytes.
    static func size(of folder: String) -> Int {
        guard let paths = FileManager.default.enumerator(atPath: folder) else { return 0 }
        var size = 0
        while let path = paths.nextObject() as? String {
            let attributes = try? FileManager.default.attributesOfItem(atPath: folder + "/" + path)
            size += (attributes?[.size] as? NSNumber)?.intValue ?? 0
        }
        return size
    }
}
