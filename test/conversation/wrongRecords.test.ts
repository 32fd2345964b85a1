import { wrongInGraft } from '../../src/conversation/brakes/graft/grafts.ts'
import type { ConversationNode } from '../../src/conversation/tree/node.ts'
import { wrongInOverlay } from '../../src/conversation/request/overlay.ts'
import { wrongInRevert } from '../../src/conversation/brakes/revert/wrongInRevert.ts'
import { assert, describe } from '../support/suite.ts'

type Said = 'user' | 'reply' | 'silent' | 'call' | 'result'

const contents: { readonly [S in Said]: object } = {
  user: { role: 'user', content: [{ type: 'text', text: 'go' }] },
  reply: { role: 'assistant', content: [{ type: 'text', text: 'ok' }] },
  silent: { role: 'assistant', content: [{ type: 'thinking', text: 'hm' }] },
  call: { role: 'assistant', content: [{ type: 'toolCall', callId: 'c', name: 'look', input: {} }] },
  result: { role: 'toolResult', callId: 'c', toolName: 'look', content: [], isError: false },
}

/** A trunk of these nodes, `n1` and on, each the child of the one before; a result is of the step of the reply before it. */
function trunkOf(...said: readonly Said[]): ConversationNode[] {
  let stepId = 0
  return said.map((what, index) => {
    const id = index + 1
    if (what !== 'result') stepId = id
    return { id, parentId: index === 0 ? null : index, stepId, depth: id, tags: [], message: contents[what] } as never
  })
}

/** A conversation as those who check records see it. */
function subjectOf(
  path: readonly ConversationNode[],
  {
    off = [],
    pinned = [],
    yielding = [],
    overlay,
  }: {
    readonly off?: readonly ConversationNode[]
    readonly pinned?: readonly number[]
    readonly yielding?: readonly number[]
    readonly overlay?: object
  } = {},
) {
  const all = [...path, ...off]
  const find = (id: number): ConversationNode | undefined => all.find((node) => node.id === id)
  return {
    path,
    lastNodeId: Math.max(...all.map(({ id }) => id)),
    counter: {} as never,
    overlay: overlay as never,
    annotations: {
      pinned: new Set(pinned),
      yielding: new Set(yielding),
      masked: { has: () => false },
      hiddenBy: () => undefined,
    },
    trunkAt: (index: number) => path[index],
    node: find,
    onTrunk: (id: number) => path.some((node) => node.id === id),
    stepEnd: (node: ConversationNode) => all.findLast(({ stepId }) => stepId === node.stepId) ?? node,
    hasCall: () => false,
  }
}

describe('an applied revert', (it) => {
  const path = trunkOf('user', 'call', 'result', 'user', 'reply')
  const right = { tag: { abandoned: [4, 5] }, rebased: [{ from: 4, nodeId: 6 }] }
  const wrong = (record: object, target = 3, given: Parameters<typeof subjectOf>[1] = {}) =>
    wrongInRevert({ ...right, ...record } as never, path[target - 1]!, subjectOf(path, given))

  it('is taken where it follows from the trunk', () => {
    assert.is(wrong({}), undefined)
    assert.is(wrong({ tag: undefined }), undefined)
    assert.is(wrong({ tag: { abandoned: [5] }, rebased: undefined }, 4), undefined)
    assert.is(wrong({ tag: { abandoned: [] }, rebased: [] }, 5), undefined)
    assert.is(wrong({}, 3, { pinned: [2] }), undefined)
    assert.is(wrong({}, 3, { pinned: [5], yielding: [5] }), undefined)
  })

  it('is refused where it does not, and says why', () => {
    assert.is(wrong({}, 2), 'its target is in the middle of a step')
    for (const abandoned of [[], [4], [5], [5, 4], [3, 4, 5], [4, 5, 6]])
      assert.is(wrong({ tag: { abandoned } }), 'its tag does not name the nodes that it takes off the trunk')
    assert.is(wrong({}, 3, { pinned: [5] }), 'it takes n5 off the trunk, which is pinned')
    assert.is(
      wrong({}, 3, { pinned: [9], overlay: { nodeId: 9, from: 4, to: 5 } }),
      'it takes n9 off the trunk, which is pinned',
    )
    for (const rebased of [[], undefined, [{ from: 5, nodeId: 6 }]])
      assert.is(wrong({ rebased }), 'it does not keep the user messages of its span')
    for (const nodeId of [5, 7]) assert.is(wrong({ rebased: [{ from: 4, nodeId }] }), 'its ids are not the next')
  })
})

