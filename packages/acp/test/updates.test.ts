import type { AgentEvent } from '../../../src/protocol/events.ts'
import { LiveUpdates } from '../src/liveUpdates.ts'
import { promptAnswer, promptContent } from '../src/prompt.ts'
import { contentBlock, outcomeUpdate } from '../src/toolCallShape.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const event = (type: string, more: object = {}): AgentEvent =>
  ({ v: 3, type, agentId: 'a', path: [], seq: 1, time: 0, runId: 'r', turnIndex: 2, ...more }) as never
const below = { agentId: 'a.1', path: ['a'] }
const text = (words: string) => ({ type: 'text', text: words })
const result = (words: string) => ({ role: 'toolResult', content: [text(words)], isError: false })

/** Returns the updates a client receives for events, each in short. */
function told(options: { showsCompactions?: boolean } = {}) {
  const live = new LiveUpdates({ agentId: 'a', showsCompactions: false, isOwn: (id) => id === 'mine', ...options })
  const take = (...events: readonly AgentEvent[]): unknown[] =>
    events
      .flatMap((one) => live.take(one))
      .map((update) => {
        const { sessionUpdate, messageId, toolCallId, compactionId, content, status, summary, error } =
          update as unknown as Record<string, unknown>
        const said = Array.isArray(content)
          ? (content as { content: { text: string } }[]).map((one) => one.content.text).join()
          : (content as { text: string } | undefined)?.text
        return [
          sessionUpdate,
          messageId ?? toolCallId ?? compactionId,
          status ?? said,
          ...(status === undefined || said === undefined ? [] : [said]),
          ...[summary, error].flatMap((one) => one ?? []),
        ]
      })
  return { live, take }
}
const reply = (words: string, more: object = {}) =>
  event('reply.end', {
    message: { role: 'assistant', content: [{ type: 'thinking', text: 'hm' }, text(words)] },
    ...more,
  })

