import type { AgentEvent } from '../../../../src/protocol/events.ts'
import {
  viewBelow,
  viewOf,
  viewOfAgent,
  visibleConversation,
  visibleEnd,
  visibleError,
  visibleEvent,
  visibleNodes,
  visiblePending,
  visibleReason,
  visibleRecord,
  visibleReply,
  visibleSummary,
  type View,
} from '../../src/server/visible.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

/** Words that nobody sees without the right to see all. */
const secret = 'SECRET'
const base = { agentId: 'a', path: [], seq: 5, time: 1, runId: 'r', turnIndex: 2 } as const
const event = (type: string, more: object = {}, isRecord = true): AgentEvent =>
  ({ ...base, ...(isRecord ? { v: 3 } : {}), type, ...more }) as unknown as AgentEvent
const text = (words: string) => ({ type: 'text', text: words })
const call = { type: 'toolCall', callId: 'c', name: 'pay', input: { secret } }
const reply = {
  role: 'assistant',
  content: [
    text('said'),
    { type: 'thinking', text: secret },
    call,
    { type: 'provider', kind: 'source', name: 'n', provider: 'p', data: secret },
  ],
}
const result = {
  role: 'toolResult',
  callId: 'c',
  toolName: 'pay',
  isError: false,
  content: [text(secret)],
  artifacts: [secret],
}
const user = (words: string, provenance?: object) => ({
  role: 'user',
  content: [text(words)],
  ...(provenance === undefined ? {} : { provenance }),
})
const error = { code: 'TOOL_FAILED', message: secret }

/** Returns an event as a view shows it, without the fields that all events have. */
function left(given: AgentEvent, view: View, tools: readonly string[] = []): unknown {
  const seen = visibleEvent(given, view, tools) as Record<string, unknown> | undefined
  if (seen === undefined) return undefined
  const { agentId: _, path: __, seq: ___, time: ____, runId: _____, turnIndex: ______, v: _______, ...rest } = seen
  return rest
}

const withheld = { type: 'record.withheld' }
const shownReply = {
  role: 'assistant',
  content: [
    text('said'),
    { ...call, input: {} },
    { type: 'provider', kind: 'source', name: 'n', provider: 'p', data: null },
  ],
}
const shownResult = { role: 'toolResult', callId: 'c', toolName: 'pay', isError: false, content: [] }
const tag = {
  kind: 'revert',
  text: secret,
  turnIndex: 1,
  abandoned: [3],
  evidence: { calls: [secret], changed: [secret] },
}

