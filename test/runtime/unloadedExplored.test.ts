import type { AgentMachineEvent } from '../../src/machines/agentTypes.ts'
import type { ErrorInfo } from '../../src/protocol/errors.ts'
import type { AgentEvent } from '../../src/protocol/events.ts'
import { RuntimeError } from '../../src/protocol/errors.ts'
import type { AgentHost } from '../../src/runtime/agents/agentHost.ts'
import { UnloadedHost } from '../../src/runtime/agents/unloadedHost.ts'
import type { RunHandle } from '../../src/protocol/runs/run.ts'
import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { assert, describe } from '../support/suite.ts'

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const loaded = (failedRun: string | null = null): AgentHost =>
  ({
    agentId: 'a',
    ownDefinition: { name: 'tester', model: { id: 'm' }, policy: { maxChildren: 3 } },
    active: 'tester',
    given: { current: 'deps' },
    conversation: { lastSeq: 7 },
    spent: {},
    outline: {},
    store: {},
    metadata: undefined,
    asking: { lent: undefined },
    sources: [],
    announcer: { clean: (frame: unknown) => frame },
    context: { frame: null, failedRun, runs: 2, turns: 5 },
  }) as unknown as AgentHost

const outcomes = {
  loads: undefined,
  fails: new RuntimeError('STORE_OPEN_FAILED', 'the disk is away'),
  closes: new RuntimeError('RUNTIME_CLOSED', 'it is closed'),
} as const
type Outcome = keyof typeof outcomes

/** An unloaded agent whose load is held back, and all that becomes of it. */
function scene(outcome: Outcome, release: Promise<void> | undefined) {
  const opened = Promise.withResolvers<void>()
  const seen = {
    loads: 0,
    started: undefined as readonly AgentMachineEvent[] | undefined,
    awaited: [] as unknown[],
    ends: [] as string[],
    errors: [] as string[],
    closes: [] as (ErrorInfo | null)[],
    bound: 0,
  }
  const host = {
    runs: { await: (run: RunHandle) => seen.awaited.push(run) },
    start: (events: readonly AgentMachineEvent[]) => void (seen.started = [...events]),
    end: async (how: string) => void seen.ends.push(how),
    onEnd: () => {
      seen.bound += 1
      return () => void (seen.bound -= 1)
    },
    announcer: { subscribe: () => () => {} },
  } as unknown as AgentHost
  const agent = new UnloadedHost(loaded('a/r1'), {
    clock: simulatedClock(),
    instrumentation: undefined,
    shared: { callbackFailed: () => {} },
    load: async (_, begin) => {
      seen.loads += 1
      await opened.promise
      const wrong = outcomes[outcome]
      if (wrong !== undefined) throw wrong
      begin(host)
      return host
    },
  })
  agent.onEnd((crash) => void seen.closes.push(crash))
  agent.subscribe((event: AgentEvent) => void (event.type === 'error' && seen.errors.push(event.error.code)), {
    descendants: false,
  })
  if (release !== undefined) agent.releasing(release)
  return { agent, seen, host, open: opened.resolve }
}

const ops = ['prompt', 'abort', 'withdraw', 'resume', 'load', 'close', 'stop'] as const
type Op = (typeof ops)[number]

/** Expected state of an unloaded agent after these commands. */
class Plain {
  state: 'unloaded' | 'loading' | 'ending' | 'ended' = 'unloaded'
  how: 'close' | 'stop' | undefined
  events: string[] = []

  take(op: Op): void {
    const isIdle = this.events.length === 0
    if (op === 'close' || op === 'stop') {
      if (this.state === 'unloaded' && op === 'close') this.state = 'ended'
      else if (this.state === 'unloaded' || this.state === 'loading') [this.state, this.how] = ['ending', op]
      return
    }
    if (
      op !== 'load' &&
      ((op === 'withdraw' && isIdle) || (op === 'abort' && (isIdle || this.events.at(-1) === 'abort')))
    )
      return
    if (op !== 'load') this.events.push(op)
    if (this.state === 'unloaded') this.state = 'loading'
  }
}

