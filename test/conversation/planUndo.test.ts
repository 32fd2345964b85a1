import type { ConversationNode } from '../../src/conversation/tree/node.ts'
import { planUndo, type EffectsOf } from '../../src/conversation/brakes/revert/planUndo.ts'
import type { ToolResultMessage } from '../../src/protocol/messages.ts'
import { assert, describe } from '../support/suite.ts'

interface Did {
  readonly of?: string
  readonly isUndone?: boolean
  readonly synthetic?: ToolResultMessage['synthetic']
  readonly tool?: string
  readonly copiedFrom?: number
  /** It kept nothing. */
  readonly isBare?: true
}

/** Calls of one reply, `n1`, whose results follow it; all of them could be undone. */
function calledFor(...did: readonly Did[]): Map<number, ConversationNode> {
  const input = (at: number) => ({ at })
  const reply = {
    id: 1,
    stepId: 1,
    tags: [],
    message: {
      role: 'assistant',
      content: did.map(({ tool = 'write' }, at) => ({
        type: 'toolCall',
        callId: `c${at}`,
        name: tool,
        input: input(at),
      })),
    },
  }
  const results = did.map(({ of, isUndone = false, synthetic, tool = 'write', copiedFrom, isBare }, at) => ({
    id: at + 2,
    stepId: 1,
    tags: [],
    reversible: { seq: 10 + at, isUndone },
    ...(copiedFrom === undefined ? {} : { copiedFrom }),
    message: {
      role: 'toolResult',
      callId: `c${at}`,
      toolName: tool,
      content: [],
      isError: false,
      ...(isBare ? {} : { receipt: { data: at, ...(of === undefined ? {} : { of }) } }),
      ...(synthetic === undefined ? {} : { synthetic }),
    },
  }))
  return new Map([reply, ...results].map((node) => [node.id, node as unknown as ConversationNode]))
}

const reversible: EffectsOf = () => 'reversible'

function planned(nodes: Map<number, ConversationNode>, { ownFrom = 0, effectsOf = reversible } = {}) {
  const { calls, kept } = planUndo(
    { node: (id) => nodes.get(id), ownFrom, foreignTo: 0 },
    [...nodes.values()],
    effectsOf,
  )
  return { calls: calls.map(({ call }) => call), kept: kept.map(({ what, why }) => `${what}: ${why}`) }
}

describe('what a revert undoes', (it) => {
  it('is the newest call first, and nothing that was undone before or is a copy', () => {
    const nodes = calledFor({}, { isUndone: true }, {}, { copiedFrom: 9 })
    assert.equal(planned(nodes), { calls: [4, 2], kept: [] })
  })

  it('is nothing of the past that a fork shares, from its first own call on', () => {
    const others = 'it was done by the agent that this one was forked from'
    const nodes = calledFor({}, {}, {})
    assert.equal(planned(nodes, { ownFrom: 3 }), { calls: [4, 3], kept: [`write {"at":0}: ${others}`] })
    assert.equal(planned(nodes, { ownFrom: 5 }).calls, [])
    assert.is(planned(nodes, { ownFrom: 5 }).kept.length, 3)
  })

  it('is all of the calls that belong together, or none: wherever one of them cannot be undone', () => {
    assert.equal(planned(calledFor({ of: 'a.ts' }, {}, { of: 'a.ts' })), { calls: [4, 3, 2], kept: [] })
    const cut = 'it was cut short, and it is not known what it did'
    for (const [at, synthetic] of [
      [0, 'interrupted'],
      [1, 'interrupted'],
      [2, 'interrupted'],
    ] as const) {
      const did: Did[] = [{ of: 'a.ts' }, { of: 'a.ts' }, { of: 'a.ts' }, { of: 'b.ts' }, {}]
      did[at] = { of: 'a.ts', synthetic }
      assert.equal(planned(calledFor(...did)), { calls: [6, 5], kept: [`a.ts (3 times): ${cut}`] })
    }
    const gone = planned(calledFor({ of: 'a.ts' }, { of: 'a.ts', tool: 'old' }), {
      effectsOf: (tool) => (tool === 'old' ? undefined : 'reversible'),
    })
    assert.equal(gone, { calls: [], kept: ['a.ts (2 times): there is no tool any more that could undo it'] })
    const forked = planned(calledFor({ of: 'a.ts' }, { of: 'a.ts' }), { ownFrom: 3 })
    assert.equal(forked.calls, [], 'not the own half of what a fork shares')
  })

  it('is what an aborted call did if it had kept a receipt by then, and not the calls that it made', () => {
    const nodes = calledFor({ synthetic: 'aborted', of: 'a.ts' }, { synthetic: 'aborted', isBare: true })
    const cut = 'it was cut short, and it is not known what it did'
    assert.equal(planned(nodes), { calls: [2], kept: [`write {"at":1}: ${cut}`] })
    assert.equal(planned(nodes, { effectsOf: () => 'calls' }).calls, [])
  })

  it('is what was done on branches that were abandoned within it, too', () => {
    const nodes = calledFor({}, {})
    const target = { id: 9, stepId: 9, tags: [{ abandoned: [1, 2] }], message: { role: 'user', content: [] } }
    nodes.set(9, target as unknown as ConversationNode)
    const { calls } = planUndo({ node: (id) => nodes.get(id), ownFrom: 0, foreignTo: 0 }, [nodes.get(9)!], reversible)
    assert.equal(
      calls.map(({ call }) => call),
      [2],
    )
  })
})

