import type { Fault } from '../mutate.ts'

const uses = 'packages/sessions/src/spend/logUses.ts'
const sums = 'packages/sessions/src/spend/spendOf.ts'
const index = 'packages/bridge/src/server/spendIndex.ts'
const tests = ['sessions/test/spendOf']
const served = ['bridge/test/server/sessionSpend']

/** Slips in what a store has spent. */
export const faults: readonly Fault[] = [
  {
    id: 'spend-1',
    file: uses,
    what: 'a free model has no known price',
    from: "why !== undefined && why !== 'free'",
    to: 'why !== undefined',
    tests,
  },
  {
    id: 'spend-2',
    file: sums,
    what: 'a sub-agent that was written last before that time counts as its caller says, too',
    from: 'told.delete(id)',
    to: 'void id',
    tests,
  },
  {
    id: 'spend-3',
    file: uses,
    what: 'what is kept with a result of a call that was no agent counts as a model',
    from: 'if (used === undefined || (childId === undefined && isOfCall(record))) return',
    to: 'if (used === undefined) return',
    tests,
  },
  {
    id: 'spend-4',
    file: sums,
    what: 'logs from before the time that is asked for are read',
    from: '    if (log.writtenAt < since) break\n',
    to: '',
    tests,
  },
  {
    id: 'spend-5',
    file: sums,
    what: 'the end of the time belongs to it',
    from: 'time < until',
    to: 'time <= until',
    tests,
  },
  {
    id: 'spend-6',
    file: 'packages/sessions/src/spend/spendBook.ts',
    what: 'a sub-agent is a session of its own',
    from: 'return origin?.path[0] ?? id',
    to: 'return id',
    tests,
  },
  {
    id: 'spend-7',
    file: uses,
    what: 'what is joined has forgotten that a price was missing',
    from: 'one.isUnpriced === other.isUnpriced && ',
    to: '',
    tests,
  },
  {
    id: 'spend-8',
    file: index,
    what: 'a log that has grown is read from its beginning, on top of what is known',
    from: 'if (!isSame) {',
    to: 'if (!isSame) {\n      uses.next = 1',
    tests: served,
  },
  {
    id: 'spend-9',
    file: index,
    what: 'who sees some agents is told of all',
    from: '(log) => this.#read(log, since), choose)',
    to: '(log) => this.#read(log, since))',
    tests: served,
  },
  {
    id: 'spend-10',
    file: sums,
    what: 'an hour is said to have what brakes saved since ever',
    from: 'const isWhole = since === 0 && until === Infinity',
    to: 'const isWhole = until === Infinity',
    tests,
  },
  {
    id: 'spend-11',
    file: sums,
    what: 'savings without a price count as if they had one',
    from: 'const into = usd === null ? sum.unpriced : sum',
    to: 'const into = sum',
    tests,
  },
  {
    id: 'spend-12',
    file: 'packages/sessions/src/savings/reckoning.ts',
    what: 'brakes that were dropped are taken for settled ones that come',
    from: 'state.brakes = []\n  state.settled = 0',
    to: 'state.brakes = []',
    tests: ['sessions/test/savings'],
  },
]
