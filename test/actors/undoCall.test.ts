import { z } from 'zod'
import { Cancellation } from '../../src/actors/timing/cancellation.ts'
import { defineAgent, type AgentOptions } from '../../src/actors/define/defineAgent.ts'
import { effectsOf } from '../../src/actors/brakes/revert/effectsOf.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { defineTool, type UndoContext } from '../../src/actors/tools/defineTool.ts'
import { undoCall } from '../../src/actors/calls/undoCall.ts'
import { Redactor } from '../../packages/redaction/src/redactor.ts'
import { actorPorts, agentSays, runActor, toolSays } from '../support/actorPorts.ts'
import { never, quiet, tool } from '../support/agentHarness.ts'
import { scriptedSource } from '../support/scriptedSource.ts'
import { assert, describe } from '../support/suite.ts'

type Undo = (context: UndoContext<never, never, never>) => Promise<void>

const call = { type: 'toolCall', callId: 'c0', name: 'look', input: { said: 1 } } as const

/** Ports whose conversation has a call `n2` of `look`, which kept something. */
interface Kept {
  readonly receipt?: unknown
  readonly node?: object
  readonly timeoutMs?: number
}

function portsOf(undo: Undo | undefined, { receipt = { kept: 1 }, node = {}, timeoutMs = 5_000 }: Kept = {}) {
  const ports = actorPorts()
  const look =
    undo === undefined
      ? tool('look', () => 'x')
      : defineTool({
          name: 'look',
          description: 'Looks.',
          input: z.looseObject({}),
          effects: 'reversible',
          timeoutMs,
          run: () => 'x',
          undo: undo,
        })
  ports.definition = defineAgent({ name: 'tester', model: policyModel(() => 'x'), tools: [look] })
  const nodes = new Map<number, unknown>([
    [1, { id: 1, stepId: 1, message: agentSays(call) }],
    [2, { id: 2, stepId: 1, message: { ...toolSays('c0', 'seen'), receipt: { data: receipt } }, ...node }],
    [3, { id: 3, stepId: 1, message: { ...toolSays('c1', 'seen'), receipt: { data: 'older' } } }],
  ])
  ports.conversation = { node: (id: number) => nodes.get(id) } as never
  return ports
}

const run = (ports: ReturnType<typeof portsOf>, input: object = {}) =>
  runActor(undoCall, ports, {
    agentId: 'a1',
    key: 'k',
    call: { call: 2, what: 'look' },
    earlier: [],
    ...input,
  })

/** Result of an undo; `true`: it was undone. */
async function came(ports: ReturnType<typeof portsOf>, input: object = {}): Promise<unknown> {
  const { key, step, notStarted } = await run(ports, input).output
  assert.equal([key, step.call, notStarted], ['k', (input as { call?: { call: number } }).call?.call ?? 2, undefined])
  assert.is(step.undone, step.why === undefined)
  return step.why ?? true
}

