import TestSupport
import Testing

#if os(macOS) || os(Linux)
    /// The property wrapper for SwiftUI, compiled with declarations like those of SwiftUI.
    @Suite(.enabled(if: SwiftCompiler.modules != nil, "skipped: there is no compiler"), .timeLimit(.minutes(30)))
    struct SwiftUITests {
        @Test(arguments: SwiftUIStub.Isolation.allCases)
        func `the property wrapper compiles with each isolation of DynamicProperty`(
            _ isolation: SwiftUIStub.Isolation
        ) throws {
            let stub = try SwiftUIStub.shared(isolation)
            #expect(stub.errors.isEmpty, "\(stub.errors)")
        }

        @Test func `a wrong use of SwiftUI would be reported`() throws {
            let stub = try SwiftUIStub.shared()
            let (status, output) = try SwiftCompiler.run(
                ["-typecheck", "-swift-version", "6", "-parse-as-library"] + stub.searchPaths,
                [
                    (
                        "Wrong.swift",
                        """
                        import SwiftUI
                        import Tidelog
                        import TidelogUI

                        struct Wrong: View {
                            @EntityQuery() private var entities: [String]
                            var body: some View { Text("") }
                        }
                        """
                    )
                ])
            #expect(status != 0)
            #expect(output.contains("EntityValue"), "\(output)")
        }
    }
#endif
