import type { Fault } from '../mutate.ts'

/** Slips in how the plan of an agent's state is shown. */
export const faults: readonly Fault[] = [
  {
    id: 'plans-1',
    file: 'packages/charts/src/planOf.ts',
    what: 'the step that is under way is not the one that is shown',
    from: 'const at = underWay === -1 ? ',
    to: 'const at = underWay !== -2 ? ',
    tests: ['packages/cli/test/eventPrinter'],
  },
  {
    id: 'plans-2',
    file: 'packages/cli/src/terminal/statusLine.ts',
    what: 'a step that does not fit takes the whole plan out of the line',
    from: 'return fittedParts({ ...facts, plan: { at } }, hint, columns)',
    to: 'return fittedParts(facts, hint, columns)',
    tests: ['packages/cli/test/eventPrinter'],
  },
]
