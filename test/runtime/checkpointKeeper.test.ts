import type { ContextFold } from '../../src/machines/rebuildContext.ts'
import type { CheckpointStore } from '../../src/protocol/ports/checkpoints.ts'
import type { LogRecord, RecordOf } from '../../src/protocol/records.ts'
import { CheckpointKeeper } from '../../src/runtime/agents/checkpointKeeper.ts'
import { recordsBetween } from '../../packages/evaluation/src/testing/contractDemands.ts'
import { assert, describe } from '../support/suite.ts'

const turn = async (): Promise<void> => {
  for (let turns = 0; turns < 3; turns += 1) await new Promise((resolve) => setImmediate(resolve))
}

/** A keeper of an agent at rest, the records at which it wrote, and those that its context had been folded over. */
function keeping(rest: Partial<CheckpointStore> = {}) {
  const log: LogRecord[] = []
  const host = {
    agentId: 'a',
    store: {
      async *read(_: string, from = 1) {
        yield* log.slice(from - 1)
      },
    },
    machine: { state: 'idle', unseen: 0, isStopped: false },
    view: { lastSeq: 0, keep: () => ({ kept: {} as never, nodes: new Uint8Array(1) }) },
    pending: undefined as Promise<void> | undefined,
    log: { durable: () => host.pending },
  }
  const seen = { writes: [] as number[], folded: 0, contexts: [] as number[], failures: [] as unknown[], fails: 0 }
  const context = {
    get seq() {
      return seen.folded
    },
    apply: ({ seq }: LogRecord) => {
      assert.is(seq, seen.folded + 1, 'each in its turn')
      seen.folded = seq
    },
    keep: () => ({ seq: seen.folded }),
  }
  const keeper = new CheckpointKeeper(host, {
    checkpoints: {
      read: async () => undefined,
      write: async (_, { seq, body }) => {
        seen.writes.push(seq)
        const length = new DataView(body.buffer).getUint32(0, true)
        const kept = JSON.parse(Buffer.from(body.subarray(4, 4 + length)).toString()) as { context: { seq: number } }
        seen.contexts.push(kept.context.seq)
        if (seen.fails-- > 0) throw new Error('the disk is full')
      },
      ...rest,
    },
    epoch: undefined,
    context: context as unknown as ContextFold,
    created: { type: 'agent.created' } as RecordOf<'agent.created'>,
    at: 0,
    bytes: 0,
    last: undefined,
    failed: (thrown) => void seen.failures.push(thrown),
  })
  const happens = (count: number): void => {
    for (const record of recordsBetween(host.view.lastSeq + 1, host.view.lastSeq + count)) {
      host.view.lastSeq = record.seq
      log.push(record)
      keeper.apply(record)
    }
  }
  return { host, seen, keeper, happens }
}

describe('what keeps checkpoints', (it) => {
  it('writes one only once the log has the record that it stands at, also when the agent is let go of', async () => {
    for (const isLetGo of [false, true]) {
      const { host, seen, keeper, happens } = keeping()
      happens(64)
      const written = Promise.withResolvers<void>()
      host.pending = written.promise
      if (isLetGo) void keeper.finish()
      else keeper.look()
      await turn()
      happens(3)
      assert.equal(seen.writes, [])
      written.resolve()
      await turn()
      assert.equal(seen.writes, [64])
    }
  })

  it('lets go of an agent only once what was under way is written, and writes that once', async () => {
    const { host, seen, keeper, happens } = keeping()
    happens(64)
    const written = Promise.withResolvers<void>()
    host.pending = written.promise
    keeper.look()
    await turn()
    let isOver = false
    const finished = keeper.finish().then(() => (isOver = true))
    await turn()
    assert.equal([seen.writes, isOver], [[], false])
    written.resolve()
    await finished
    assert.equal(seen.writes, [64])
  })

  it('tries again at the next rest, and at the end, what could not be written', async () => {
    const { seen, keeper, happens } = keeping()
    happens(64)
    seen.fails = 2
    keeper.look()
    await turn()
    assert.equal([seen.writes, seen.failures.length], [[64], 1])
    happens(1)
    keeper.look()
    await turn()
    assert.equal([seen.writes, seen.failures.length], [[64, 65], 2])
    await keeper.finish()
    assert.equal(seen.writes, [64, 65, 65])
    keeper.look()
    await keeper.finish()
    assert.is(seen.writes.length, 3, 'nothing new')
  })

  it('writes none where its log has failed, and none of an agent in the middle of something', async () => {
    const { host, seen, keeper, happens } = keeping()
    happens(64)
    const failed = Promise.reject<void>(new Error('the store has failed'))
    failed.catch(() => {})
    host.pending = failed
    keeper.look()
    await turn()
    assert.equal([seen.writes, seen.failures.length], [[], 1])
    host.pending = undefined
    for (const busy of [{ state: 'executing' }, { unseen: 1 }, { isStopped: true }]) {
      Object.assign(host.machine, { state: 'idle', unseen: 0, isStopped: false })
      keeper.look()
      // It comes to rest no more before its turn.
      Object.assign(host.machine, busy)
      await turn()
      keeper.look()
      await turn()
      assert.equal(seen.writes, [], JSON.stringify(busy))
    }
  })

  it('writes none of an agent that was stopped: nobody opens it again', async () => {
    const { host, seen, keeper, happens } = keeping()
    happens(64)
    host.view.lastSeq += 1
    keeper.apply({ ...recordsBetween(65, 65)[0]!, type: 'agent.stopped' })
    await keeper.finish()
    assert.equal(seen.writes, [])
  })

  it('folds what an agent did only once it may write it', async () => {
    const { seen, keeper, happens } = keeping()
    happens(63)
    await keeper.finish()
    assert.equal([seen.folded, seen.writes], [0, []])
    happens(7)
    assert.is(seen.folded, 64, 'of what waits to be folded no more than that is kept')
    await keeper.finish()
    assert.equal([seen.writes, seen.contexts], [[70], [70]])
  })

  it('writes one where nothing outlives the process as the agent is let go of, and does nothing for it before', async () => {
    const { seen, keeper, happens } = keeping({ isVolatile: true })
    for (let rests = 0; rests < 5; rests += 1) {
      happens(100)
      keeper.look()
      await turn()
    }
    assert.equal([seen.folded, seen.writes], [0, []])
    await keeper.finish()
    assert.equal([seen.writes, seen.contexts], [[500], [500]])
    happens(64)
    await keeper.finish()
    assert.equal(
      [seen.writes, seen.contexts],
      [
        [500, 564],
        [500, 564],
      ],
    )
  })
})
