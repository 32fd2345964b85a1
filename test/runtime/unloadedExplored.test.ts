// XState marks its internal members with an underscore.
/* oxlint-disable no-underscore-dangle */
import type { PricedModel } from '../../src/actors/turn/turnOptions.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import type { AgentMachineEvent } from '../../src/machines/agentTypes.ts'
import type { ErrorInfo } from '../../src/protocol/errors.ts'
import type { AgentEvent } from '../../src/protocol/events.ts'
import { RuntimeError } from '../../src/protocol/errors.ts'
import { Agent, type AgentOwner } from '../../src/runtime/agents/agent.ts'
import { AgentHost } from '../../src/runtime/agents/agentHost.ts'
import type { HostOptions, HostShared } from '../../src/runtime/agents/hostOptions.ts'
import type { AgentActor, Machine } from '../../src/runtime/agents/machine.ts'
import { RunDeps } from '../../src/runtime/children/runDeps.ts'
import { Instrumentation } from '../../packages/runtime/src/instrumentation.ts'
import type { Tracer } from '../../src/protocol/ports/tracer.ts'
import { RunHandle } from '../../src/protocol/runs/run.ts'
import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { assert, describe } from '../support/suite.ts'

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const definition = defineAgent({ name: 'tester', model: policyModel(() => 'yes'), maxChildren: 3 })

/** An actor whose chart does nothing but end when it is told to. */
class IdleActor {
  readonly taken: AgentMachineEvent[] = []
  readonly #started: () => void
  #observer: Machine | undefined
  #status = 'active'

  constructor(started: () => void) {
    this.#started = started
  }

