import TestSupport
import Testing

#if os(Linux)
    /// The transport of Apple systems, compiled with declarations like those of their SDKs.
    @Suite(.enabled(if: SwiftCompiler.modules != nil, "skipped: there is no compiler"), .timeLimit(.minutes(10)))
    struct URLSessionTests {
        @Test func `the transport for URLSession compiles with declarations like those of Apple`() throws {
            let errors = try URLSessionStub.errors()
            #expect(errors.isEmpty, "\(errors)")
        }

        @Test func `a wrong use of URLSession would be reported`() throws {
            let errors = try URLSessionStub.errors { path, text in
                path.hasSuffix("URLSessionBackground.swift")
                    ? text.replacing("task.resume()", with: "task.run()") : text
            }
            #expect(errors.contains("has no member 'run'"), "\(errors)")
        }
    }
#endif
