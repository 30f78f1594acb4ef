import OperationLog

extension LocalStream {
    /// Copies the content to a file, chunk by chunk. An existing file is replaced once the copy is complete.
    ///
    /// - Parameter path: the path of the file, in an existing directory.
    /// - Throws: `damaged` if the content is missing or has changed; `storage` if the file cannot be written.
    public func write(toFile path: String) throws(TidelogError) {
        let (system, temporary) = (PosixFileSystem(), path + ".partial")
        do {
            // The remains of an earlier attempt.
            try? system.remove(temporary)
            let file = try system.open(temporary, .create)
            defer { file.close() }
            var offset: UInt64 = 0
            try read { chunk in
                try chunk.withUnsafeBytes { try file.write($0, at: offset) }
                offset += UInt64(chunk.count)
            }
            try file.sync()
            try system.rename(temporary, to: path)
        } catch {
            try? system.remove(temporary)
            throw error as? TidelogError
                ?? TidelogError(
                    .storage, "The file cannot be written: \(error)", place: path,
                    recovery: "Check the free space and the permissions.", cause: error)
        }
    }
}
