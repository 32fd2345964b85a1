import type { Fault } from '../mutate.ts'

const file = 'packages/policies/src/compositions.ts'
const tests = ['braking/compositions']
const anyParts = ['braking/policyProperties']

export const faults: readonly Fault[] = [
  {
    id: 'compositions-1',
    file,
    what: 'the window is not passed on',
    from: 'options.contextWindow === undefined ? {} : { contextWindow: options.contextWindow }',
    to: '({})',
    tests,
  },
  {
    id: 'compositions-2',
    file,
    what: 'a memory that fails is not noticed',
    from: 'await stored.keep(part, at)\n',
    to: 'void Promise.resolve(stored.keep(part, at)).catch(() => {})\n',
    tests,
  },
  {
    id: 'compositions-3',
    file,
    what: 'the memory is left out',
    from: 'keep: memory === undefined ? summary : storing(memory, summary),',
    to: 'keep: summary,',
    tests,
  },
  {
    id: 'compositions-4',
    file,
    what: 'a reviewer of yours is not asked',
    from: 'if (reviewer !== undefined) return decide.reviewer(reviewer, bounds)\n',
    to: '',
    tests,
  },
  {
    id: 'compositions-5',
    file,
    what: 'the archive is left out',
    from: 'keep: options.archive === undefined ? keep.notes() : keep.archive(options.archive),',
    to: 'keep: keep.notes(),',
    tests,
  },
  {
    id: 'compositions-6',
    file,
    what: 'a loop does not bring the reviewer',
    from: 'nowAndThen(tooLarge(options), when.stalled()), options)',
    to: 'nowAndThen(tooLarge(options)), options)',
    tests,
  },
  {
    id: 'compositions-7',
    file,
    what: 'nothing leaves at rest',
    from: 'when.anyOf(when.whileIdle(), when.everyTurns(2 * turnsBetween))',
    to: 'when.everyTurns(2 * turnsBetween)',
    tests,
  },
  {
    id: 'compositions-8',
    file,
    what: 'the embedding is not used',
    from: 'decide.leastRelevant(undefined, embed === undefined ? {} : { embed })',
    to: 'decide.leastRelevant()',
    tests,
  },
  {
    id: 'compositions-9',
    file,
    what: 'good work is given up as well',
    from: 'when.valueBelow(scorer, { below })',
    to: 'when.valueBelow(scorer, { below: 1 })',
    tests,
  },
  {
    id: 'compositions-10',
    file,
    what: 'a compaction is written by no model',
    from: 'strategy: llmStrategy({ ...(model === undefined ? {} : { model }), ...words })',
    to: 'strategy: heuristicStrategy',
    tests,
  },
  {
    id: 'compositions-11',
    file,
    what: 'loops are not noticed',
    from: ', stall: true }, compaction',
    to: ' }, compaction',
    tests,
  },
  {
    id: 'compositions-12',
    file: 'src/machines/policies.ts',
    what: 'what a policy came to is not in the log',
    from: "draft.record({ type: 'policy.end', ...draft.at, ...end })\n",
    to: '',
    tests: anyParts,
  },
]
