import type { Fault } from '../mutate.ts'

const causes = 'packages/page/src/inspector/model/sessions/causes.ts'
const lines = 'packages/page/src/inspector/model/sessions/homeLines.ts'
const bulk = 'packages/page/src/inspector/model/sessions/bulk.ts'
const overview = 'packages/page/src/inspector/model/sessions/overview.ts'
const alarm = 'packages/page/src/inspector/model/sessions/alarm.ts'
const tests = ['inspector/sessions/causes.test']

/** Slips in the overview's causes, figures and actions on many agents. */
export const faults: readonly Fault[] = [
  {
    id: 'causes-1',
    file: causes,
    what: 'equal failures whose messages have ids are as many causes',
    from: "? '#' : word",
    to: '? word : word',
    tests,
  },
  {
    id: 'causes-2',
    file: lines,
    what: 'decisions of one definition are hidden until one opens them',
    from: " !== (standing === 'waiting')",
    to: '',
    tests,
  },
  {
    id: 'causes-3',
    file: bulk,
    what: 'all agents are acted on at once',
    from: 'length: Math.min(atOnce, items.length)',
    to: 'length: items.length',
    tests,
  },
  {
    id: 'causes-4',
    file: bulk,
    what: 'an action on many goes on once it was stopped',
    from: 'if (this.#isStopped) return',
    to: 'void this.#isStopped',
    tests,
  },
  {
    id: 'causes-5',
    file: overview,
    what: 'a sub-agent that failed and has gone is not told at its root',
    from: '[agents, left ?? noAgents]',
    to: '[agents]',
    tests,
  },
  {
    id: 'causes-6',
    file: alarm,
    what: 'an agent that only says what happens at a limit has one',
    from: "every((name) => name === 'onLimit')",
    to: 'length === 0',
    tests,
  },
  {
    id: 'causes-7',
    file: overview,
    what: 'who has waited longest for a decision comes last',
    from: "a.standing === 'waiting' ? a.since - b.since : b.since - a.since",
    to: 'b.since - a.since',
    tests: ['inspector/sessions/overview.test'],
  },
]
