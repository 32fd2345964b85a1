import { type AnyActorScope, type AnyStateNode, createActor, initialTransition, type SnapshotFrom } from 'xstate'
import { getAdjacencyMap } from 'xstate/graph'
import { agentMachine } from '../../src/machines/agentMachine.ts'
import type { AgentInput, AgentMachineEvent } from '../../src/machines/agentTypes.ts'
import type { AgentPolicy } from '../../src/machines/agentPolicy.ts'
import { settleKey } from '../../src/machines/aborts.ts'
import { compactionKey } from '../../src/machines/compaction.ts'
import { drainKey, foldKey } from '../../src/machines/brakes.ts'
import { askedSoFar, consultKey } from '../../src/machines/policies.ts'
import { undoKey } from '../../src/machines/undoing.ts'
import { stallKey } from '../../src/machines/stalls.ts'
import { prepareKey } from '../../src/machines/turns.ts'
import { replyKey as keyOfReply } from '../../src/machines/runs.ts'
import { noUsage } from '../../src/protocol/messages.ts'
import { stateName, testAgent } from '../support/machineDriver.ts'
import { assert, describe } from '../support/suite.ts'
import { askGraft, askPrune, askRevert, diskFull, text } from './agentScript.ts'

type Snapshot = SnapshotFrom<typeof agentMachine>

const at = 1_000
const said = { id: 'q', content: text('go'), at }
const failure = (kind: string) => ({ kind, error: { code: 'X', message: kind } })

/** Who asks for reverts and prunes: people ask for compactions, too. */
type Asker = 'person' | 'model'

