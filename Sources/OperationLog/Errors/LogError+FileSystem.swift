/// Runs a file system operation during which nothing is written yet, so that a failure leaves the log unchanged.
func onFiles<Value>(_ body: () throws(FileSystemError) -> Value) throws(LogError) -> Value {
    do {
        return try body()
    } catch {
        throw .fileSystem(error)
    }
}
