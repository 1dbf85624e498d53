import Locking
import ReachabilityCore

extension EngineRun {
    /// What the event thread does, from its start to its end.
    ///
    /// - Parameters:
    ///   - state: What all runs share.
    ///   - predecessor: The run before, which must have called the sink for the last time before this one does.
    func main(_ state: EngineState, after predecessor: RunEnd?) {
        end.begin()
        serve(state, predecessor)
        // The loop and its descriptors are gone by now.
        end.come()
    }

    private func serve(_ state: EngineState, _ predecessor: RunEnd?) {
        do throws(MonitorError) {
            try state.configuration.namespace.enter()
            let loop = try EventLoop(state, self)
            enter(loop)
            opened.open(nil)
            predecessor?.wait()
            loop.main()
            enter(nil)
        } catch {
            opened.open(error)
        }
    }

    /// Asks the event thread, and waits for its answer; not to be called on it.
    ///
    /// - Throws: ``MonitorError/Code/notRunning`` if it takes no jobs any more.
    func ask<Answer: Sendable>(_ question: @escaping @Sendable (EventLoop) -> Answer) throws(MonitorError) -> Answer {
        let gate = Gate<Answer>()
        guard perform({ gate.open(question($0)) }) else { throw MonitorError(.notRunning, errno: 0, "monitor") }
        return gate.wait()
    }

    /// Looks up one destination on the calling thread.
    ///
    /// - Parameter flow: Its source unspecified.
    /// - Returns: The kernel's final answer.
    /// - Throws: ``MonitorError/Code/notRunning``, or ``MonitorError/Code/netlinkFailed`` if the kernel does not answer.
    func look(up flow: ProbeFlow) throws(MonitorError) -> ProbeAnswer {
        try lookups.withLock { socket throws(MonitorError) in
            guard socket != nil else { throw MonitorError(.notRunning, errno: 0, "monitor") }
            do throws(NetlinkError) {
                guard let answer = try socket?.resolve([flow]).first else {
                    throw NetlinkError("RTM_GETROUTE", errno: 0)
                }
                return answer
            } catch {
                throw MonitorError(error)
            }
        }
    }
}
