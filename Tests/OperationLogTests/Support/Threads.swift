#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Lets other threads run for a moment.
func pause() { usleep(200) }

/// Runs the closure on this number of threads at once, and returns when all of them have ended.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    final class Work: Sendable {
        let index: Int
        let body: @Sendable (Int) -> Void
        init(_ index: Int, _ body: @escaping @Sendable (Int) -> Void) { (self.index, self.body) = (index, body) }
    }
    let threads = (0..<count).map { index in
        #if canImport(Darwin)
            var thread: pthread_t?
        #else
            var thread = pthread_t()
        #endif
        let work = Unmanaged.passRetained(Work(index, body)).toOpaque()
        pthread_create(
            &thread, nil,
            { argument in
                #if canImport(Darwin)
                    let work = Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()
                #else
                    let work = Unmanaged<Work>.fromOpaque(argument!).takeRetainedValue()
                #endif
                work.body(work.index)
                return nil
            }, work)
        return thread
    }
    for thread in threads {
        #if canImport(Darwin)
            if let thread { pthread_join(thread, nil) }
        #else
            pthread_join(thread, nil)
        #endif
    }
}