/** An event, and what is left of it for who sees messages. */
type Case = readonly [given: AgentEvent, shown: unknown]
const cases: readonly Case[] = [
  [
    event('run.start', { requestId: 'q', model: secret, limits: { secret }, given: secret }),
    { type: 'run.start', requestId: 'q', limits: {} },
  ],
  [
    event('run.end', { stopReason: 'error', error, left: secret, unfinished: [secret] }),
    { type: 'run.end', stopReason: 'error', error: { code: 'TOOL_FAILED' } },
  ],
  [
    event('run.end', { stopReason: 'paused', reason: { type: 'stall', evidence: secret } }),
    { type: 'run.end', stopReason: 'paused', reason: { type: 'stall', evidence: '' } },
  ],
  [event('tools.changed', { tools: secret }), withheld],
  [event('turn.prepared', { system: secret }), withheld],
  [event('use.changed', { system: secret }), withheld],
  [event('turn.captured', { request: secret }), withheld],
  [
    event('message.added', { nodeId: 1, parentId: null, message: user('said') }),
    { type: 'message.added', nodeId: 1, parentId: null, message: user('said') },
  ],
  [
    event('message.added', { nodeId: 1, parentId: null, message: user(secret, { type: 'note', kind: 'x' }) }),
    { ...withheld, nodeId: 1, parentId: null },
  ],
  [
    event('message.added', { nodeId: 1, parentId: null, message: user('said', { type: 'note', kind: 'mcp' }) }),
    { type: 'message.added', nodeId: 1, parentId: null, message: user('said', { type: 'note', kind: 'mcp' }) },
  ],
  ...(['steering', 'followUp', 'loopTurn', 'imported'] as const).map((type): Case => [
    event('message.added', { nodeId: 1, parentId: null, message: user('said', { type }) }),
    { type: 'message.added', nodeId: 1, parentId: null, message: user('said', { type }) },
  ]),
  [event('reply.end', { message: reply, withheld: secret }), { type: 'reply.end', message: shownReply }],
  [
    event('reply.reset', { error, repair: secret, next: secret }),
    { type: 'reply.reset', error: { code: 'TOOL_FAILED' } },
  ],
  [
    event('tool.start', { callId: 'c', name: 'pay', input: { secret } }),
    { type: 'tool.start', callId: 'c', name: 'pay', input: {} },
  ],
  [
    event('tool.end', { callId: 'c', message: result, spent: secret, data: secret, dataApart: secret }),
    { type: 'tool.end', callId: 'c', message: shownResult },
  ],
  [
    event('tool.end', { callId: 'c', message: { ...result, synthetic: 'aborted' } }),
    { type: 'tool.end', callId: 'c', message: { ...shownResult, synthetic: 'aborted' } },
  ],
  [event('child.ended', { childId: 'a.1', error }), { type: 'child.ended', childId: 'a.1' }],
  [event('approval.requested', { key: 'k', input: { secret } }), { type: 'approval.requested', key: 'k', input: {} }],
  [
    event('approval.requested', { key: 'k', input: { secret }, rule: secret, suggest: [secret] }),
    { type: 'approval.requested', key: 'k', input: {} },
  ],
  [event('tool.start', { key: 'k', input: { secret }, rule: secret }), { type: 'tool.start', key: 'k', input: {} }],
  [
    event('approval.decided', { key: 'k', decision: 'deny', input: secret, reason: secret, grant: secret }),
    { type: 'approval.decided', key: 'k', decision: 'deny' },
  ],
  [
    event('question.asked', { key: 'k', question: 'Which?', input: { secret } }),
    { type: 'question.asked', key: 'k', question: 'Which?', input: {} },
  ],
  [event('call.requested', { key: 'k', input: { secret } }), { type: 'call.requested', key: 'k', input: {} }],
  [event('queue.changed', { removed: ['x'] }), { type: 'queue.changed', removed: ['x'] }],
  [
    event('queue.changed', { added: { id: 'x', content: [text('said')], more: secret } }),
    { type: 'queue.changed', added: { id: 'x', content: [text('said')] } },
  ],
  [
    event('queue.changed', { added: { id: 'x', content: [text(secret)], provenance: { type: 'note', kind: 'x' } } }),
    { type: 'queue.changed', added: { id: 'x', content: [] } },
  ],
  [event('compaction.start', { reason: secret }), withheld],
  [
    event('compaction.end', {
      applied: true,
      overlay: { from: 1, summary: secret },
      reason: secret,
      economics: secret,
    }),
    { type: 'compaction.end', applied: true, overlay: { from: 1, summary: '' } },
  ],
  [event('compaction.end', { applied: false, reason: secret }), { type: 'compaction.end', applied: false }],
  [
    event('guard.decided', { at: 'input', verdict: 'deny', error, guard: secret }),
    { type: 'guard.decided', at: 'input', verdict: 'deny' },
  ],
  [
    event('revert.applied', { applied: true, tag, economics: secret, undo: secret }),
    { type: 'revert.applied', applied: true, tag: { ...tag, text: '', evidence: { calls: [], changed: [] } } },
  ],
  [
    event('revert.applied', { applied: true, tag: { ...tag, lastReply: 4 } }),
    {
      type: 'revert.applied',
      applied: true,
      tag: { ...tag, text: '', evidence: { calls: [], changed: [] }, lastReply: 4 },
    },
  ],
  [event('revert.applied', { applied: false, reason: secret }), { type: 'revert.applied', applied: false, reason: '' }],
  [
    event('graft.applied', { applied: true, reason: secret, economics: secret }),
    { type: 'graft.applied', applied: true },
  ],
  ...[
    'revert.requested',
    'undo.step',
    'undo.end',
    'prune.requested',
    'prune.applied',
    'pin.requested',
    'pin.applied',
    'graft.requested',
    'stall.detected',
    'policy.requested',
    'policy.start',
    'policy.end',
    'memory.extracted',
  ].map((type): Case => [event(type, { words: secret }), withheld]),
  [event('reply.start', { model: secret }, false), { type: 'reply.start' }],
  [event('reply.delta', { text: 'said' }, false), { type: 'reply.delta', text: 'said' }],
  ...[
    'turn.request',
    'thinking.delta',
    'toolCall.delta',
    'tool.progress',
    'model.warning',
    'model.waiting',
    'model.waited',
    'tag.expired',
    'source.status',
    'error',
  ].map((type): Case => [event(type, { words: secret }, false), undefined]),
  ...[
    'agent.created',
    'agent.stopped',
    'run.abandoned',
    'turn.start',
    'turn.end',
    'child.spawned',
    'question.answered',
  ].map((type): Case => [event(type, { words: 'said' }), { type, words: 'said' }]),
  ...['state.changed', 'events.dropped'].map((type): Case => [event(type, {}, false), { type }]),
]

