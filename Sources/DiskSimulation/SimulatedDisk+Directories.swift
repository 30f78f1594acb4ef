/// Directories, to the extent that the log renames them. Their names become durable with the names of their files.
extension SimulatedDisk.DiskState {
    func hasDirectory(_ path: String) -> Bool {
        directories.contains(path) || names.keys.contains { $0.hasPrefix(path + "/") }
    }

    /// Renames a directory by renaming all of its files in one step. A directory with files needs no entry of its own.
    mutating func renameDirectory(_ path: String, to target: String) {
        var step: [String: Int?] = [:]
        for (name, index) in names where name.hasPrefix(path + "/") {
            let moved = target + name.dropFirst(path.count)
            step.updateValue(nil, forKey: name)
            step[moved] = index
            names[name] = nil
            names[moved] = index
        }
        directories.remove(path)
        pendingNames.append(step)
    }
}
