import type { Fault } from '../mutate.ts'

/** Slips in what lists say of agents and sessions. */
export const faults: readonly Fault[] = [
  {
    id: 'roster-1',
    file: 'src/server/bridge/snapshots.ts',
    what: 'what an agent does is cut first and blanked afterwards: half a secret stays',
    from: 'callLine(name, announcer.clean(input))',
    to: 'announcer.clean(callLine(name, input))',
    tests: ['server/bridge/overview'],
  },
  {
    id: 'roster-2',
    file: 'src/server/bridge/snapshots.ts',
    what: 'the error that ended a run names files of the server',
    from: '{ last: withOutwardError(last) }',
    to: '{ last }',
    tests: ['server/bridge/overview'],
  },
  {
    id: 'roster-3',
    file: 'src/sessions/outline.ts',
    what: 'an agent at work still says that its run before has failed',
    from: 'this.busySince = record.time\n        this.last = undefined',
    to: 'this.busySince = record.time',
    tests: ['sessions/outline'],
  },
  {
    id: 'roster-4',
    file: 'src/sessions/outline.ts',
    what: 'a memory that stands before the first prompt is its title',
    from: 'this.#untilPrompt = record.messages ?? 1',
    to: 'this.#untilPrompt = 1',
    tests: ['sessions/outline'],
  },
  {
    id: 'roster-5',
    file: 'src/sessions/outline.ts',
    what: 'a sub-agent that shares the past of its caller has the title of that',
    from: 'title = parent?.callId === undefined ? this.title : undefined',
    to: 'title = this.title',
    tests: ['sessions/outline'],
  },
  {
    id: 'roster-6',
    file: 'src/charts/standing.ts',
    what: 'what waits in a sub-agent waits in all above it too',
    from: '.filter((key) => key.startsWith(`${agentId}/`))',
    to: '',
    tests: ['charts/standing'],
  },
]
