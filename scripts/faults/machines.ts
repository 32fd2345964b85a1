import type { Fault } from '../mutate.ts'

export const faults: readonly Fault[] = [
  {
    id: 'machines-1',
    file: 'src/machines/guards.ts',
    what: 'a finished reply under a key that is no longer outstanding counts',
    from: 'outputOf(subject).key !== replyKey(subject.context)',
    to: 'outputOf(subject).key === undefined',
    tests: ['machines/'],
  },
]
