import Simulation
import Testing

struct SimulationTests {
    @Test func `nothing is lost, done twice or left without a reason`() async {
        let start = ContinuousClock.now
        let report = await Campaign(seeds: 1...2_000).run()
        print(report.summary(seconds: (ContinuousClock.now - start) / .seconds(1)))
        #expect(report.findings.map { $0.description(.init()) } == [])
    }
}
