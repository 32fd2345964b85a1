import { RuntimeError } from '../../src/protocol/errors.ts'
import type { Store } from '../../src/protocol/ports/store.ts'
import { MemorySnapshots } from '../../packages/stores/src/memory/memorySnapshots.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { owned } from '../../packages/evaluation/src/testing/contractDemands.ts'
import { storeContract } from '../../packages/evaluation/src/testing/storeContract.ts'
import { assert, describe } from '../support/suite.ts'

describe('the store contract', (it) => {
  /** Runs the cases, up to the first failure that is looked for. */
  const failuresOf = async (breakIt: (store: Store) => Partial<Store>, found?: RegExp): Promise<string[]> => {
    const create = (): Store => {
      const store = memoryStore()
      return { ...store, ...breakIt(store) }
    }
    const failed: string[] = []
    for (const { name, run } of storeContract({ create })) {
      await run().catch((thrown: unknown) => failed.push(`${name}: ${thrown instanceof Error ? thrown.message : ''}`))
      if (found?.test(failed.at(-1) ?? '') === true) break
    }
    return failed
  }

  it('finds nothing wrong with a store that keeps it', async () => {
    assert.equal(await failuresOf(() => ({})), [])
  })

  const breaches: { readonly [what: string]: { breakIt(store: Store): Partial<Store>; found: RegExp } } = {
    'loses an append': {
      breakIt: (store) => {
        let calls = 0
        return { append: async (id, records) => ((calls += 1) === 2 ? undefined : store.append(id, records)) }
      },
      found: /word for word and in order/,
    },
    'answers an append with nothing': {
      breakIt: (store) => ({
        append: (id, records) => void owned(store.append(id, records)) as unknown as Promise<void>,
      }),
      found: /append must return a promise/,
    },
    'throws where it should reject': {
      breakIt: (store) => ({
        append: (id, records) => {
          if (id === 'b') throw new RuntimeError('STORE_NOT_OPEN', 'It is not open.')
          return store.append(id, records)
        },
      }),
      found: /append must reject, not throw/,
    },
    'changes a record': {
      breakIt: (store) => ({
        append: (id, records) =>
          store.append(
            id,
            records.map((record) => ({ ...record, time: 0 })),
          ),
      }),
      found: /word for word and in order/,
    },
    'ignores fromSeq': { breakIt: (store) => ({ read: (id) => store.read(id) }), found: /read starts at fromSeq/ },
    'does not sort its list': {
      breakIt: (store) => ({ list: async () => (await store.list()).toReversed() }),
      found: /list gives the ids/,
    },
    'lists what nobody asked for': {
      breakIt: (store) => ({
        page: ({ metadata: _, ...query } = {}) => store.page!(query),
      }),
      found: /gives the logs that are asked for/,
    },
    'searches everywhere': {
      breakIt: (store) => ({ search: ({ text }) => store.search!({ text }) }),
      found: /looks where it is told/,
    },
    'begins every page anew': {
      breakIt: (store) => ({ page: ({ after: _, ...query } = {}) => store.page!(query) }),
      found: /goes on where the page before ended/,
    },
    'lets two writers in': {
      breakIt: (store) => ({
        open: (id) =>
          store.open(id).catch(async () => ({ agentId: id, lastSeq: 0, repairedBytes: 0, release: async () => {} })),
      }),
      found: /open lets one writer in at a time/,
    },
    'forgets whom a log belongs to': {
      breakIt: () => ({ holder: async () => undefined }),
      found: /holder must name who has the log open/,
    },
    'does not take its address back': {
      breakIt: (store) => ({ announce: async (url) => (url === undefined ? undefined : store.announce!(url)) }),
      found: /an address that was taken back/,
    },
    'gives contents of files to every agent': {
      breakIt: ({ snapshots }) => ({
        snapshots: {
          maxFileBytes: snapshots!.maxFileBytes,
          put: (_, bytes) => snapshots!.put('all', bytes),
          get: (_, id) => snapshots!.get('all', id),
        },
      }),
      found: /agents must not share them/,
    },
    'keeps contents of files of a log that it deletes': {
      breakIt: () => ({ snapshots: new MemorySnapshots() }),
      found: /delete must remove them/,
    },
    'lets who has lost a log write its checkpoint': {
      breakIt: ({ checkpoints }) => ({
        checkpoints: {
          read: (id) => checkpoints!.read(id),
          write: (id, checkpoint) => checkpoints!.write(id, checkpoint),
        },
      }),
      found: /taken over belongs to the taker.*the old writer must be refused/,
    },
    'lists what is due in no order': {
      breakIt: ({ timers }) => ({
        timers: {
          set: (id, due, epoch) => timers!.set(id, due, epoch),
          due: async (now, limit) => (await timers!.due(now)).toReversed().slice(0, limit),
        },
      }),
      found: /the earliest first/,
    },
    'lets who has lost a log write its time': {
      breakIt: ({ timers }) => ({
        timers: { set: (id, due) => timers!.set(id, due), due: (now, limit) => timers!.due(now, limit) },
      }),
      found: /an epoch of before must be refused/,
    },
    'stays open after close': { breakIt: () => ({ close: async () => {} }), found: /close waits for appends/ },
  }
  for (const [what, { breakIt, found }] of Object.entries(breaches))
    it(`tells of a store that ${what}`, async () => assert.match((await failuresOf(breakIt, found)).join('\n'), found))
})
