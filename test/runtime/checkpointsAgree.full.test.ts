import * as fc from 'fast-check'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import type { AgentDefinition } from '../../src/actors/define/agentDefinition.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import type { Checkpoint } from '../../src/protocol/ports/checkpoints.ts'
import { RuntimeError } from '../../src/protocol/errors.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import type { Store } from '../../src/protocol/ports/store.ts'
import { foldContext } from '../../src/machines/rebuildContext.ts'
import type { Agent } from '../../src/runtime/agents/agent.ts'
import type { AgentHost } from '../../src/runtime/agents/agentHost.ts'
import type { NodePieces } from '../../src/runtime/agents/keepNodes.ts'
import { KeptNodes } from '../../src/runtime/agents/keptNodes.ts'
import { checkpointForm, digestOf, goOnFrom, type OpenedLog } from '../../src/runtime/agents/keptAgent.ts'
import { runtimeSetup } from '../../packages/runtime/src/runtimeSetup.ts'
import { LocalRuntime } from '../../src/runtime/runtime.ts'
import { readHistory } from '../../src/log/readHistory.ts'
import { forkSession } from '../../packages/sessions/src/forkSession.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { counter, tool } from '../support/agentHarness.ts'
import { someRuns } from '../support/seeds.ts'
import { bodyOf } from '../../src/runtime/agents/sharedState.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const moves = [
  'prompt',
  'prompt',
  'steer',
  'followUp',
  'abort',
  'approve',
  'approve',
  'deny',
  'resume',
  'use',
  'unuse',
] as const
const brakes = ['pin', 'unpin', 'graft', 'revert', 'undo', 'prune', 'mask', 'show', 'fold', 'compact'] as const
type Move = readonly [(typeof moves)[number] | (typeof brakes)[number], number]

const histories = fc.array(fc.tuple(fc.constantFrom(...moves, ...brakes), fc.nat(60)) as fc.Arbitrary<Move>, {
  minLength: 4,
  maxLength: 16,
})

/** An agent with everything that is folded from logs; its model is as good as random, and always the same. */
function define(): AgentDefinition {
  let asked = 0
  const look = tool('look', () => `${'found it, again and again '.repeat(8)}${asked}`, { effects: 'none' })
  const risky = tool('risky', () => 'done', { needsApproval: true })
  const write = tool('write', () => 'written', { effects: 'reversible', undo: () => {} })
  const model = policyModel(({ tools }) => {
    asked += 1
    const names = tools.map(({ name }) => name).filter((name) => name !== 'transfer_to_other')
    const wanted = ['look', 'risky', 'write', 'below'].filter((name) => names.includes(name))
    if (asked % 11 === 10 && tools.some(({ name }) => name === 'transfer_to_other'))
      return { toolCalls: [{ name: 'transfer_to_other', input: {} }] }
    if (asked % 3 === 0 || wanted.length === 0) return `answer ${asked}`
    const name = wanted[(asked * 5 + 1) % wanted.length]!
    const input = name === 'below' ? { task: `task ${asked}` } : { at: asked }
    return { toolCalls: [{ name, input }, ...(asked % 4 === 1 ? [{ name: 'look', input: { more: asked } }] : [])] }
  })
  const shared = {
    model,
    tools: [look, risky, write],
    braking: { revert: true, prune: true, recall: true, fold: true },
  }
  const below = defineAgent({ name: 'below', model: policyModel(() => 'from below') })
  const other = defineAgent({ name: 'other', ...shared })
  return defineAgent({
    name: 'a',
    ...shared,
    agents: [below],
    handoffs: [other],
    compaction: { contextWindow: 100_000 },
    limits: { turns: 3 },
  })
}

