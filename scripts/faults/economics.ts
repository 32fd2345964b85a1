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
  {
    id: 'economics-2',
    file: 'src/conversation/revert.ts',
    what: 'the answer a person has read goes with the span it ended',
    from: 'last === undefined || keepVerbatim?.includes(last.id)',
    to: 'last !== undefined || keepVerbatim?.includes(last.id)',
    tests: ['braking/lastReply'],
  },
  {
    id: 'economics-3',
    file: 'src/conversation/visibleTags.ts',
    what: 'an answer goes when a newer note says the same',
    from: '`${kind}\\n${lastReply}\\n${text}`',
    to: '`${kind}\\n${text}`',
    tests: ['braking/lastReply'],
  },
  {
    id: 'economics-4',
    file: 'src/conversation/brakeNotes.ts',
    what: 'a roll-up forgets the answers',
    from: "${quotes}${replies.join('')}",
    to: '${quotes}',
    tests: ['braking/lastReply'],
  },
]
