import CLibFuzzer
import FuzzTargets

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// `tidelog-fuzz TARGET [what libFuzzer takes]`, built and started by `Tools/fuzz`.
@main struct Program {
    /// libFuzzer's call carries nothing but the bytes. Set once, before the first call.
    nonisolated(unsafe) static var target = FuzzTarget.blocks

    static func main() {
        guard CommandLine.argc > 1, let target = FuzzTarget(rawValue: CommandLine.arguments[1]) else {
            print("usage: tidelog-fuzz TARGET [OPTION…]; targets: \(FuzzTarget.allCases.map(\.rawValue))")
            exit(64)
        }
        Program.target = target
        // The target's name is not for libFuzzer.
        var count = CommandLine.argc - 1
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv + 1
        arguments?[0] = CommandLine.unsafeArgv[0]
        let status = LLVMFuzzerRunDriver(&count, &arguments) { bytes, count in
            do throws(Finding) {
                try Program.target.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
            } catch {
                fatalError("\(error)")
            }
            return 0
        }
        exit(status)
    }
}