function move(agent: Agent, [what, pick]: Move): void {
  const steps = agent.conversation.steps()
  const id = `n${(agent.conversation.log()[pick % Math.max(1, agent.conversation.log().length)]?.id ?? 1).toFixed()}`
  const step = `n${(steps[pick % Math.max(1, steps.length)]?.id ?? 1).toFixed()}`
  const held = agent.pending()[0]?.key ?? 'none'
  const does: { readonly [M in Move[0]]: () => unknown } = {
    prompt: () => agent.prompt(`do ${pick}`),
    steer: () => agent.steer(`steer ${pick}`),
    followUp: () => agent.followUp(`then ${pick}`),
    abort: () => agent.abort(),
    approve: () => agent.decide(held, 'approve'),
    deny: () => agent.decide(held, 'deny', 'no'),
    resume: () => agent.resume(),
    use: () => agent.use({ instructions: `be ${pick}`, tools: ['look', 'write'] }),
    unuse: () => agent.use(null),
    pin: () => agent.pin(step),
    unpin: () => agent.unpin(step),
    graft: () => agent.graft(id),
    revert: () => agent.revert(step, { category: 'tangent', summary: `tried ${pick}` }),
    undo: () => agent.revert(step, { category: 'tangent', summary: `tried ${pick}`, undo: true }),
    prune: () => agent.prune({ steps: [step], memo: 'gone' }),
    mask: () => agent.prune({ steps: [step], mask: true }),
    show: () => agent.prune({ steps: [step], show: true }),
    fold: () => agent.fold(),
    compact: () => agent.compact(),
  }
  try {
    does[what]()
  } catch (thrown) {
    if (!(thrown instanceof RuntimeError)) throw thrown
  }
}

/** The logs of a life. */
async function live(happenings: readonly Move[]): Promise<{ readonly store: Store; readonly runtime: LocalRuntime }> {
  const store = memoryStore()
  const runtime = new LocalRuntime(
    runtimeSetup({ store, clock: simulatedClock(), newId: counter('q'), random: () => 0 }),
  )
  const agent = await runtime.spawn(define(), { id: 'a' })
  for (const happening of [['prompt', 1], ['prompt', 2], ...happenings] satisfies Move[]) {
    move(agent, happening)
    // Some things are said in the middle of others.
    if (happening[1] % 5 > 0) await agent.settled()
  }
  await agent.settled()
  await runtime.detach('a')
  return { store, runtime }
}

/** The host of a log, without an actor. */
async function hostOf(
  runtime: LocalRuntime,
  store: Store,
  history: OpenedLog,
  definition = define(),
): Promise<AgentHost> {
  const { agentId } = history.created
  const lease = await store.open(agentId)
  const host = runtime.adopt({ agentId, definition, lease, history })
  await runtime.release(host)
  return host
}

const bytesOf = ({ table, shared, own }: NodePieces): Buffer => Buffer.concat([table, ...shared, ...own])

async function checkpointOf(...given: Parameters<typeof hostOf>): Promise<Checkpoint> {
  const [, , prefix] = given
  const host = await hostOf(...given)
  const { kept, nodes } = host.view.keep()
  const last = prefix.records.at(-1)!
  const context = foldContext(prefix.records, prefix.past).keep()
  const body = bodyOf({ ...kept, created: prefix.created, context }, [bytesOf(nodes)])
  return { seq: last.seq, form: checkpointForm, digest: digestOf(last), body }
}

/** Nodes that the next process would read, in whatever chunks they are. */
function nodesIn(bytes: Uint8Array): unknown[] {
  const nodes = new KeptNodes(bytes)
  return Array.from(
    { length: nodes.last },
    (_, index) => nodes.take(index + 1, []) ?? nodes.readOverlay(index + 1) ?? null,
  )
}

/** State of an agent, and the request it would make next. */
function standing(host: AgentHost): string {
  const { metadata, machine, view } = host
  const { conversation, spent } = view
  const { input } = machine
  const { frame, leftBehind } = view.requests
  return JSON.stringify({
    keeps: host.view.keep().kept,
    nodes: nodesIn(bytesOf(host.view.keep().nodes)),
    input,
    spent,
    metadata,
    active: host.view.active,
    frame: { ...frame, model: frame.model.id },
    left: leftBehind?.items,
    log: conversation.log(),
    trunk: conversation.trunk().map(({ id }) => id),
    queues: conversation.queues,
    request: host.view.requests.assemble(99),
  })
}