/** Everything that may come to a machine in this snapshot, honest or forged; forged ends come in every state. */
function eventsFor({ context }: Snapshot, by: Asker): AgentMachineEvent[] {
  const { agentId, turns, run, calls } = context
  const replyKey = keyOfReply(context)
  const callId = `c${turns}`
  const reply = (needsApproval: boolean | null, contextTokens = 0) => ({
    key: replyKey,
    ok: true,
    message: {
      role: 'assistant',
      content: needsApproval === null ? text('ok') : [{ type: 'toolCall', callId, name: 'tool', input: {} }],
      stopReason: 'stop',
      usage: noUsage,
      model: 'm',
    },
    calls: needsApproval === null ? [] : [{ callId, name: 'tool', input: {}, needsApproval }],
    costUsd: 0,
    estimatedTokens: 0,
    contextTokens,
    at,
  })
  const refusal = (kind: string) => ({ key: replyKey, ok: false, failure: failure(kind), at, jitter: 0 })
  const compaction = { key: compactionKey(context), at, tokensBefore: 0, tokensAfter: 0, usage: null, costUsd: 0 }
  const overlay = { from: 1, to: 1, summary: 's', kept: [], recentTo: 1, maxToolOutputChars: 100 }
  const ids = [...context.reverts, ...context.prunes, ...context.grafts, ...context.pins].map(({ id }) => id)
  const refused = {
    applied: false,
    category: 'failure',
    requested: 'n1',
    pinned: true,
    steps: [],
    copies: [],
    tokens: 0,
  }
  const drain = { outcomes: ids.map((id) => ({ id, ...refused })), usage: null, costUsd: 0, contextTokens: 0, at }
  const undo = { calls: [{ call: 1, what: 'a' }], kept: [] }
  const applied = { id: ids[0] ?? 'v', applied: true, category: 'failure', requested: 'n1', target: 1, undo }
  const memo = { id: 'f', applied: true, by: 'runtime', steps: [1], tokens: 1, memo: 'n1' }
  const fold = { outcome: memo, contextTokens: 0, at }
  const stall = (rung: string) => ({
    key: stallKey(context),
    stall: { rule: 'repeat', first: 2, target: 1, steps: [2], evidence: 'e', count: 1, rung },
    ...(rung === 'revert' ? { revert: { id: 's', by: 'runtime', category: 'failure', step: 'n1' } } : {}),
    noteTokens: 0,
    at,
  })
  const requestId = context.policyRequests?.[0]?.id
  const requested = requestId === undefined ? {} : { requestId }
  const fired = { policy: 'tidy', why: 'it is due', turn: 1, tokens: 1 }
  const prune = { id: 'c', by: 'runtime', policy: 'tidy', steps: ['n2'] }
  const end = { policy: 'tidy', outcome: 'planned', prune: 'c', costUsd: 0, ...requested }
  const consultation = { key: consultKey(context), asked: 2, end, prune, noteTokens: 0, at }
  const done = (id: string, output: unknown) => ({ type: `xstate.done.actor.${id}`, output })
  const failed = (id: string) => ({ type: `xstate.error.actor.${id}`, error: new Error('broken'), actorId: id })
  const key = calls[0]?.key ?? `${agentId}/t0/tool/c1`
  const result = { key, content: text('r'), isError: false, tokens: 0, at }
  return [
    { type: 'prompt', ...said, limits: { turns: 1 } },
    { type: 'steer', ...said },
    { type: 'abort' },
    { type: 'withdraw', id: 'q' },
    { type: 'resume', id: 'r', at },
    { type: 'decide', callId: calls[0]?.callId ?? 'c', decision: 'approve', at },
    { type: 'decide', callId: calls[0]?.callId ?? 'c', decision: 'deny', at },
    { type: 'ask', key, question: { key: `${key}/q1`, question: 'q', schema: {} }, at },
    { type: 'decide', callId: calls[0]?.callId ?? 'c', decision: 'answer', value: 1, at },
    { type: 'stop' },
    { type: 'store.failed', error: diskFull },
    { type: 'reply.started', key: replyKey },
    done('reply', reply(null)),
    done('reply', reply(null, 99_999)),
    done('reply', reply(false)),
    done('reply', reply(true)),
    done('reply', refusal('network')),
    done('reply', refusal('overflow')),
    done('reply', refusal('auth')),
    done('backoff', { key: replyKey, until: at }),
    done('call.0', result),
    done('call.0', { ...result, notStarted: diskFull }),
    done('call.0', { ...result, brake: askRevert }),
    done('call.0', { ...result, brake: askGraft }),
    done('call.0', { ...result, brake: askPrune }),
    { type: 'revert', request: { id: 'v', by, category: 'failure', step: 'n1' }, at },
    { type: 'prune', request: { id: 'p', by, steps: ['n2'] }, at },
    { type: 'graft', request: { id: 'g', by: 'person', steps: ['n2'] }, at },
    { type: 'pin', request: { id: 'i', by: 'person', step: 'n2', pinned: true }, at },
    ...(by === 'person' ? [{ type: 'compact', request: { id: 'k', by, focus: 'names' }, at }] : []),
    { type: 'use', id: 'u', use: { tools: [] }, at },
    done('prepare', { key: prepareKey(context), ok: true, decision: { by: ['beforeTurn'], tools: ['tool'] }, at }),
    done('prepare', { key: prepareKey(context), ok: false, error: diskFull, at }),
    { type: 'brake', request: { id: 'b', by: 'person', policy: 'tidy' }, at },
    done('settle', { key: settleKey(context), at, partial: null }),
    done('compaction', { ...compaction, overlay, reason: null }),
    done('compaction', { ...compaction, overlay: null, reason: 'no' }),
    done('drainPins', { ...drain, key: drainKey(context) }),
    done('drainReverts', { ...drain, key: drainKey(context) }),
    done('drainGrafts', { ...drain, key: drainKey(context) }),
    done('drainReverts', { ...drain, key: drainKey(context), outcomes: [applied] }),
    done('undoCall', { key: undoKey(context), step: { call: 1, undone: true }, at }),
    done('undoCall', { key: undoKey(context), step: { call: 1, undone: true }, at, notStarted: diskFull }),
    done('drainPrunes', { ...drain, key: drainKey(context) }),
    done('drainFold', { ...fold, key: foldKey(context) }),
    done('drainFold', { ...fold, key: foldKey(context), outcome: null }),
    done('drainStall', { ...stall('note'), stall: null }),
    done('drainStall', stall('note')),
    done('drainStall', stall('revert')),
    done('drainStall', stall('pause')),
    { type: 'policy.fired', key: consultKey(context), start: fired, at },
    done('consultPolicies', { ...consultation, end: null }),
    done('consultPolicies', consultation),
    done('deadline', { key: run?.runId, until: at }),
    ...[
      'prepare',
      'reply',
      'backoff',
      'call.0',
      'settle',
      'compaction',
      'drainPins',
      'drainReverts',
      'drainGrafts',
      'drainPrunes',
      'drainFold',
      'drainStall',
      'consultPolicies',
      'undoCall',
      'deadline',
    ].map(failed),
  ] as AgentMachineEvent[]
}