  getSnapshot(): object {
    const nothing = { run: null, pausedRun: null, pause: null, resuming: null, ending: null }
    const lists = { calls: [], attached: [], reporters: [] }
    const context = {
      agentId: 'a',
      frame: null,
      failedRun: 'a/r1',
      runs: 2,
      turns: 5,
      children: 0,
      parts: {},
      ...nothing,
      ...lists,
    }
    return { value: 'idle', status: this.#status, context, children: {} }
  }

  subscribe(observer: Machine): void {
    this.#observer = observer
  }

  start(): void {
    this.#started()
  }

  send(event: AgentMachineEvent): void {
    this.taken.push(event)
    if (event.type === 'stop' || event.type === 'close') this._stop()
  }

  /** As XState does. */
  _stop(): void {
    this.#status = 'stopped'
    this.#observer!.complete()
  }
}

const outcomes = {
  loads: undefined,
  fails: new RuntimeError('STORE_OPEN_FAILED', 'the disk is away'),
  closes: new RuntimeError('RUNTIME_CLOSED', 'it is closed'),
} as const
type Outcome = keyof typeof outcomes

/** An unloaded agent whose load is held back, and all that becomes of it. */
function scene(outcome: Outcome, release = Promise.resolve()) {
  const opened = Promise.withResolvers<void>()
  const seen = {
    loads: 0,
    /** Commands that its actor was given before it started. */
    started: undefined as readonly AgentMachineEvent[] | undefined,
    ends: [] as string[],
    /** Runs that it knows of when it starts. */
    awaited: [] as string[],
    errors: [] as string[],
    traced: [] as string[],
    closes: [] as (ErrorInfo | null)[],
  }
  const actor = new IdleActor(() => {
    seen.started = [...actor.taken]
    seen.awaited = ['r0', 'r1', 'r2'].filter((id) => host.runs.expects(id))
  })
  const tracer: Tracer = {
    event: (event) => void (event.type === 'error' && seen.traced.push(event.error.code)),
    within: (_, __, run) => run(),
  }
  const lease = { agentId: 'a', lastSeq: 0, repairedBytes: 0, epoch: 1, release: async () => {} }
  const shared = {
    machine: {},
    createActor: () => actor,
    store: {},
    clock: simulatedClock(),
    random: () => 0,
    instrumentation: new Instrumentation({ tracer }),
    sources: { redactor: undefined, unheard: () => {} },
    childHosts: {},
    isStoreOver: () => false,
    checkpointFailed: () => {},
    callbackFailed: () => {},
    async reload(agentId: string, begin: () => void) {
      assert.is(agentId, 'a')
      seen.loads += 1
      await opened.promise
      const wrong = outcomes[outcome]
      if (wrong !== undefined) throw wrong
      host.load({ lease })
      begin()
    },
  } as unknown as HostShared
  const options: HostOptions = { agentId: 'a', definition, lease, deps: new RunDeps('deps') }
  const host: AgentHost = new AgentHost(options, shared)
  host.attach(new IdleActor(() => {}) as unknown as AgentActor)
  host.machine.onEnd((crash) => void seen.closes.push(crash))
  host.announcer.subscribe((event: AgentEvent) => void (event.type === 'error' && seen.errors.push(event.error.code)), {
    descendants: false,
  })
  host.unload(() => release)
  assert.equal([seen.closes, seen.errors], [[], []])
  const ends = (): string[] => actor.taken.slice(seen.started?.length ?? 0).map(({ type }) => type)
  return { host, seen, ends, open: opened.resolve }
}

const ops = ['prompt', 'abort', 'withdraw', 'resume', 'load', 'close', 'stop'] as const
type Op = (typeof ops)[number]

/** The expected state of an unloaded agent after these commands. */
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
  const { host, seen, ends: endsGiven, open } = scene(outcome, release.promise)
  const { machine } = host
  const plain = new Plain()
  const runs: RunHandle[] = []
  const loads: Promise<unknown>[] = []
  const ends: Promise<unknown>[] = []
  const kept = <T>(promise: Promise<T>): Promise<unknown> => promise.catch((thrown: unknown) => thrown)
  for (const op of sequence) {
    if (plain.state === 'ended' && (op === 'prompt' || op === 'resume')) continue
    if (op === 'prompt') runs.push(host.runs.await(new RunHandle(`r${runs.length}`)))
    if (op === 'load') loads.push(kept(host.loaded(async (agent) => agent)))
    else if (op === 'close' || op === 'stop') ends.push(kept(machine.end(op)))
    else if (op === 'resume') host.runs.continue(new RunHandle('r'), { turns: 3 })
    else machine.send({ type: op } as AgentMachineEvent)
    plain.take(op)
    const isOver = plain.state === 'ending' || plain.state === 'ended'
    assert.equal(
      [machine.unseen, machine.isStopped, machine.state],
      [plain.events.length, isOver, plain.state === 'ended' ? 'stopped' : 'idle'],
    )
    assert.equal([host.isLoaded, machine.open === undefined], [false, isOver])
    assert.is(machine.context.failedRun, plain.events.length === 0 ? 'a/r1' : null)
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
  const traced = [
    ...(releaseFails ? ['STORE_APPEND_FAILED'] : []),
    ...(wrong?.code === 'STORE_OPEN_FAILED' ? [wrong.code] : []),
  ]
  // Listeners hear nothing after the end.
  const told = plain.state === 'ended' ? [] : traced
  assert.equal([seen.errors, seen.traced], [told, traced])
  const isEnded = plain.state === 'ended' || (plain.state === 'ending' && plain.how === 'close' && wrong !== undefined)
  const isLoadedAndEnded = plain.state === 'ending' && wrong === undefined
  assert.equal(seen.closes, isEnded || isLoadedAndEnded ? [null] : [])
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
    assert.equal(
      seen.awaited,
      runs.map(({ requestId }) => requestId),
    )
    assert.equal([endsGiven(), host.isLoaded], [plain.how === undefined ? [] : [plain.how], true])
    const resumed = seen.started?.find(({ type }) => type === 'resume') as { limits?: object } | undefined
    if (resumed !== undefined) assert.equal(resumed.limits, { turns: 3 })
    if (plain.how === undefined) {
      // Who listened while it was unloaded still does.
      host.announcer.fail(new RuntimeError('INTERNAL', 'heard'))
      assert.equal(seen.errors, [...told, 'INTERNAL'])
      await machine.end('close')
    }
    assert.equal(seen.closes, [null])
    for (const run of runs) assert.is((await run.result).stopReason, 'aborted')
    return
  }
  assert.equal([seen.started, seen.awaited], [undefined, []])
  assert.equal([machine.unseen, machine.isStopped], [isLoading ? 0 : plain.events.length, isEnded])
  if (!isLoading) return
  for (const run of runs) {
    const { stopReason, error } = await run.result
    assert.equal([stopReason, error?.code], outcome === 'closes' ? ['aborted', undefined] : ['error', wrong!.code])
  }
  if (isEnded) return
  // The next command tries again.
  machine.send({ type: 'prompt' } as AgentMachineEvent)
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

  it('keeps its listeners but for those that were taken away, before it is loaded and after, and what it was lent', async () => {
    const { host, seen, open } = scene('loads')
    const { machine } = host
    const agent = new Agent(host, {} as AgentOwner<Agent>)
    const gone = machine.onEnd(() => assert.unreachable('it was taken away'))
    gone()
    const later = machine.onEnd(() => assert.unreachable('it was taken away later'))
    assert.is(host.lent, undefined)
    const models = ['m1', 'm2'].map((id) => ({ model: { id } }) as PricedModel)
    for (const model of models) host.lend(model)
    assert.equal([...host.lent!.keys()], ['m1', 'm2'])
    assert.equal([host.deps, agent.room, agent.isLoaded, agent.waitsFor], ['deps', 3, false, null])
    open()
    await agent.wake()
    later()
    assert.equal([...host.view.lent!.values()], models)
    assert.equal([host.deps, agent.room, agent.isLoaded, agent.waitsFor], ['deps', 3, true, null])
    await machine.end('close')
    assert.equal(seen.closes, [null])
  })
})
