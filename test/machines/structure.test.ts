import type { AnyStateNode, AnyTransitionDefinition } from 'xstate'
import { agentMachine } from '../../src/machines/agentMachine.ts'
import { assert, describe } from '../support/suite.ts'

function* nodesOf(node: AnyStateNode): Generator<AnyStateNode> {
  yield node
  for (const child of Object.values(node.states)) yield* nodesOf(child)
}

const root = agentMachine.root as AnyStateNode
const nodes = [...nodesOf(root)]
const nameOf = (node: AnyStateNode): string => node.path.join('.') || '(root)'

const transitionsOf = (node: AnyStateNode): AnyTransitionDefinition[] => [
  ...[...node.transitions.values()].flat(),
  ...(node.always ?? []),
]

/** The state and everything that is entered with it by default. */
function entered(node: AnyStateNode): AnyStateNode[] {
  const ancestors: AnyStateNode[] = []
  for (let at: AnyStateNode | undefined = node; at !== undefined; at = at.parent) ancestors.push(at)
  const initial: AnyStateNode[] = []
  for (let at = node.initial?.target[0]; at !== undefined; at = at.initial?.target[0]) initial.push(at)
  return [...ancestors, ...initial]
}

const entriesInto = (name: string) =>
  nodes.flatMap((node) =>
    transitionsOf(node)
      .filter(({ target }) => target?.some((one) => entered(one).some((state) => nameOf(state) === name)))
      .map((definition) => ({ from: nameOf(node), guard: definition.guard })),
  )

describe('the chart of the agent machine', (it) => {
  for (const [state, guard] of [
    ['draining.reverts', 'revertEnabled'],
    ['draining.grafts', 'graftRequested'],
    ['draining.prunes', 'pruneEnabled'],
    ['draining.undoing', 'undoPending'],
    ['draining.checking', 'stallEnabled'],
    ['draining.consulting', 'consultEnabled'],
  ] as const) {
    it(`lets every transition into ${state} pass ${guard} first`, () => {
      const entries = entriesInto(state)
      assert.ok(entries.length > 0)
      for (const entry of entries) assert.is(entry.guard, guard, `from ${entry.from}`)
    })

    it(`does not enter ${state} by default, nor on the way to anything else`, () => {
      for (const node of nodes) assert.is.not(node.initial?.target[0] && nameOf(node.initial.target[0]), state)
      const target = nodes.find((node) => nameOf(node) === state)
      assert.is(target?.type, 'atomic')
    })
  }

  it('enters draining.folding only past a guard that asks for its switch', () => {
    const entries = entriesInto('draining.folding')
    assert.ok(entries.length > 0)
    const names: unknown[] = ['foldEnabled', 'beginsCold']
    for (const { from, guard } of entries) assert.ok(names.includes(guard), `from ${from}`)
  })

  it('enters preparing only past a guard that asks for its switch', () => {
    const entries = entriesInto('preparing')
    assert.ok(entries.length > 0)
    const names: unknown[] = ['answersPrepared', 'beginsPrepared', 'queuedPrepared', 'repliesPrepared']
    for (const { from, guard } of entries) assert.ok(names.includes(guard), `from ${from}`)
  })

  it('gives every effect a name, an id, and a way on when it ends or breaks', () => {
    const invokes = nodes.flatMap((node) => node.invoke.map((invoke) => ({ node, invoke })))
    assert.ok(invokes.length >= 6)
    for (const { node, invoke } of invokes) {
      const where = `${nameOf(node)} invokes ${invoke.id}`
      assert.type(invoke.src, 'string', where)
      assert.not.match(invoke.id, /^\d+\./)
      for (const kind of ['done', 'error']) {
        const ways = node.transitions.get(`xstate.${kind}.actor.${invoke.id}`) ?? []
        assert.ok(ways.length > 0, `${where}: no ${kind}`)
        assert.is(ways.at(-1)?.guard, undefined, `${where}: every ${kind} is taken`)
        assert.ok(ways.at(-1)?.target !== undefined, `${where}: ${kind} leads somewhere`)
      }
    }
  })

  it('uses no timers of its own: time is an effect', () => {
    for (const node of nodes) assert.is(node.after.length, 0, nameOf(node))
  })

  it('names every guard, so that it can be drawn and replaced', () => {
    for (const node of nodes) {
      for (const { guard } of transitionsOf(node))
        assert.ok(guard === undefined || typeof guard === 'string', nameOf(node))
    }
  })

  it('has exactly one final state, and its name carries the version', () => {
    assert.equal(nodes.filter(({ type }) => type === 'final').map(nameOf), ['stopped'])
    assert.match(agentMachine.id, /^agent@\d+$/)
  })

  it('bounds the loops without events', () => {
    const limit = agentMachine.config.options?.maxIterations
    assert.ok(limit !== undefined && limit > 20 && limit < 10_000)
  })

  it('shows the states of the public contract', () => {
    assert.equal(Object.keys(root.states).toSorted(), [
      'backoff',
      'compacting',
      'draining',
      'executing',
      'idle',
      'paused',
      'preparing',
      'replying',
      'settling',
      'stopped',
    ])
    assert.equal(Object.keys(root.states['replying']!.states), ['requesting', 'streaming'])
  })
})