describe('undoing a call', (it) => {
  it('gives its tool what it was called with, and what it and older calls of the same thing kept', async () => {
    const seen: unknown[] = []
    const undo: Undo = async ({ signal: _, snapshots: __, closeWith: ___, ...context }) => void seen.push(context)
    assert.is(await came(portsOf(undo), { earlier: [3] }), true)
    const given = { callId: 'c0', key: 'k', deps: undefined, agent: { id: 'a1', path: [] } }
    assert.equal(seen.splice(0), [{ ...given, input: { said: 1 }, receipt: { kept: 1 }, earlier: ['older'] }])
    assert.is(await came(portsOf(undo, { node: { ranWith: { input: { edited: 2 } } } })), true)
    assert.equal(seen, [{ ...given, input: { edited: 2 }, receipt: { kept: 1 }, earlier: [] }])
  })

  it('is not tried without a result, a tool, or what it kept as it was', async () => {
    let calls = 0
    const undo: Undo = async () => void (calls += 1)
    const hidden = 'what it kept holds a secret, which the log does not have'
    assert.is(await came(portsOf(undo), { call: { call: 1, what: 'look' } }), 'its result is gone')
    assert.is(await came(portsOf(undo), { call: { call: 9, what: 'look' } }), 'its result is gone')
    assert.is(await came(portsOf(undefined)), 'there is no tool any more that could undo it')
    assert.is(await came(portsOf(undo, { receipt: { a: ['[redacted:KEY]'] } })), hidden)
    const older = portsOf(undo)
    const { node } = older.conversation
    older.conversation = {
      node: (id: number) =>
        id === 3 ? { ...node(3), message: { ...node(3)!.message, receipt: { data: '[redacted]' } } } : node(id),
    } as never
    assert.is(await came(older, { earlier: [3] }), hidden)
    assert.is(calls, 0)
  })

  it('that fails leaves it, and says why: short, and without secrets', async () => {
    const failing =
      (words: string): Undo =>
      () =>
        Promise.reject(new Error(words))
    assert.is(await came(portsOf(failing('the file is gone '))), 'the file is gone')
    assert.is(await came(portsOf(failing('  '))), 'its tool failed')
    assert.is(String(await came(portsOf(failing('x'.repeat(900))))).length, 300)
    const ports = portsOf(failing('no hunter2-hunter2'))
    ports.redactor = new Redactor({ secrets: { KEY: 'hunter2-hunter2' } })
    assert.is(await came(ports), 'no [redacted:KEY]')
  })

  it('tells the application of what looks like a bug, and of nothing else', async () => {
    const told: unknown[] = []
    for (const thrown of [new TypeError('x is not a function'), new Error('the disk is full')]) {
      const ports = portsOf(() => Promise.reject(thrown))
      ports.callbackFailed = (place) => void told.push(place)
      await came(ports)
    }
    assert.equal(told, ['undo of a tool'])
  })

  it('ends when its time is up or the run is aborted, and its tool is told', async () => {
    const signals: AbortSignal[] = []
    const undo: Undo = ({ signal }) => {
      signals.push(signal)
      return never
    }
    for (const [timeoutMs, ms] of [
      [5_000, 5_000],
      [600_000, 60_000],
    ] as const) {
      const ports = portsOf(undo, { timeoutMs })
      const running = run(ports)
      await quiet()
      await ports.clock.advance(ms - 1)
      assert.is(signals.at(-1)!.aborted, false)
      await ports.clock.advance(1)
      assert.match((await running.output).step.why!, `timed out after ${ms} ms`)
      assert.is(signals.at(-1)!.aborted, true)
    }
  })

  it('is given up with its run: its tool is told, and what that throws then is no bug', async () => {
    const told: unknown[] = []
    const signals: AbortSignal[] = []
    const ports = portsOf(async ({ signal }) => {
      signals.push(signal)
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new TypeError('x'))))
    })
    ports.callbackFailed = (place) => void told.push(place)
    const cancellation = new Cancellation()
    const input = { agentId: 'a1', key: 'k', call: { call: 2, what: 'look' }, earlier: [] }
    const undoing = undoCall(() => ports).run(input, cancellation)
    await quiet()
    cancellation.abort()
    assert.match((await undoing).step.why!, 'aborted')
    assert.equal([signals[0]!.aborted, told], [true, []])
    const after = undoCall(() => ports).run(input, cancellation)
    await assert.rejects(Promise.resolve(after), /aborted/)
    assert.is(signals.length, 1)
  })

  it('is over for its tool once that has answered', async () => {
    const signals: AbortSignal[] = []
    const ports = portsOf(async ({ signal }) => void signals.push(signal))
    const cancellation = new Cancellation()
    await undoCall(() => ports).run(
      { agentId: 'a1', key: 'k', call: { call: 2, what: 'look' }, earlier: [] },
      cancellation,
    )
    await quiet()
    cancellation.abort()
    assert.is(signals[0]!.aborted, false)
  })

  it('leaves no timer behind', async () => {
    for (const undo of [async () => {}, () => Promise.reject(new Error('no'))]) {
      const ports = portsOf(undo)
      let timers = 0
      const { clock } = ports
      Object.assign(ports, {
        clock: {
          now: () => clock.now(),
          after: () => {
            timers += 1
            return () => (timers -= 1)
          },
        },
      })
      await came(ports)
      await quiet()
      assert.is(timers, 0)
    }
  })

  it('is not begun where the log cannot say so first', async () => {
    let calls = 0
    const ports = portsOf(async () => void (calls += 1))
    ports.durable = () => Promise.reject(new Error('the disk is full'))
    const { step, notStarted } = await run(ports).output
    assert.equal([step, notStarted?.code, calls], [{ call: 2, undone: false }, 'STORE_APPEND_FAILED', 0])
  })
})

describe('what calls may do', (it) => {
  const agent = (name: string, options: Partial<AgentOptions> = {}) =>
    defineAgent({ name, model: policyModel(() => 'x'), ...options })
  const reader = tool('reads', () => 'x', { effects: 'none' })
  const writer = tool('writes', () => 'x', { effects: 'idempotent' })

  it('is what their tool says, and for sub-agents whether anything below could change something', () => {
    const readers = agent('readers', { tools: [reader] })
    const root = agent('root', {
      tools: [reader, writer],
      agents: [
        agent('silent'),
        readers,
        agent('writers', { tools: [reader, writer] }),
        agent('callers', { agents: [agent('below', { tools: [writer] })] }),
        agent('readersBelow', { agents: [readers] }),
        agent('sourced', { tools: [scriptedSource('srv', [reader])] }),
      ],
    })
    const names = ['reads', 'writes', 'silent', 'readers', 'writers', 'callers', 'readersBelow', 'sourced', 'unknown']
    const expected = ['none', 'idempotent', 'none', 'none', 'agent', 'agent', 'none', 'agent', undefined]
    assert.equal(names.map(effectsOf(root)), expected)
  })
})
