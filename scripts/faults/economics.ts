import type { Fault } from '../mutate.ts'

export const faults: readonly Fault[] = [
  {
    id: 'economics-1',
    file: 'src/conversation/visibleTags.ts',
    what: 'an old lesson breaks the cache by default',
    from: "decay: 'lazy',",
    to: "decay: 'exact',",
    tests: ['braking/rendering'],
  },
]
