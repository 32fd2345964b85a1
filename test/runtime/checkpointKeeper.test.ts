import type { ContextFold } from '../../src/machines/rebuildContext.ts'
import type { CheckpointStore } from '../../src/protocol/ports/checkpoints.ts'
import type { LogRecord, RecordOf } from '../../src/protocol/records.ts'
import { checkpointForm, digestOf, keptIn, type KeptState } from '../../src/runtime/agents/keptAgent.ts'
import { CheckpointKeeper } from '../../src/runtime/agents/checkpointKeeper.ts'
import { recordsBetween } from '../../packages/evaluation/src/testing/contractDemands.ts'
import { bodyOf } from '../../src/runtime/agents/sharedState.ts'
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
    view: {
      lastSeq: 0,
      keep: () => ({ kept: {} as never, nodes: { table: new Uint8Array(seen.nodeBytes), shared: [], own: [] } }),
    },
    pending: undefined as Promise<void> | undefined,
    log: { durable: () => host.pending, checkpointFailed: (thrown: unknown) => void seen.failures.push(thrown) },
  }
  const seen = {
    nodeBytes: 1,
    epochs: [] as unknown[],
    writes: [] as number[],
    folded: 0,
    contexts: [] as number[],
    failures: [] as unknown[],
    fails: 0,
  }
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
      write: async (_, { seq, body }, epoch) => {
        seen.writes.push(seq)
        seen.epochs.push(epoch)
        const length = new DataView(body.buffer).getUint32(0, true)
        const kept = JSON.parse(Buffer.from(body.subarray(4, 4 + length)).toString()) as { context: { seq: number } }
        seen.contexts.push(kept.context.seq)
        if (seen.fails-- > 0) throw new Error('the disk is full')
      },
      ...rest,
    },
    epoch: 7,
    context: context as unknown as ContextFold,
    created: { type: 'agent.created' } as RecordOf<'agent.created'>,
    at: 0,
    bytes: 0,
    last: undefined,
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

  it('writes each once, in the name of its lease, however often it is told that something happened', async () => {
    const { seen, keeper, happens } = keeping()
    happens(64)
    for (let times = 0; times < 3; times += 1) keeper.look()
    await turn()
    keeper.look()
    await turn()
    assert.equal([seen.writes, seen.epochs], [[64], [7]])
  })

  it('writes the next after the more records the larger the last was, within bounds', async () => {
    for (const [kib, least] of [
      [0, 64],
      [100, 100],
      [200, 200],
      [10_000, 256],
    ] as const) {
      const { seen, keeper, happens } = keeping()
      seen.nodeBytes = kib * 1_024
      happens(64)
      keeper.look()
      await turn()
      // A little is around the nodes.
      happens(least - 1)
      await keeper.finish()
      assert.equal(seen.writes, [64], `${kib} KiB`)
      happens(2)
      await keeper.finish()
      assert.equal(seen.writes, [64, 64 + least + 1], `${kib} KiB`)
    }
  })

  it('writes one where the log was compacted, and again if that failed', async () => {
    const { host, seen, keeper, happens } = keeping()
    happens(5)
    host.view.lastSeq += 1
    const compacted = { ...recordsBetween(6, 6)[0]!, type: 'compaction.end', applied: true } as unknown as LogRecord
    keeper.apply(compacted)
    seen.fails = 1
    await keeper.finish()
    assert.equal([seen.writes, seen.failures.length], [[6], 1])
    await keeper.finish()
    assert.equal(seen.writes, [6, 6])
    await keeper.finish()
    assert.equal(seen.writes, [6, 6])
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

describe('a checkpoint', (it) => {
  const [other, own] = recordsBetween(1, 2) as [LogRecord, LogRecord]
  const kept = { counted: [1, 2] } as unknown as KeptState
  const body = bodyOf(kept, [Uint8Array.of(1), Uint8Array.of(2, 3)])
  const checkpoint = { seq: 2, form: checkpointForm, digest: digestOf(own), body }

  it('is of use at its own record only, of a log of its own form', () => {
    for (const [change, at, why] of [
      [{ form: 'agent-0' }, own, 'another version made it'],
      [{}, undefined, 'the log ends before it'],
      [{}, other, 'the log ends before it'],
      [{}, { ...own, time: own.time + 1 }, 'it is of another log'],
      [{ digest: 'x' }, own, 'it is of another log'],
    ] as const)
      assert.throws(() => keptIn({ ...checkpoint, ...change }, at), new RegExp(why))
  })

  it('is read wherever its bytes lie in memory', () => {
    for (const [before, after] of [
      [0, 0],
      [7, 0],
      [0, 5],
      [3, 9],
    ] as const) {
      const around = new Uint8Array(before + body.length + after).fill(255)
      around.set(body, before)
      const moved = { ...checkpoint, body: around.subarray(before, before + body.length) }
      const { kept: read, nodes } = keptIn(moved, own)
      assert.equal([read, [...nodes]], [kept, [1, 2, 3]])
    }
  })
})