/** State for the search: its place, and what decides where it can go. Counters are left out. */
const abstract = ({ value, context }: Snapshot): string =>
  JSON.stringify([
    stateName(value),
    context.pause?.type,
    context.run?.deadlinePassed,
    context.calls.map(({ status }) => status),
    [context.storeError !== null, context.owesReply && context.run !== null, context.ending !== null],
    [context.contextTokens > 0, context.compactionCause],
    context.undoing !== null,
    context.foldAt !== null && context.contextTokens > context.foldAt,
    stateName(value).startsWith('draining') && [context.consulting !== null, askedSoFar(context) > 0],
    // The first queue in which something waits: each alone leads where it leads together with others.
    [
      context.reverts,
      context.grafts,
      context.prunes,
      context.pins,
      context.compactRequests,
      context.policyRequests,
    ].findIndex((requests) => (requests?.length ?? 0) > 0),
  ])

interface Explored {
  /** Names of the states that were met. */
  readonly states: ReadonlySet<string>
  /** From each abstract state to those one event leads to. */
  readonly edges: ReadonlyMap<string, { readonly name: string; readonly next: ReadonlySet<string> }>
}

/** Scope of a transition without effects. XState's `transition` begins a machine for one, which takes longer than the rest of it. */
function inertScope(machine: typeof agentMachine, input: AgentInput): AnyActorScope {
  const self = createActor(machine, { input })
  const nothing = (): void => {}
  const outward = { logger: nothing, defer: nothing, emit: nothing, stopChild: nothing, actionExecutor: nothing }
  return { self, system: self.system, id: '', sessionId: '', ...outward }
}

/** Breadth first over everything that can happen. Fails when the machine does. */
function explore(
  flags: AgentPolicy['flags'],
  by: Asker = 'model',
  machine: typeof agentMachine = agentMachine,
): Explored {
  const policy = { flags, retry: { attempts: 2, baseMs: 1, maxMs: 1, maxRetryAfterMs: 0 } }
  const input = testAgent(policy)
  const [first] = initialTransition(machine, input)
  const edges = new Map<string, { name: string; next: Set<string> }>()
  const open: Snapshot[] = [first]
  edges.set(abstract(first), { name: stateName(first.value), next: new Set() })
  for (let snapshot = open.shift(); snapshot !== undefined; snapshot = open.shift()) {
    const { next } = edges.get(abstract(snapshot))!
    if (snapshot.status !== 'active') continue
    const scope = inertScope(machine, input)
    for (const event of eventsFor(snapshot, by)) {
      const reached = machine.transition(snapshot, event, scope)
      assert.is.not(reached.status, 'error', `${stateName(snapshot.value)} fails on ${event.type}`)
      const key = abstract(reached)
      next.add(key)
      if (edges.has(key)) continue
      edges.set(key, { name: stateName(reached.value), next: new Set() })
      open.push(reached)
    }
  }
  return { states: new Set([...edges.values()].map(({ name }) => name)), edges }
}

/** Names of the states that a machine can rest in between two events. */
function namesOf(node: AnyStateNode): string[] {
  const children = Object.values(node.states)
  if (children.length > 0) return children.flatMap(namesOf)
  return node.always?.some(({ guard }) => guard === undefined) === true ? [] : [node.path.join('.')]
}

const off = { revert: false, prune: false, fold: false, stall: false, policies: false, compact: true }
const on = { revert: true, prune: true, fold: true, stall: true, policies: true, compact: true, turns: true }
const braked = [
  'preparing',
  'draining.checking',
  'draining.consulting',
  'draining.folding',
  'draining.prunes',
  'draining.reverts',
  'draining.undoing',
]

const explored = new Map<string, Explored>()
const exploreOnce = (flags: AgentPolicy['flags'], by: Asker = flags === on ? 'person' : 'model'): Explored => {
  const key = JSON.stringify([flags, by])
  if (!explored.has(key)) explored.set(key, explore(flags, by))
  return explored.get(key)!
}