describe('what an editor is told', (it) => {
  it('is a reply as it grows, each piece once, and the rest of it at its end', () => {
    const { take } = told()
    assert.equal(
      take(
        event('reply.start', { attempt: 1 }),
        event('thinking.delta', { text: 'h', offset: 0 }),
        event('reply.delta', { text: 'He', offset: 0 }),
      ),
      [
        ['agent_thought_chunk', 't2', 'h'],
        ['agent_message_chunk', 't2', 'He'],
      ],
    )
    // Some of it was sent already.
    assert.equal(
      take(event('reply.delta', { text: 'ell', offset: 1 }), event('reply.delta', { text: 'He', offset: 0 })),
      [['agent_message_chunk', 't2', 'll']],
    )
    assert.equal(take(reply('Hello')), [
      ['agent_thought_chunk', 't2', 'm'],
      ['agent_message_chunk', 't2', 'o'],
    ])
    assert.equal(take(event('reply.start', { attempt: 2 }), event('reply.delta', { text: 'A', offset: 0 })), [
      ['agent_message_chunk', 't2.2', 'A'],
    ])
  })

  it('is a reply under way from its beginning, for who comes in the middle', () => {
    const { live, take } = told()
    assert.is(live.catchUp({ runId: 'r', turnIndex: 2, text: 'He', thinking: '' }).length, 1)
    assert.equal(take(event('reply.delta', { text: 'llo', offset: 2 })), [['agent_message_chunk', 't2', 'llo']])
  })

  it('is why a reply was withheld, broke off or failed', () => {
    const { take } = told()
    assert.equal(take(reply('withheld', { withheld: { at: 'output', reason: 'rude', content: [] } })), [
      ['agent_thought_chunk', 'withheld-2', 'withheld'],
    ])
    const reset = (more: object) =>
      take(event('reply.reset', { attempt: 1, error: { code: 'X', message: 'down' }, ...more }))
    assert.equal(reset({}), [['agent_thought_chunk', 'reset-2-1', 'The reply failed: down']])
    for (const more of [{ retryAt: 1 }, { repair: 'x' }])
      assert.equal(reset(more), [
        ['agent_thought_chunk', 'reset-2-1', 'The reply broke off and is asked for again: down'],
      ])
    assert.equal(reset({ next: 'other' }), [
      ['agent_thought_chunk', 'reset-2-1', 'The reply broke off and is asked for again, of other: down'],
    ])
  })

  it('is what others said, and not what its own client did', () => {
    const { take } = told()
    const said = (more: object = {}) =>
      event('message.added', { nodeId: 4, message: { role: 'user', source: 'prompt', content: [text('go')], ...more } })
    assert.equal(take(event('run.start', { requestId: 'mine' }), said()), [])
    assert.equal(take(said({ source: 'steering' })), [['user_message_chunk', 'n4', 'go']])
    assert.equal(take(said({ source: 'steering', provenance: { type: 'note', kind: 'x' } })), [])
    assert.equal(take(event('run.start', { requestId: 'other' }), said()), [['user_message_chunk', 'n4', 'go']])
  })

  it('is a call in the background in progress until it has reported, or its branch is gone', () => {
    const { take, live } = told()
    const begins = (callId: string, background: string) => [
      event('tool.start', { callId, name: 'build', input: {}, background }),
      event('tool.end', { callId, name: 'build', message: result(`Started as ${background}.`) }),
    ]
    assert.equal(take(...begins('c', 'b1')), [
      ['tool_call', 'c', 'pending'],
      ['tool_call_update', 'c', 'in_progress'],
      ['tool_call_update', 'c', 'Started as b1.'],
    ])
    assert.equal(take(event('tool.progress', { callId: 'c', progress: { output: 'half' } })), [
      ['tool_call_update', 'c', 'half'],
    ])
    const reported = { id: 'b1', callId: 'c', name: 'build', content: [text('built')], isError: false }
    assert.equal(take(event('call.reported', reported)), [['tool_call_update', 'c', 'completed', 'built']])
    assert.equal([live.knows('c'), live.background.size], [false, 0])
    take(...begins('d', 'b2'), ...begins('e', 'b3'))
    const background = [
      { id: 'b2', name: 'build', aborted: true },
      { id: 'b3', name: 'build', aborted: false },
    ]
    const tag = { kind: 'lesson', text: 'no', abandoned: [2], evidence: { calls: [], changed: [], background } }
    const [first, ...rest] = take(event('revert.applied', { applied: true, target: 1, tag, category: 'failure' }))
    assert.equal([first, rest.length], [['tool_call_update', 'd', 'failed'], 1])
    assert.equal([...live.background], [['b3', 'e']])
  })

  it('is each call once, as it begins, prints and ends', () => {
    const { take, live } = told()
    const call = event('reply.end', {
      message: { role: 'assistant', content: [{ type: 'toolCall', callId: 'c', name: 'look', input: {} }] },
    })
    const begins = event('tool.start', { callId: 'c', name: 'look', input: {} })
    const prints = (progress: unknown) => take(event('tool.progress', { callId: 'c', progress }))
    assert.equal(take(call, event('approval.requested', { callId: 'c', name: 'look', input: {} }), begins), [
      ['tool_call', 'c', 'pending'],
      ['tool_call_update', 'c', 'in_progress'],
    ])
    assert.equal(prints({ output: 'a' }), [['tool_call_update', 'c', 'a']])
    assert.equal(prints({ output: 'b' }), [['tool_call_update', 'c', 'ab']])
    assert.equal(prints('half'), [['tool_call_update', 'c', 'ab\nhalf']])
    assert.equal(prints({ output: 'c\n' }), [['tool_call_update', 'c', 'ab\nhalf\nc\n']])
    assert.equal(prints('done'), [['tool_call_update', 'c', 'ab\nhalf\nc\ndone']])
    assert.is((prints({ output: 'x'.repeat(9_000) })[0] as string[])[2]?.length, 8_192)
    assert.equal(take(event('tool.end', { callId: 'c', name: 'look', message: result('seen') })), [
      ['tool_call_update', 'c', 'completed', 'seen'],
    ])
    assert.equal(prints({ output: 'new' }), [['tool_call_update', 'c', 'new']])
    assert.is(live.knows('c'), false)
    live.know(['d'])
    assert.equal(take(event('tool.start', { callId: 'd', name: 'look', input: {} })), [
      ['tool_call_update', 'd', 'in_progress'],
    ])
    assert.equal(take(event('tool.end', { callId: 'e', name: 'look', message: result('x') })).length, 2)
  })

  it('is of calls below those alone that are asked about', () => {
    const { take } = told()
    const at = { ...below, callId: 'c', key: 'k', name: 'look', input: {} }
    const [begins, ends] = [event('tool.start', at), event('tool.end', { ...at, message: result('seen') })]
    assert.equal(take(begins, ends, event('reply.delta', { ...below, text: 'x', offset: 0 })), [])
    assert.equal(take(event('approval.requested', at), begins, ends, ends), [
      ['tool_call', 'k', 'pending'],
      ['tool_call_update', 'k', 'in_progress'],
      ['tool_call_update', 'k', 'completed', 'seen'],
    ])
  })

  const tag = { kind: 'revert', text: 'why', abandoned: [3, 4], evidence: { calls: [], changed: [] } }
  const stall = { rule: 'x', first: 1, target: 1, steps: [1, 5], evidence: 'thrice', count: 3 }
  const notes: readonly (readonly [type: string, more: object, id: string, words: RegExp])[] = [
    [
      'revert.applied',
      { applied: true, target: 2, tag, category: 'tangent' },
      'revert-4-2',
      /Went back to n2: 2 messages left.*\nrevert: why/,
    ],
    ['graft.applied', { applied: true, id: 'g', copies: [1] }, 'graft-g', /Brought 1 message of/],
    [
      'prune.applied',
      { applied: true, id: 'p', steps: [1, 2], tokens: 9.6 },
      'prune-p',
      /^Hid 2 steps from the context \(about 10 tokens\)\.$/,
    ],
    [
      'prune.applied',
      { applied: true, id: 'p', steps: [1], tokens: 9, masked: true, memo: 'm' },
      'prune-p',
      /^Hid the results of 1 step .*\nm$/,
    ],
    [
      'undo.end',
      { id: 'u', undone: ['a', 'b'], kept: [{ what: 'c', why: 'd' }] },
      'undo-u',
      /^Undone: a, b\.\nNot undone: c \(d\)\.$/,
    ],
    ['undo.end', { id: 'u', undone: [], kept: [] }, 'undo-u', /^Nothing was to be undone\.$/],
    ['stall.detected', { ...stall, rung: 'note' }, 'stall-5', /^Going in circles: thrice\. The model is told\.$/],
    ['stall.detected', { ...stall, rung: 'none' }, 'stall-5', /^Going in circles: thrice\.$/],
    ['stall.detected', { ...stall, rung: 'pause' }, 'stall-5', /^Paused, as it went in circles: thrice/],
  ]
  for (const [at, [type, more, id, words]] of notes.entries())
    it(`is ${type}, once it was applied (${at + 1})`, () => {
      const { take } = told()
      const [[, messageId, said] = []] = take(event(type, more)) as [string, string, string][]
      assert.is(messageId, id)
      assert.match(said!, words)
      if ('applied' in more)
        assert.equal(take(event(type, { ...more, applied: false, target: undefined, tag: undefined })), [])
    })

  it('is what a compaction does, if it shows such', () => {
    const ends = (more: object) => event('compaction.end', { requestId: 'q', ...more })
    const all = [
      event('compaction.start', {}),
      ends({ applied: true, overlay: { summary: 's' } }),
      ends({ applied: false, reason: 'why' }),
      ends({ applied: false }),
    ]
    assert.equal(told().take(...all), [])
    assert.equal(told({ showsCompactions: true }).take(...all), [
      ['compaction_update', 'r/t2', 'in_progress'],
      ['compaction_update', 'q', 'completed', text('s')],
      ['compaction_update', 'q', 'failed', 'why'],
      ['compaction_update', 'q', 'failed', 'The conversation was left as it is.'],
    ])
  })
})

