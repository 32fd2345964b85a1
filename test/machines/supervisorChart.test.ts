import { someRuns } from '../support/seeds.ts'
import * as fc from 'fast-check'
import { initialTransition, transition, type AnyStateNode } from 'xstate'
import { supervisorMachine } from '../../src/machines/supervisorMachine.ts'
import { mayRestart, type RestartPolicy } from '../../src/protocol/runs/restarts.ts'
import { stateName } from '../support/machineDriver.ts'
import { assert, describe } from '../support/suite.ts'
import {
  answer,
  crashed,
  ended,
  opened,
  supervised,
  SupervisorDriver,
  supervisorPlaces,
  type SupervisorState,
} from './supervisorDriver.ts'

const seed = 20_260_101

/** Everything that may come to a supervisor, ends out of place too; what `openChild` says of the policy is always the same. */
function eventsFor({ children }: SupervisorState, policy: RestartPolicy, at: number): object[] {
  const done = (id: string, output: unknown) => ({ type: `xstate.done.actor.${id}`, output })
  const failed = (id: string) => ({ type: `xstate.error.actor.${id}`, error: new Error('broken'), actorId: id })
  return [
    { type: 'abort' },
    { type: 'stop' },
    { type: 'close' },
    done('open', opened(policy)),
    done('open', { ok: false, output: answer('no') }),
    done('watch', ended(at)),
    done('watch', ended(at, { stopped: true })),
    done('watch', crashed(at)),
    done('agent', undefined),
    done('backoff', { key: 'k', until: at }),
    ...Object.keys(children).map(failed),
  ]
}

const abstract = ({ value, context }: SupervisorState): string =>
  JSON.stringify([stateName(value), context.isAborted, context.crashes.length])

/** Breadth first over everything that can happen; from each abstract state those one event leads to. */
function explore(callId: string | null, policy: RestartPolicy): Map<string, { name: string; next: Set<string> }> {
  const [first] = initialTransition(supervisorMachine, supervised(callId))
  const edges = new Map([[abstract(first), { name: stateName(first.value), next: new Set<string>() }]])
  const open: SupervisorState[] = [first]
  for (let snapshot = open.shift(); snapshot !== undefined; snapshot = open.shift()) {
    if (snapshot.status !== 'active') continue
    const { next } = edges.get(abstract(snapshot))!
    for (const event of eventsFor(snapshot, policy, 1_000)) {
      const [reached] = transition(supervisorMachine, snapshot, event as never)
      assert.is.not(reached.status, 'error', `${stateName(snapshot.value)} fails on ${JSON.stringify(event)}`)
      const key = abstract(reached)
      next.add(key)
      if (edges.has(key)) continue
      edges.set(key, { name: stateName(reached.value), next: new Set() })
      open.push(reached)
    }
  }
  return edges
}

const policyOf = (restart: RestartPolicy['restart']): RestartPolicy => ({
  restart,
  maxRestarts: 2,
  windowMs: 10_000,
  backoffMs: 1,
})

describe('the states of the supervisor machine', (it) => {
  for (const callId of ['c1', null])
    for (const restart of ['transient', 'permanent', 'never'] as const) {
      it(`are reachable as they should be, and all lead to an end: ${callId === null ? 'code' : 'a call'}, ${restart}`, () => {
        const edges = explore(callId, policyOf(restart))
        const names = new Set([...edges.values()].map(({ name }) => name))
        const expected = supervisorPlaces.filter((place) => restart !== 'never' || place !== 'backoff')
        assert.equal([...names].toSorted(), expected.toSorted())
        const over = new Set(
          [...edges].filter(([, { name }]) => ['ended', 'givenUp'].includes(name)).map(([key]) => key),
        )
        for (let size = -1; size !== over.size;) {
          size = over.size
          for (const [key, { next }] of edges) if ([...next].some((to) => over.has(to))) over.add(key)
        }
        assert.is(over.size, edges.size)
        for (const { name, next } of edges.values()) assert.is(next.size === 0, ['ended', 'givenUp'].includes(name))
      })
    }

  it('are no more in number than restarts allow', () => {
    const crashes = [...explore('c1', policyOf('transient')).keys()].map((key) => (JSON.parse(key) as number[])[2]!)
    assert.is(Math.max(...crashes), 2)
  })
})

function* nodesOf(node: AnyStateNode): Generator<AnyStateNode> {
  yield node
  for (const child of Object.values(node.states)) yield* nodesOf(child)
}

const nodes = [...nodesOf(supervisorMachine.root as AnyStateNode)]

