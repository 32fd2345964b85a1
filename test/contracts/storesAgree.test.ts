import { someRuns } from '../support/seeds.ts'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { toErrorInfo } from '../../src/protocol/errors.ts'
import type { Store } from '../../src/protocol/ports/store.ts'
import { readAll, recordsBetween } from '../../packages/evaluation/src/testing/contractDemands.ts'
import { fileStore } from '../../packages/stores/src/fileStore.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { assert, describe } from '../support/suite.ts'

/** Something done to a log; numbers are relative to where it ends. */
type Act =
  | { readonly type: 'append'; readonly count: number }
  /** May bring more than is there. */
  | { readonly type: 'repeat'; readonly back: number; readonly count: number }
  | { readonly type: 'contradict'; readonly back: number }
  | { readonly type: 'skip'; readonly ahead: number }
  | { readonly type: 'wait' }
  | { readonly type: 'reopen' }

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant('append' as const), count: fc.nat(5) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('repeat' as const),
      back: fc.nat(6),
      count: fc.integer({ min: 1, max: 6 }),
    }),
  },
  fc.record({ type: fc.constant('contradict' as const), back: fc.nat(6) }),
  fc.record({ type: fc.constant('skip' as const), ahead: fc.integer({ min: 1, max: 3 }) }),
  fc.constant({ type: 'wait' as const }),
  fc.constant({ type: 'reopen' as const }),
)

/** Does the acts without waiting in between, and gives what was accepted, what each read saw, and the log at the end. */
async function perform(
  first: Store,
  acts: readonly Act[],
  reopen: (store: Store) => Promise<Store>,
): Promise<unknown[]> {
  let store = first
  const outcomes: Promise<unknown>[] = []
  const append = (from: number, to: number, records = recordsBetween(from, to)): void => {
    outcomes.push(
      store.append('a', records).then(
        () => `${from}-${to} kept`,
        (thrown: unknown) => `${from}-${to} ${toErrorInfo(thrown, 'INTERNAL').code}`,
      ),
    )
  }
  let last = 0
  let lease = await store.open('a')
  for (const step of acts) {
    if (step.type === 'append') {
      append(last + 1, last + step.count)
      last += step.count
    } else if (step.type === 'skip') append(last + 1 + step.ahead, last + 1 + step.ahead)
    else if (step.type === 'repeat') {
      const from = Math.max(1, last - step.back)
      append(from, from + step.count - 1)
      last = Math.max(last, from + step.count - 1)
    } else if (step.type === 'contradict') {
      const at = Math.max(1, last - step.back)
      const others = recordsBetween(at, at).map((record) => ({ ...record, time: 5 }))
      // The first record of a log contradicts nothing.
      if (last > 0) append(at, at, others)
    } else {
      await Promise.all(outcomes)
      assert.equal(await readAll(store, 'a'), recordsBetween(1, last))
      if (step.type === 'reopen') {
        await lease.release()
        store = await reopen(store)
        lease = await store.open('a')
        assert.equal([lease.lastSeq, lease.repairedBytes], [last, 0])
      }
    }
  }
  const done = await Promise.all(outcomes)
  const log = await readAll(store, 'a')
  assert.equal(log, recordsBetween(1, last))
  await store.close()
  return [...done, log.length]
}

describe('stores', (it) => {
  it(
    'keep and refuse the same, whatever is appended, in memory and in files',
    { timeoutMs: 20_000 },
    async ({ cleanup }) => {
      const root = await mkdtemp(join(tmpdir(), 'escapement-agree-'))
      cleanup(() => rm(root, { recursive: true }))
      let runs = 0
      const property = fc.asyncProperty(fc.array(act, { maxLength: 40 }), async (acts) => {
        const dir = join(root, String((runs += 1)))
        const inFiles = await perform(fileStore(dir), acts, async (store) => {
          await store.close()
          return fileStore(dir)
        })
        const inMemory = await perform(memoryStore(), acts, async (store) => store)
        assert.equal(inFiles, inMemory)
      })
      await fc.assert(property, { numRuns: someRuns(60), seed: 20_260_101 })
    },
  )
})