async function checkCuts(runtime: LocalRuntime, store: Store, agentId: string, definition = define): Promise<number> {
  const whole = await readHistory(store, agentId)
  const expected = standing(await hostOf(runtime, store, whole, definition()))
  for (let at = 1; at <= whole.records.length; at += 1) {
    const prefix = { ...whole, records: whole.records.slice(0, at) }
    const checkpoint = await checkpointOf(runtime, store, prefix, definition())
    const opened = goOnFrom(checkpoint, whole.records.slice(at - 1), definition())
    const host = await hostOf(runtime, store, opened, definition())
    assert.is(standing(host), expected, `from record ${at} of ${whole.records.length}`)
    for (const id of requestIds(whole.records)) assert.ok(host.view.asked.has(id), id)
  }
  return whole.records.length
}

const requestIds = (records: readonly LogRecord[]): string[] =>
  records.flatMap((record) => (record.type === 'run.start' && record.cause === 'prompt' ? [record.requestId] : []))

describe('an agent that goes on from a checkpoint', (it) => {
  it(
    'is the same as one whose whole log was folded, wherever the checkpoint stands',
    { timeoutMs: 60_000 },
    async () => {
      const types = new Set<string>()
      await fc.assert(
        fc.asyncProperty(histories, async (happenings) => {
          const { store, runtime } = await live(happenings)
          await checkCuts(runtime, store, 'a')
          for await (const { type } of store.read('a')) types.add(type)
          await runtime.close()
        }),
        { seed: 20_261_124, numRuns: someRuns(80), endOnFailure: true },
      )
      const folded = ['use.changed', 'tool.end', 'revert.applied', 'prune.applied', 'graft.applied', 'pin.applied']
      const more = ['approval.decided', 'compaction.end', 'queue.changed', 'undo.end', 'turn.prepared']
      for (const type of [...folded, ...more]) assert.ok(types.has(type), `${type} was among them`)
    },
  )

  it('is the same where calls were undone since', { timeoutMs: 30_000 }, async ({ cleanup }: CaseContext) => {
    // So much that it is deflated once it is off the trunk.
    const write = tool('write', () => 'written '.repeat(6_000), { effects: 'reversible', undo: () => {} })
    const definition = (): AgentDefinition =>
      defineAgent({
        name: 'a',
        model: policyModel(({ messages }) =>
          messages.filter(({ role }) => role === 'toolResult').length > 1
            ? 'done'
            : { toolCalls: [{ name: 'write', input: {} }] },
        ),
        tools: [write],
        braking: { revert: true },
      })
    const store = memoryStore()
    const runtime = new LocalRuntime(runtimeSetup({ store, clock: simulatedClock(), newId: counter('q') }))
    cleanup(() => runtime.close())
    const agent = await runtime.spawn(definition(), { id: 'a' })
    await agent.prompt('go').result
    agent.revert('n1', { category: 'tangent', summary: 'no', undo: true })
    await agent.settled()
    await runtime.detach('a')
    const { records } = await readHistory(store, 'a')
    assert.ok(records.some((record) => record.type === 'undo.step' && record.undone))
    await checkCuts(runtime, store, 'a', definition)
  })

  it('is the same in a fork, whose checkpoint has what it shares with its source', async ({ cleanup }: CaseContext) => {
    const said = Array.from({ length: 6 }, (_, at): Move => ['prompt', at + 1])
    const { store, runtime } = await live([...said, ['revert', 3], ['prompt', 2]])
    cleanup(() => runtime.close())
    const {
      view: { conversation },
    } = await hostOf(runtime, store, await readHistory(store, 'a'))
    const fork = await forkSession(store, 'a', `n${conversation.head!.toFixed()}`)
    const agent = await runtime.resume(fork.agentId, define())
    agent.prompt('on')
    await agent.settled()
    await runtime.detach(fork.agentId)
    assert.ok((await checkCuts(runtime, store, fork.agentId)) > 3)
  })
})
