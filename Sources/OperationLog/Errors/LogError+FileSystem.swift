/// Does something with files before anything was written, so that a failure leaves the log as it was.
func onFiles<Value>(_ body: () throws(FileSystemError) -> Value) throws(LogError) -> Value {
    do {
        return try body()
    } catch {
        throw .fileSystem(error)
    }
}