/** Errors have advice in the end, which is the same for all. */
const withoutAdvice = (shown: unknown): unknown =>
  JSON.parse(JSON.stringify(shown ?? null), (key, value: unknown) =>
    key === 'message' && typeof value === 'string' ? undefined : value,
  )

describe('who sees messages', (it) => {
  for (const [at, [given, shown]] of cases.entries())
    it(`is shown no secret of ${given.type} (${at + 1})`, () => {
      const seen = left(given, 'messages')
      assert.equal(withoutAdvice(seen), withoutAdvice(shown))
      assert.not.match(JSON.stringify(seen ?? ''), secret)
      assert.equal(visibleEvent(given, 'all'), given)
      if ('v' in given) {
        const record = visibleRecord(given, 'messages')
        assert.is(record === undefined, (seen as { type: string }).type === 'record.withheld')
        assert.is(visibleRecord(given, 'all'), given)
      }
    })

  it('is told where a record stands that it does not see', () => {
    const seen = visibleEvent(event('tools.changed', { incognito: true }), 'messages')
    assert.equal(seen, { ...base, ...withheld, incognito: true })
    const { runId: _, turnIndex: __, ...unplaced } = event('pin.applied') as unknown as Record<string, unknown>
    const { runId, turnIndex } = visibleEvent(unplaced as never, 'messages') as { runId: string; turnIndex: number }
    assert.equal([runId, turnIndex], ['', 0])
  })

  it('is shown the arguments of the calls that it carries out, and of no others', () => {
    const asked = event('call.requested', { key: 'k', input: { secret } })
    assert.match(JSON.stringify(left(asked, 'answering')), secret)
    for (const view of ['messages', 'names'] as const) assert.not.match(JSON.stringify(left(asked, view)), secret)
    const inputs = (view: View, tools: readonly string[]) =>
      JSON.stringify(left(event('reply.end', { message: { ...reply, content: [call] } }), view, tools)).includes(secret)
    assert.equal(
      [inputs('answering', ['pay']), inputs('answering', ['look']), inputs('messages', ['pay'])],
      [true, false, false],
    )
    const pending = (kind: string, view: View) =>
      visiblePending<{ input: unknown }>({ kind, input: { secret } } as never, view).input
    assert.equal(
      [
        pending('call', 'answering'),
        pending('approval', 'answering'),
        pending('call', 'messages'),
        pending('approval', 'all'),
      ],
      [{ secret }, {}, {}, { secret }],
    )
  })

  it('is shown of agents that carry out a call the names alone', () => {
    const content = (given: AgentEvent) => JSON.stringify(left(given, 'names') ?? '')
    for (const given of [
      event('message.added', { nodeId: 1, parentId: null, message: user(secret) }),
      event('queue.changed', { added: { id: 'x', content: [text(secret)] } }),
      event('reply.delta', { text: secret }, false),
      event('reply.end', { message: { role: 'assistant', content: [text(secret), call] } }),
    ])
      assert.not.match(content(given), secret)
    assert.match(content(event('reply.end', { message: reply })), '"pay"')
    assert.equal(visibleReply({ runId: 'r', turnIndex: 0, text: 'said', thinking: secret }, 'names'), {
      runId: 'r',
      turnIndex: 0,
      text: '',
      thinking: '',
    })
    assert.equal(visibleReply({ text: 'said', thinking: secret } as never, 'messages'), {
      text: 'said',
      thinking: '',
    })
    assert.is(visibleReply(undefined, 'messages'), undefined)
    assert.equal((['all', 'answering', 'messages', 'names'] as const).map(viewBelow), [
      'all',
      'names',
      'names',
      'names',
    ])
    assert.equal(
      [
        viewOfAgent('messages', {}),
        viewOfAgent('messages', { parent: { agentId: 'a' } } as never),
        viewOfAgent('messages', { parent: { agentId: 'a', callId: 'c' } } as never),
      ],
      ['messages', 'messages', 'names'],
    )
    assert.equal(
      [viewOf(new Set(['see.all', 'answer.own'])), viewOf(new Set(['answer.own'])), viewOf(new Set(['see.messages']))],
      ['all', 'answering', 'messages'],
    )
  })

  it('is told codes of errors, and no words of them', () => {
    assert.is(visibleError(error, 'all'), error)
    for (const code of ['TOOL_FAILED', 'OF_THE_APPLICATION']) {
      const seen = visibleError({ code, message: secret }, 'messages')
      assert.is(seen.code, code)
      assert.match(seen.message, 'It failed.')
      assert.not.match(seen.message, secret)
    }
    assert.is(
      (visibleReason({ type: 'store', error } as never) as { error: { code: string } }).error.code,
      'TOOL_FAILED',
    )
    assert.not.match(JSON.stringify(visibleReason({ type: 'store', error } as never)), secret)
    assert.equal(visibleReason({ type: 'limit' } as never), { type: 'limit' })
    const end = { error, reason: { type: 'stall', evidence: secret } }
    assert.is(visibleEnd(end as never, 'all'), end)
    assert.not.match(JSON.stringify(visibleEnd(end as never, 'messages')), secret)
    for (const reason of ['words', null]) assert.equal(visibleEnd({ reason }, 'messages'), { reason })
  })

  it('is shown a conversation without what nobody said, by each way to look at it', () => {
    const node = (id: number, message: object) => ({ id, message, tags: [secret], ranWith: secret, stepId: 1 })
    const nodes = [
      node(1, user('said')),
      node(2, user(secret, { type: 'note', kind: 'x' })),
      node(3, reply),
      node(4, result),
    ]
    const conversation = {
      head: 4,
      tokens: 9,
      trunk: () => nodes,
      log: () => nodes,
      abandoned: () => nodes,
      steps: () => [{ id: 1, nodes }],
      node: (id: number) => nodes.find((one) => one.id === id),
      tags: () => [secret],
      pins: () => [1],
      masks: () => [2],
    }
    const seen = visibleConversation(conversation as never, 'messages')
    const ids = (some: readonly { readonly id: unknown }[]): unknown[] => some.map(({ id }) => id)
    for (const some of [
      seen.trunk(),
      seen.log(),
      seen.abandoned(),
      seen.steps()[0]!.nodes,
      visibleNodes(nodes as never, 'messages'),
    ]) {
      assert.equal(ids(some), [1, 3, 4])
      assert.not.match(JSON.stringify(some), secret)
    }
    assert.equal([seen.head, seen.tokens, seen.tags(), seen.pins(), seen.masks()] as unknown[], [4, 9, [], [1], [2]])
    assert.equal([seen.node(1)?.id, seen.node(2), seen.node(9)] as unknown[], [1, undefined, undefined])
    assert.is(visibleConversation(conversation as never, 'all'), conversation)
    assert.is(visibleNodes(nodes as never, 'all'), nodes)
  })

  it('is shown of lists what is not about arguments', () => {
    const listed = {
      path: [] as string[],
      title: 'A title',
      doing: secret,
      contextTokens: 5,
      last: { stopReason: 'error', error },
      error,
    }
    const seen = visibleSummary(listed as never, 'messages') as unknown as Record<string, unknown>
    assert.not.match(JSON.stringify(seen), secret)
    assert.equal(
      [seen['title'], 'contextTokens' in seen, (seen['last'] as { stopReason: string }).stopReason],
      ['A title', false, 'error'],
    )
    // It is what its parent told it.
    assert.is('title' in visibleSummary({ path: ['a'], title: secret }, 'messages'), false)
    assert.is(visibleSummary(listed as never, 'all'), listed)
  })
})
