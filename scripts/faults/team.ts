import type { Fault } from '../mutate.ts'

export const faults: readonly Fault[] = [
  {
    id: 'team-concurrency-1',
    file: 'src/runtime/groups/atMost.ts',
    what: 'a group with `concurrency` begins all its branches together',
    from: 'Array.from({ length: Math.min(most, items.length) }, worker)',
    to: 'Array.from({ length: items.length }, worker)',
    tests: ['runtime/groupsConcurrency'],
  },
  {
    id: 'team-concurrency-2',
    file: 'src/runtime/groups/atMost.ts',
    what: 'branches are begun after the group was aborted or won',
    from: 'failure === undefined && !isOver()',
    to: 'failure === undefined',
    tests: ['runtime/groupsConcurrency'],
  },
  {
    id: 'team-concurrency-3',
    file: 'src/runtime/groups/parallel.ts',
    what: 'a group that keeps its agents may have thousands alive',
    from: 'concurrency !== undefined && !keep',
    to: 'concurrency !== undefined',
    tests: ['runtime/groupsConcurrency'],
  },
]