describe('contents of ACP', (it) => {
  it('are those of agents, and back', () => {
    assert.equal(contentBlock({ type: 'image', url: 'https://a.example' } as never), {
      type: 'resource_link',
      name: 'https://a.example',
      uri: 'https://a.example',
    })
    assert.equal(contentBlock({ type: 'file', data: 'QQ==', mimeType: 'audio/wav' } as never), {
      type: 'audio',
      data: 'QQ==',
      mimeType: 'audio/wav',
    })
    assert.equal(contentBlock({ type: 'file', data: 'QQ==', mimeType: 'a/b', name: 'a b' } as never), {
      type: 'resource',
      resource: { blob: 'QQ==', mimeType: 'a/b', uri: 'attachment:a%20b' },
    })
    const blob = (uri: string, mimeType?: string) => ({
      type: 'resource',
      resource: { uri, blob: 'QQ==', ...(mimeType === undefined ? {} : { mimeType }) },
    })
    const content = promptContent([
      { type: 'audio', data: 'QQ==', mimeType: 'audio/wav' },
      { type: 'resource_link', name: 'n', uri: 'u', title: 'a [b]\nc', description: 'd' },
      { type: 'resource_link', name: 'n', uri: 'u' },
      { type: 'resource', resource: { uri: 'u', text: 't' } },
      blob('file:///x/a%20b.pdf?q#f'),
      blob('file:///x/%zz/', 'a/b'),
      blob('', 'image/png'),
      blob('/'),
    ] as never)
    assert.equal(content, [
      { type: 'file', data: 'QQ==', mimeType: 'audio/wav' },
      { type: 'text', text: '[a b c](u): d' },
      { type: 'text', text: '[n](u)' },
      { type: 'text', text: '<resource uri="u">\nt\n</resource>' },
      { type: 'file', data: 'QQ==', mimeType: 'application/octet-stream', name: 'a b.pdf' },
      { type: 'file', data: 'QQ==', mimeType: 'a/b', name: '%zz' },
      { type: 'image', data: 'QQ==', mimeType: 'image/png' },
      { type: 'file', data: 'QQ==', mimeType: 'application/octet-stream' },
    ] as never)
  })

  it('are of results what came of it, and which files changed', () => {
    const made = (more: object) =>
      outcomeUpdate('c', { ...result('x'), ...more } as never) as unknown as Record<string, unknown>
    assert.equal(
      [made({})['status'], made({ isError: true })['status'], made({})['rawOutput']],
      ['completed', 'failed', 'x'],
    )
    const withData = outcomeUpdate('c', result('x') as never, { rows: [] }) as unknown as Record<string, unknown>
    assert.equal(withData['rawOutput'], { rows: [] })
    assert.equal(made({ changed: ['/a', 'b'] })['locations'], [{ path: '/a' }])
    assert.equal(['locations' in made({ changed: ['b'] }), '_meta' in made({})], [false, false])
    assert.equal(made({ synthetic: 'aborted' })['_meta'], { escapement: { synthetic: 'aborted' } })
  })
})

