import type { ConversationNode } from '../../src/conversation/node.ts'
import { planUndo, type EffectsOf } from '../../src/conversation/planUndo.ts'
import type { ToolResultMessage } from '../../src/protocol/messages.ts'
import { assert, describe } from '../support/suite.ts'

interface Did {
  readonly of?: string
  readonly isUndone?: boolean
  readonly synthetic?: ToolResultMessage['synthetic']
  readonly tool?: string
  readonly graftedFrom?: number
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
  const results = did.map(({ of, isUndone = false, synthetic, tool = 'write', graftedFrom }, at) => ({
    id: at + 2,
    stepId: 1,
    tags: [],
    reversible: { seq: 10 + at, isUndone },
    ...(graftedFrom === undefined ? {} : { graftedFrom }),
    message: {
      role: 'toolResult',
      callId: `c${at}`,
      toolName: tool,
      content: [],
      isError: false,
      receipt: { data: at, ...(of === undefined ? {} : { of }) },
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
    const nodes = calledFor({}, { isUndone: true }, {}, { graftedFrom: 9 })
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
      [1, 'aborted'],
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
