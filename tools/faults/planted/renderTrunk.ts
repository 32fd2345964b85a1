import type { Fault } from '../mutate.ts'

export const faults: readonly Fault[] = [
  {
    id: 'render-trunk-1',
    file: 'packages/sessions/src/renderTrunk.ts',
    what: 'a request has what came after it',
    from: 'records.slice(0, end < 0 ? records.length : end)',
    to: 'records.slice(0, records.length)',
    tests: ['sessions/test/renderTrunk'],
  },
  {
    id: 'render-trunk-2',
    file: 'packages/sessions/src/renderTrunk.ts',
    what: 'a turn that code prepared is rendered as the definition has it',
    from: 'for (const record of [...past, ...own]) frames.apply(record)',
    to: 'for (const record of past) frames.apply(record)',
    tests: ['sessions/test/renderTrunk'],
  },
  {
    id: 'render-trunk-3',
    file: 'packages/sessions/src/renderTrunk.ts',
    what: 'a change that may not be made is passed over',
    from: 'if (!outcome.applied) return refuse(outcome.reason!)',
    to: 'if (!outcome.applied) return outcome',
    tests: ['sessions/test/renderTrunk'],
  },
]