describe('the states of the agent machine', (it) => {
  it('are all reachable with every switch on', { timeoutMs: 60_000 }, () => {
    const expected = namesOf(agentMachine.root as AnyStateNode)
    assert.ok(expected.length >= 11)
    assert.equal([...exploreOnce(on).states].toSorted(), expected.toSorted())
  })

  it('are all but the drains reachable with the switches off, whatever is forged', { timeoutMs: 60_000 }, () => {
    const reachable = [...exploreOnce(on).states].filter((state) => !braked.includes(state))
    assert.equal([...exploreOnce(off).states].toSorted(), reachable.toSorted())
  })

  it('open each drain by its own switch alone', { timeoutMs: 60_000 }, () => {
    const drainsOf = (flags: AgentPolicy['flags']) =>
      [...explore(flags).states].filter((state) => braked.includes(state))
    assert.equal(drainsOf({ ...off, revert: true }).toSorted(), ['draining.reverts', 'draining.undoing'])
    assert.equal(drainsOf({ ...off, prune: true }), ['draining.prunes'])
    assert.equal(drainsOf({ ...off, fold: true }), ['draining.folding'])
    assert.equal(drainsOf({ ...off, stall: true }), ['draining.checking'])
    assert.equal(drainsOf({ ...off, policies: true }), ['draining.consulting'])
    assert.equal(drainsOf({ ...off, turns: true }), ['preparing'])
  })

  it('never compact with that switch off, unless a person asks', { timeoutMs: 60_000 }, () => {
    assert.not.ok(explore({ ...on, compact: false }).states.has('compacting'))
    assert.ok(explore({ ...off, compact: false }, 'person').states.has('compacting'))
  })

  it('have the drains of reverts and prunes open to people, whatever the switches', { timeoutMs: 60_000 }, () => {
    const { states } = exploreOnce(off, 'person')
    const open = braked.filter((state) => states.has(state))
    assert.equal(open, ['draining.prunes', 'draining.reverts', 'draining.undoing'])
  })

  it('would be entered if the guard were open: the search is able to fail', { timeoutMs: 60_000 }, () => {
    const open = agentMachine.provide({
      guards: {
        revertEnabled: () => true,
        undoPending: ({ context }) => context.undoing !== null,
        pruneEnabled: () => true,
        foldEnabled: () => true,
        stallEnabled: ({ context }) => context.run !== null && context.owesReply,
        consultEnabled: ({ context }) => context.run !== null && context.owesReply && askedSoFar(context) === 0,
        beginsPrepared: ({ context }) => !context.isAsleep && context.ending === null,
      },
    })
    const { states } = explore(off, 'model', open)
    for (const state of braked) assert.ok(states.has(state), state)
  })

  it('lead on, and in the end can lead to a stop: only stopped is a dead end', { timeoutMs: 60_000 }, () => {
    const { edges } = exploreOnce(on)
    const before = new Map<string, string[]>()
    for (const [from, { name, next }] of edges) {
      if (name !== 'stopped')
        assert.ok(
          [...next].some((key) => key !== from),
          `${from} leads nowhere`,
        )
      for (const to of next) before.set(to, [...(before.get(to) ?? []), from])
    }
    const leads = new Set([...edges].filter(([, { name }]) => name === 'stopped').map(([key]) => key))
    for (const key of leads) for (const from of before.get(key) ?? []) leads.add(from)
    assert.is(leads.size, edges.size)
  })

  it('can lead back to idle from every busy state', { timeoutMs: 60_000 }, () => {
    const { edges } = exploreOnce(on)
    const before = new Map<string, string[]>()
    for (const [from, { next }] of edges) for (const to of next) before.set(to, [...(before.get(to) ?? []), from])
    const leads = new Set([...edges].filter(([, { name }]) => name === 'idle').map(([key]) => key))
    for (const key of leads) for (const from of before.get(key) ?? []) leads.add(from)
    const stuck = [...edges].filter(([key, { name }]) => !leads.has(key) && name !== 'stopped')
    // One who asked for a stop gets it.
    assert.equal(
      stuck.filter(([key]) => !key.includes('settling')),
      [],
    )
  })

  it('agree with what xstate’s own graph finds', { timeoutMs: 60_000 }, () => {
    const map = getAdjacencyMap(agentMachine, {
      input: testAgent({ flags: off }),
      events: (snapshot) => (snapshot.status === 'active' ? eventsFor(snapshot, 'model') : []),
      serializeState: (snapshot) => abstract(snapshot),
      serializeEvent: (event) => JSON.stringify(event),
      limit: 2_000_000,
    })
    const names = new Set(Object.values(map).map(({ state }) => stateName(state.value)))
    assert.equal([...names].toSorted(), [...exploreOnce(off).states].toSorted())
    for (const { state } of Object.values(map)) assert.is.not(state.status, 'error')
  })
})