describe('the chart of the supervisor machine', (it) => {
  it('gives every effect a name, an id, and a way on when it ends or breaks', () => {
    const invokes = nodes.flatMap((node) => node.invoke.map((invoke) => ({ node, invoke })))
    assert.equal(
      invokes.map(({ invoke }) => invoke.src),
      ['openChild', 'watchChild', 'sleep'],
    )
    for (const { node, invoke } of invokes) {
      const where = `${node.key} invokes ${invoke.id}`
      assert.not.match(invoke.id, /^\d+\./)
      for (const kind of ['done', 'error']) {
        const ways = node.transitions.get(`xstate.${kind}.actor.${invoke.id}`) ?? []
        assert.ok(ways.length > 0, `${where}: no ${kind}`)
        assert.is(ways.at(-1)?.guard, undefined, `${where}: every ${kind} is taken`)
        assert.ok(ways.at(-1)?.target !== undefined, `${where}: ${kind} leads somewhere`)
      }
    }
  })

  it('hears abort, stop and close in every state that is not its end', () => {
    for (const node of nodes.filter(({ type, parent }) => type !== 'final' && parent !== undefined))
      for (const word of ['abort', 'stop', 'close']) assert.ok(node.transitions.has(word), `${node.key}: ${word}`)
  })

  it('uses no timers of its own and names every guard', () => {
    for (const node of nodes) {
      assert.is(node.after.length, 0, node.key)
      for (const { guard } of [...node.transitions.values()].flat())
        assert.ok(guard === undefined || typeof guard === 'string', node.key)
    }
  })

  it('has two ends, and its name carries the version', () => {
    assert.equal(
      nodes.filter(({ type }) => type === 'final').map(({ key }) => key),
      ['ended', 'givenUp'],
    )
    assert.match(supervisorMachine.id, /^supervisor@\d+$/)
  })
})

interface Life {
  /** How long it lives before it crashes or, attached and permanent, ends. */
  readonly ms: number
  readonly isCrash: boolean
}

const lives = fc.array(fc.record({ ms: fc.oneof(fc.nat(20), fc.nat(3_000)), isCrash: fc.boolean() }), {
  minLength: 1,
  maxLength: 60,
  size: 'max',
})

const restartPolicies = fc.record(
  {
    restart: fc.constantFrom('never' as const, 'transient' as const, 'permanent' as const),
    maxRestarts: fc.nat(5),
    windowMs: fc.oneof(fc.nat(100), fc.nat(10_000)),
    backoffMs: fc.oneof(fc.constant(0), fc.nat(300)),
  },
  { noNullPrototype: true },
)

/** When lives began, and when those ended that another followed. */
function live(policy: RestartPolicy, road: readonly Life[]): { begun: number[]; answered: number[] } {
  const driver = new SupervisorDriver(null)
  const begun: number[] = []
  const answered: number[] = []
  let now = 1_000
  for (const { ms, isCrash } of road) {
    driver.finish('open', opened(policy))
    begun.push(now)
    now += ms
    driver.finish('watch', isCrash ? crashed(now) : ended(now))
    if (driver.state !== 'backoff') break
    answered.push(now)
    now = driver.wake()
  }
  return { begun, answered }
}

const most = (times: readonly number[], windowMs: number): number =>
  Math.max(0, ...times.map((from) => times.filter((at) => at >= from && at < from + windowMs).length))

describe('restarts', (it) => {
  it('are never more than maxRestarts in any window, whatever happens when', { timeoutMs: 20_000 }, () => {
    fc.assert(
      fc.property(restartPolicies, lives, (policy, road) => {
        const { begun, answered } = live(policy, road)
        assert.ok(most(answered, policy.windowMs) <= policy.maxRestarts || policy.windowMs === 0)
        // The first of a window may have been asked for before it.
        assert.ok(most(begun, policy.windowMs) <= policy.maxRestarts + 1 || policy.windowMs === 0)
        if (policy.restart === 'never' || policy.maxRestarts === 0) assert.is(begun.length, 1)
        if (policy.restart === 'transient') assert.is(answered.length, firstEnd(road, answered.length))
      }),
      { seed, numRuns: someRuns(400) },
    )
  })

  it('are used up to the last one when a child only crashes', () => {
    fc.assert(
      fc.property(restartPolicies, (policy) => {
        fc.pre(policy.restart !== 'never' && policy.windowMs > 0)
        const { begun } = live(
          { ...policy, windowMs: 1e12 },
          Array.from({ length: 20 }, () => ({ ms: 1, isCrash: true })),
        )
        assert.is(begun.length, policy.maxRestarts + 1)
      }),
      { seed, numRuns: someRuns(200) },
    )
  })

  it('are decided by a pure function of the crashes so far', () => {
    const policy = policyOf('transient')
    assert.ok(mayRestart(policy, [], 0))
    assert.ok(mayRestart(policy, [1], 2))
    assert.not.ok(mayRestart(policy, [1, 2], 3))
    assert.ok(mayRestart(policy, [1, 2], 10_001), 'the first is a whole window old')
    assert.not.ok(mayRestart(policy, [1, 2], 10_000))
    assert.not.ok(mayRestart(null, [], 0))
  })
})

/** A transient child is begun anew after crashes alone: no life that ended by itself was answered. */
const firstEnd = (road: readonly Life[], count: number): number =>
  road.slice(0, count).filter(({ isCrash }) => isCrash).length