describe('an overlay', (it) => {
  const path = trunkOf('user', 'call', 'result', 'reply', 'user', 'reply')
  const off = [{ id: 7, stepId: 7, depth: 2, tags: [], message: contents.reply } as never]
  const wrong = (overlay: object, given: Parameters<typeof subjectOf>[1] = {}) =>
    wrongInOverlay({ from: 2, to: 4, kept: [], ...overlay } as never, subjectOf(path, { off, ...given }))

  it('is laid where its span is whole and keeps what people said and pinned', () => {
    assert.is(wrong({}), undefined)
    assert.is(wrong({ from: 4, to: 4 }), undefined)
    assert.is(wrong({ to: 3 }), undefined)
    assert.is(wrong({ to: 6, kept: [5] }), undefined)
    assert.is(wrong({ kept: [4] }, { pinned: [4] }), undefined)
    assert.is(wrong({}, { pinned: [6, 9], overlay: { nodeId: 9, from: 5, to: 6 } }), undefined)
  })

  it('is refused where it is not, and says why', () => {
    for (const span of [{ from: 9 }, { to: 9 }, { from: 7 }, { to: 7 }])
      assert.is(wrong(span), 'its span is not on the trunk')
    assert.is(wrong({ from: 4, to: 3 }), 'its span ends before it begins')
    for (const span of [{ from: 3 }, { to: 2 }]) assert.is(wrong(span), 'its span cuts a step in two')
    for (const given of [
      { from: 2, to: 3 },
      { from: 4, to: 4 },
    ])
      assert.is(wrong({}, { pinned: [9], overlay: { nodeId: 9, ...given } }), 'it takes the place of a pinned summary')
    const words = 'it does not keep the user messages and pinned steps of its span'
    assert.is(wrong({ to: 6 }), words)
    assert.is(wrong({ kept: [2] }), words)
    assert.is(wrong({}, { pinned: [4] }), words)
    assert.is(wrong({ to: 6, kept: [4, 5] }, { pinned: [4] }), undefined)
    assert.is(wrong({ to: 6, kept: [5, 4] }, { pinned: [4] }), words)
  })
})

describe('an applied graft', (it) => {
  const path = trunkOf('user', 'reply')
  const [call, result, reply, silent] = trunkOf('call', 'result', 'reply', 'silent').map((node) => ({
    ...node,
    id: node.id + 2,
    stepId: node.stepId + 2,
  }))
  const copy = { ...reply!, id: 7, stepId: 7, copiedFrom: 5 }
  const said = { ...path[0]!, id: 8, stepId: 8 }
  const off = [call!, result!, reply!, silent!, copy, said]
  const subject = subjectOf(path, { off })
  const wrong = (from: readonly number[], applied = true, firstId = 9) =>
    wrongInGraft(
      { applied, copies: from.map((id, index) => ({ from: id, nodeId: firstId + index })) } as never,
      subject,
    )

  it('is taken where its copies follow from the conversation', () => {
    for (const from of [[3, 4], [5], [3, 4, 5]]) assert.is(wrong(from), undefined)
    assert.is(wrong([], false), undefined)
  })

  it('is refused where they do not, and says why', () => {
    assert.is(wrong([]), 'it copies nothing')
    assert.is(wrong([5], false), 'it was refused, and copies')
    assert.is(wrong([5], true, 8), 'its ids are not the next')
    for (const from of [[7], [99]]) assert.is(wrong(from), 'it copies what is not there, or a copy')
    assert.is(wrong([8]), 'it copies a message of a person')
    assert.is(wrong([2]), 'it copies what is on the trunk')
    for (const from of [
      [5, 3, 4],
      [5, 5],
      [3, 4, 4],
    ])
      assert.is(wrong(from), 'its steps are not in order')
    for (const from of [[4], [3, 4, 5, 4].slice(3)]) assert.is(wrong(from), 'it copies a result without its call')
    // A call without its result, and thinking alone.
    for (const from of [[3], [3, 5], [6], [5, 6], [3, 4, 6]]) assert.is(wrong(from), 'a copy of it says nothing')
  })
})
