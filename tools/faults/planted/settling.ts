import type { Fault } from '../mutate.ts'

/** Slips in telling when nothing more happens by itself, and what came of requests. */
export const faults: readonly Fault[] = [
  {
    id: 'settling-1',
    file: 'src/runtime/agents/settled.ts',
    what: 'an agent is settled before its log is written',
    from: 'if (writing.length === 0) return known',
    to: 'if (writing.length >= 0) return known',
    tests: ['runtime/settling'],
  },
  {
    id: 'settling-2',
    file: 'src/runtime/agents/settled.ts',
    what: 'an agent waits for people while one of its tools runs',
    from: 'return made === undefined ||',
    to: 'return made !== undefined &&',
    tests: ['runtime/settling'],
  },
  {
    id: 'settling-3',
    file: 'src/runtime/agents/settled.ts',
    what: 'what agents below it do does not count',
    from: 'const all = [ownStanding(agent, below), ...below.values()]',
    to: 'const all = [ownStanding(agent, below)]',
    tests: ['runtime/settling'],
  },
  {
    id: 'settling-4',
    file: 'src/runtime/runtime.ts',
    what: 'a runtime that is closed with detach aborts the runs of its agents',
    from: 'detach && agent.isLoaded ?',
    to: 'detach && !agent.isLoaded ?',
    tests: ['runtime/settling'],
  },
  {
    id: 'settling-5',
    file: 'packages/sessions/src/loggedRequests.ts',
    what: 'a request whose run was paused is not followed any further',
    from: 'resumedFrom === undefined ? undefined : this.#byRun.get(resumedFrom)',
    to: 'resumedFrom !== undefined ? undefined : this.#byRun.get(runId)',
    tests: ['sessions/test/loggedRequests'],
  },
  {
    id: 'settling-6',
    file: 'packages/sessions/src/loggedRequests.ts',
    what: 'a message that was said into a run has no outcome',
    from: 'this.#courses.set(id, this.#open.course)',
    to: 'this.#waiting.delete(id)',
    tests: ['sessions/test/loggedRequests'],
  },
]