async function explore(sequence: readonly Op[], outcome: Outcome, releaseFails: boolean): Promise<void> {
  const release = Promise.withResolvers<void>()
  const { agent, seen, host, open } = scene(outcome, release.promise)
  const plain = new Plain()
  const runs: RunHandle[] = []
  const loads: Promise<unknown>[] = []
  const ends: Promise<unknown>[] = []
  const kept = <T>(promise: Promise<T>): Promise<unknown> => promise.catch((thrown: unknown) => thrown)
  for (const op of sequence) {
    if (plain.state === 'ended' && (op === 'prompt' || op === 'resume')) continue
    if (op === 'prompt') runs.push(agent.expect(`r${runs.length}`))
    if (op === 'load') loads.push(kept(agent.load()))
    else if (op === 'close' || op === 'stop') ends.push(kept(agent.end(op)))
    else if (op === 'resume') await agent.resume({ requestId: 'r' } as RunHandle, { turns: 3 })
    else agent.send({ type: op } as AgentMachineEvent)
    plain.take(op)
    const isOver = plain.state === 'ending' || plain.state === 'ended'
    assert.equal(
      [agent.unseen, agent.isStopped, agent.state],
      [plain.events.length, isOver, plain.state === 'ended' ? 'stopped' : 'idle'],
    )
    assert.is(agent.context.failedRun, plain.events.length === 0 ? 'a/r1' : null)
  }
  await settled()
  // The log is opened once its last owner has let it go.
  assert.is(seen.loads, 0)
  const isLoading = plain.state === 'loading' || plain.state === 'ending'
  if (releaseFails) release.reject(new RuntimeError('STORE_APPEND_FAILED', 'not written'))
  else release.resolve()
  await settled()
  assert.is(seen.loads, isLoading ? 1 : 0)
  open()
  await settled()
  const wrong = isLoading ? outcomes[outcome] : undefined
  const told = [
    // Listeners hear nothing after the end.
    ...(releaseFails && plain.state !== 'ended' ? ['STORE_APPEND_FAILED'] : []),
    ...(wrong?.code === 'STORE_OPEN_FAILED' ? [wrong.code] : []),
  ]
  assert.equal(seen.errors, told)
  const isEnded = plain.state === 'ended' || (plain.state === 'ending' && plain.how === 'close' && wrong !== undefined)
  assert.equal(seen.closes, isEnded ? [null] : [])
  const isStopped = plain.state === 'ended' && !isLoading
  for (const each of await Promise.all(loads))
    if (each instanceof RuntimeError) assert.is(each.code, isStopped ? 'AGENT_STOPPED' : wrong?.code)
    else assert.is(each, host)
  for (const each of await Promise.all(ends))
    assert.is(each, plain.how === 'stop' && wrong !== undefined ? wrong : undefined)
  if (isLoading && wrong === undefined) {
    assert.equal(
      seen.started?.map(({ type }) => type),
      plain.events,
    )
    assert.equal(seen.awaited, runs)
    assert.equal([...new Set(seen.ends)], plain.how === undefined ? [] : [plain.how])
    assert.is(seen.bound, 1)
    const resumed = seen.started?.find(({ type }) => type === 'resume') as { limits?: object } | undefined
    if (resumed !== undefined) assert.equal(resumed.limits, { turns: 3 })
    return
  }
  assert.equal([seen.started, seen.awaited], [undefined, []])
  assert.equal([agent.unseen, agent.isStopped], [isLoading ? 0 : plain.events.length, isEnded])
  if (!isLoading) return
  for (const run of runs) {
    const { stopReason, error } = await run.result
    assert.equal([stopReason, error?.code], outcome === 'closes' ? ['aborted', undefined] : ['error', wrong!.code])
  }
  if (isEnded) return
  // The next command tries again.
  agent.send({ type: 'prompt' } as AgentMachineEvent)
  await settled()
  assert.is(seen.loads, 2)
}

describe('an agent that is unloaded', (it) => {
  for (const outcome of Object.keys(outcomes) as Outcome[])
    it(`does what it was told, in order, whatever that is, where its log ${outcome}`, async () => {
      for (let number = 0; number < ops.length ** 3; number += 1) {
        const sequence = [0, 1, 2].map((at) => ops[Math.floor(number / ops.length ** at) % ops.length]!)
        const releaseFails = number % 2 === 1
        try {
          await explore(sequence, outcome, releaseFails)
        } catch (thrown) {
          const message = `${sequence.join(', ')}; ${releaseFails}: ${(thrown as Error).message}`
          throw Object.assign(thrown as Error, { message })
        }
      }
    })

  it('gives back listeners that were taken away before and after it is loaded, and keeps what it was lent', async () => {
    const { agent, seen, open } = scene('loads', undefined)
    const gone = agent.onEnd(() => assert.unreachable('it was taken away'))
    gone()
    const later = agent.onEnd(() => {})
    assert.is(agent.lent, undefined)
    const models = ['m1', 'm2'].map((id) => ({ model: { id } }))
    for (const model of models) agent.lend(model as never)
    assert.equal([...agent.lent!.keys()], ['m1', 'm2'])
    open()
    await agent.load()
    assert.is(seen.bound, 2)
    later()
    assert.is(seen.bound, 1)
    assert.equal([agent.deps, agent.room, agent.isLoaded, agent.waitsFor], ['deps', 3, false, null])
  })
})