describe('the answer to a prompt of ACP', (it) => {
  const answered = (more: object): unknown => {
    try {
      return promptAnswer({ runId: 'r', turns: 1, usage: {}, costUsd: 0, ...more } as never).stopReason
    } catch (thrown) {
      const { code, message, data } = thrown as { code: number; message: string; data: { code: string } }
      return [code, data.code, message]
    }
  }
  const limit = (name: string) => ({ stopReason: 'paused', reason: { type: 'limit', limit: name } })

  it('says how the run ended', () => {
    for (const [more, stopReason] of [
      [{ stopReason: 'stop' }, 'end_turn'],
      [{ stopReason: 'length' }, 'max_tokens'],
      [{ stopReason: 'refusal' }, 'refusal'],
      [{ stopReason: 'aborted' }, 'cancelled'],
      [limit('turns'), 'max_turn_requests'],
      [limit('tokens'), 'max_tokens'],
      [limit('costUsd'), 'max_turn_requests'],
      [limit('ms'), 'max_turn_requests'],
      [{ stopReason: 'paused', reason: { type: 'stall' } }, 'max_turn_requests'],
    ] as const)
      assert.is(answered(more), stopReason)
    const error = { code: 'MODEL_FAILED', message: 'Down.' }
    assert.equal((answered({ stopReason: 'error', error }) as unknown[]).slice(0, 2), [-32603, 'MODEL_FAILED'])
    assert.equal((answered({ stopReason: 'paused', reason: { type: 'store', error } }) as unknown[])[1], 'MODEL_FAILED')
    for (const stopReason of ['error', 'paused'])
      assert.match(JSON.stringify(answered({ stopReason })), `INTERNAL","The run ended with \\"${stopReason}\\".`)
  })

  it('says what it took', () => {
    const meta = (more: object) => {
      const answer = promptAnswer({ stopReason: 'stop', runId: 'r', turns: 1, usage: {}, costUsd: 2, ...more } as never)
      return (answer as unknown as { readonly [name: string]: { readonly escapement: unknown } })['_meta']?.escapement
    }
    assert.equal(meta({}), { runId: 'r', turns: 1, usage: {}, costUsd: 2 })
    assert.equal(meta({ stopReason: 'refusal', refusal: { x: 1 } }), {
      runId: 'r',
      turns: 1,
      usage: {},
      costUsd: 2,
      refusal: { x: 1 },
    })
    assert.equal((meta(limit('turns')) as { reason: unknown }).reason, { type: 'limit', limit: 'turns' })
  })
})