describe('of calls whose tools declared no undo, a revert says', (it) => {
  type Effects = ReturnType<EffectsOf>

  /** Kept part of one call, `n2`, that was not begun as one that can be undone. */
  function keptOf(message: Partial<ToolResultMessage>, effects: Effects, node: Partial<ConversationNode> = {}) {
    const nodes = calledFor({})
    const result = nodes.get(2)!
    const plain = { ...result, ...node, message: { ...result.message, receipt: undefined, ...message } }
    const { reversible: _, ...given } = plain as ConversationNode
    nodes.set(2, given)
    const { calls, kept } = planned(nodes, { effectsOf: () => effects })
    assert.equal(calls, [])
    return kept.map((line) => line.replace('write {"at":0}: ', ''))
  }

  const changed = ['a.ts']
  const never = ['it cannot be undone']
  const noUndo = ['its tool has no undo']
  const agent = ['the work of sub-agents is not undone']
  const rules: readonly (readonly [
    what: string,
    message: Partial<ToolResultMessage>,
    effects: readonly Effects[],
    kept: readonly string[],
  ])[] = [
    ['it ended well', {}, ['irreversible'], never],
    ['it ended well', {}, ['idempotent', 'reversible'], noUndo],
    ['it ended well', {}, ['agent'], agent],
    ['it ended well', {}, ['none', undefined], []],
    ['it failed', { isError: true }, ['irreversible'], never],
    ['it failed', { isError: true }, ['idempotent', 'reversible', 'agent', 'none', undefined], []],
    ['it changed files', { changed }, ['irreversible'], never],
    ['it changed files', { changed }, ['idempotent', 'reversible', undefined], noUndo],
    ['it changed files', { changed }, ['agent'], agent],
    ['it changed files', { changed }, ['none'], []],
    ['it changed files and failed', { changed, isError: true }, ['idempotent', 'reversible', undefined], noUndo],
    ['it changed files and failed', { changed, isError: true }, ['agent'], agent],
    ['it was cut short', { synthetic: 'interrupted' }, ['irreversible'], never],
    ['it was cut short', { synthetic: 'aborted' }, ['idempotent'], noUndo],
    ...(['denied', 'skipped', 'refused', 'answered'] as const).map(
      (synthetic) =>
        [
          `it was ${synthetic}`,
          { synthetic },
          ['irreversible', 'idempotent', 'reversible', 'agent', 'none', undefined],
          [],
        ] as const,
    ),
  ]
  for (const [what, message, all, kept] of rules)
    it(`why it stays, if it did something: ${what}, ${all.join(', ') || 'unknown'}`, () => {
      for (const effects of all) assert.equal(keptOf(message, effects), kept, String(effects))
    })

  it('that it cannot be undone where it was begun as such, whatever its tool is now', () => {
    for (const effects of ['idempotent', 'reversible', 'agent', undefined] as const)
      assert.equal(keptOf({}, effects, { isIrreversible: true }), never)
  })

  it('nothing where it failed and kept nothing, though it could be undone', () => {
    const nodes = calledFor({}, {})
    for (const [id, receipt] of [
      [2, undefined],
      [3, { data: 1 }],
    ] as const) {
      const node = nodes.get(id)!
      nodes.set(id, { ...node, message: { ...node.message, isError: true, receipt } } as unknown as ConversationNode)
    }
    assert.equal(planned(nodes), { calls: [3], kept: [] })
  })

  it('that it was done elsewhere where it was imported, up to the last such node', () => {
    const nodes = calledFor({}, {})
    const { calls, kept } = planUndo(
      { node: (id) => nodes.get(id), ownFrom: 0, foreignTo: 2 },
      [...nodes.values()],
      reversible,
    )
    assert.equal(calls, [{ call: 3, what: 'write {"at":1}' }])
    assert.equal(kept, [{ what: 'write {"at":0}', why: 'it was done where this session was imported from' }])
  })

  it('what was done on branches that were abandoned within it, each once', () => {
    const nodes = calledFor({}, {}, {})
    const reply = nodes.get(1)!
    nodes.set(1, { ...reply, tags: [{ abandoned: [3, 4, 3, 99] }] } as unknown as ConversationNode)
    const all = planUndo({ node: (id) => nodes.get(id), ownFrom: 0, foreignTo: 0 }, [reply, nodes.get(2)!], reversible)
    assert.equal(
      all.calls.map(({ call }) => call),
      [4, 3, 2],
    )
  })
})
