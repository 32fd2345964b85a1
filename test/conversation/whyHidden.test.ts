import type { Conversation } from '../../src/conversation/tree/conversation.ts'
import type { ConversationNode } from '../../src/conversation/tree/node.ts'
import { whyHidden } from '../../src/conversation/brakes/whyHidden.ts'
import { assert, describe } from '../support/suite.ts'

const reply = { role: 'assistant', content: [{ type: 'text', text: 'ok' }] }
const node = (id: number, message: object = reply, more: object = {}): ConversationNode =>
  ({ id, stepId: id, depth: id, tags: [], message, ...more }) as never

interface Given {
  readonly trunk?: readonly number[]
  readonly overlay?: object
  readonly hidden?: readonly number[]
  readonly masked?: readonly number[]
}

const why = (
  nodes: readonly ConversationNode[],
  { trunk = [3, 4, 5, 6], overlay, hidden = [], masked = [] }: Given = {},
) =>
  whyHidden(
    {
      onTrunk: (id: number) => trunk.includes(id),
      overlay,
      annotations: { hiddenBy: (id: number) => (hidden.includes(id) ? {} : undefined), masked: new Set(masked) },
    } as unknown as Conversation,
    nodes,
  )

const overlay = { from: 4, to: 5, kept: [], recentTo: 6, maxToolOutputChars: 100 }

describe('why a request does not show a step', (it) => {
  it('is that it was reverted, hidden or summarised, and never for what people said', () => {
    assert.is(why([node(4)]), undefined)
    assert.is(why([node(9)]), 'reverted')
    assert.is(why([node(4)], { hidden: [4] }), 'hidden')
    for (const given of [{ trunk: [] }, { hidden: [4] }, { overlay }])
      assert.is(why([node(4, { role: 'user', content: [] })], given), undefined)
  })

  it('is a summary from its first step to its last, but for steps that it keeps', () => {
    for (const [id, expected] of [
      [3, undefined],
      [4, 'summarised'],
      [5, 'summarised'],
      [6, undefined],
    ] as const)
      assert.is(why([node(id)], { overlay }), expected)
    assert.is(why([node(4)], { overlay: { ...overlay, kept: [4] } }), undefined)
    assert.is(why([node(4)], { overlay, hidden: [4] }), 'summarised')
  })

  it('is that a summary cuts its output short, in the steps right after it alone', () => {
    const long = {
      role: 'toolResult',
      callId: 'c',
      toolName: 'look',
      content: [{ type: 'text', text: 'x'.repeat(900) }],
    }
    const step = (id: number) => [node(id), node(id, long)]
    assert.is(why(step(6), { overlay }), 'cut short')
    assert.is(why(step(3), { overlay }), undefined)
    assert.is(why(step(7), { overlay, trunk: [7] }), undefined)
    assert.is(why(step(6)), undefined)
    assert.is(why([node(6)], { overlay }), undefined)
  })

  it('is that its output is masked, unless more of it is hidden or none of it is long', () => {
    const long = {
      role: 'toolResult',
      callId: 'c',
      toolName: 'look',
      content: [{ type: 'text', text: 'x'.repeat(900) }],
    }
    const short = { ...long, content: [{ type: 'text', text: 'x' }] }
    const step = (id: number, result: object = long) => [node(id), node(id, result)]
    for (const [nodes, given, expected] of [
      [step(4), { masked: [4] }, 'output hidden'],
      [step(4), { masked: [5] }, undefined],
      [step(4, short), { masked: [4] }, undefined],
      [step(4), { masked: [4], hidden: [4] }, 'hidden'],
      [step(4), { masked: [4], trunk: [] }, 'reverted'],
      [step(4), { masked: [4], overlay }, 'summarised'],
      [step(3), { masked: [3], overlay }, 'output hidden'],
      [step(6), { masked: [6], overlay }, 'output hidden'],
      [step(6, short), { masked: [6], overlay }, undefined],
    ] as const)
      assert.is(why(nodes, given), expected, JSON.stringify(given))
  })

  it('is none for a conversation without notes', () => {
    const bare = { onTrunk: () => true, overlay: undefined, annotations: undefined } as unknown as Conversation
    assert.is(whyHidden(bare, [node(4)]), undefined)
  })
})
