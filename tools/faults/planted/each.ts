import type { Fault } from '../mutate.ts'

const each = 'packages/groups/src/each.ts'
const tests = ['groups/test/each.test']

export const faults: readonly Fault[] = [
  {
    id: 'each-1',
    file: each,
    what: 'a used-up budget begins further inputs',
    from: "return isUsedUp ? 'budget' : null",
    to: 'return isUsedUp ? null : null',
    tests,
  },
  {
    id: 'each-2',
    file: each,
    what: 'an aborted batch aborts its runs, so that their logs say so and nothing goes on',
    from: 'isLetGo ? this.#plan.runtime.detach(agent.id) : agent.close()',
    to: 'isLetGo ? agent.close() : agent.close()',
    tests,
  },
  {
    id: 'each-3',
    file: each,
    what: 'what an earlier call asked does not count, so that everything is asked again',
    from: 'if (agent === undefined) return undefined',
    to: 'if (agent !== undefined) return undefined',
    tests,
  },
  {
    id: 'each-4',
    file: each,
    what: 'an aborted run is a failure for good',
    from: "stopReason === 'aborted' ||",
    to: '',
    tests,
  },
  {
    id: 'each-5',
    file: 'packages/groups/src/checkEach.ts',
    what: 'two inputs of one key share an agent',
    from: 'if (same !== undefined) {',
    to: 'if (same === -1) {',
    tests,
  },
  {
    id: 'each-6',
    file: 'src/runtime/agents/agentFacts.ts',
    what: 'what is asked twice under a key at the same time is asked twice',
    from: 'if (view.asked.has(key) || runs.expects(key)) return',
    to: '',
    tests: ['runtime/askOnce'],
  },
  {
    id: 'each-7',
    file: 'src/runtime/agents/requestedRun.ts',
    what: 'a run that waits for people has ended',
    from: "isWait(reason) ? undefined : run.unfinished('paused', { reason })",
    to: "run.unfinished('paused', { reason })",
    tests: ['runtime/askOnce'],
  },
  {
    id: 'each-8',
    file: 'packages/bridge/src/client/remoteAgent.ts',
    what: 'an agent that appears later is never heard',
    from: "if (mayWait && error?.code === 'AGENT_NOT_FOUND') wait()",
    to: '',
    tests: ['client/agentStore'],
  },
]
