import { readText } from '../../tools/bench/replay/readers/readSession.ts'
import { assert, describe } from '../support/suite.ts'
import { jsonl, turnsOf } from './shortTurns.ts'

describe('readers of recorded messages of LangGraph', (it) => {
  const made = (kind: string, kwargs: object) => ({
    lc: 1,
    type: 'constructor',
    id: ['langchain_core', 'messages', kind],
    kwargs,
  })
  const calls = [
    { name: 'look', args: { at: 'x' }, id: 'a', type: 'tool_call' },
    { name: 'look', args: { at: 'y' }, id: 'b', type: 'tool_call' },
  ]
  const spec = { type: 'function', name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} } }
  const ofClasses = [
    made('SystemMessage', { content: 'You look.' }),
    made('HumanMessage', { content: [{ type: 'text', text: 'look' }], id: 'h' }),
    made('AIMessageChunk', {
      content: [
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'a', name: 'look', input: { at: 'x' } },
      ],
      tool_calls: calls,
      additional_kwargs: { reasoning: { summary: [{ type: 'summary_text', text: 'hm' }] } },
      response_metadata: { tools: [spec] },
      usage_metadata: { input_tokens: 5_000 },
    }),
    made('ToolMessage', { content: 'text of x', tool_call_id: 'a' }),
    made('ToolMessage', { content: 'no y', tool_call_id: 'b', status: 'error' }),
    made('AIMessage', {
      content: '',
      invalid_tool_calls: [{ name: 'look', args: '{"at":', id: 'c', error: 'not JSON' }],
    }),
    made('ToolMessage', { content: 'say it again', tool_call_id: 'c', status: 'error' }),
    made('AIMessage', { content: 'done' }),
  ]
  const turns = [
    'user: look',
    'thinking → I look. → a:look({"at":"x"}) → b:look({"at":"y"}) = text of x & !no y',
    'c:look({"value":"{\\"at\\":"}) = !say it again',
    'done',
  ]
  const kinds: { readonly [name: string]: string } = {
    SystemMessage: 'system',
    HumanMessage: 'human',
    ToolMessage: 'tool',
  }
  const ofKinds = ofClasses.map(({ id, kwargs }) => ({ type: kinds[id.at(-1)!] ?? 'ai', ...kwargs }))
  const state = { messages: ofClasses }
  const metadata = { langgraph_step: 1, langgraph_node: 'model' }

  for (const [what, value] of [
    ['a state of a thread', { values: { messages: ofKinds }, next: [], metadata }],
    ['a checkpoint', { v: 1, id: 'c', channel_values: { messages: ofClasses, more: [1] } }],
    ['a run', { id: 'r', inputs: { messages: [{ role: 'user', content: 'look' }] }, outputs: { messages: ofKinds } }],
    ['a list', ofKinds],
    ['messages with their fields as `data`', ofKinds.map(({ type, ...data }) => ({ type, data }))],
    [
      'a stream, of which the last state has all',
      [
        ['values', { messages: ofClasses.slice(0, 2) }],
        ['messages', [ofClasses[2], metadata]],
        ['values', state],
      ],
    ],
    [
      'a stream of events',
      [
        { event: 'metadata', data: {} },
        { event: 'values', data: state },
      ],
    ],
  ] as const)
    it(`read ${what}`, async () => {
      const session = await readText(JSON.stringify(value), 'thread.json')
      assert.equal(turnsOf(session), turns)
      assert.equal([session.format, session.system], ['LangGraph messages', 'You look.'])
      assert.is(session.tools.find(({ name }) => name === 'look')?.description, 'Looks.')
    })

  it('read a line for each message', async () => {
    assert.equal(turnsOf(await readText(jsonl(...ofClasses), 'thread.jsonl')), turns)
  })

  it('know the calls of a provider where there are no others', async () => {
    const call = { id: 'a', type: 'function', function: { name: 'look', arguments: '{"at":"x"}' } }
    const value = [
      { type: 'human', content: 'look' },
      { type: 'ai', content: '', additional_kwargs: { tool_calls: [call], reasoning_content: 'hm' } },
      { type: 'tool', content: [{ type: 'image_url', image_url: 'data:image/png;base64,AAAA' }], tool_call_id: 'a' },
    ]
    const session = await readText(JSON.stringify(value), 'thread.json')
    assert.equal(turnsOf(session), ['user: look', 'thinking → a:look({"at":"x"}) = image'])
  })
})

describe('readers of sessions of Kimi', (it) => {
  it('read a context of Kimi CLI, between whose messages stand marks', async () => {
    const call = { type: 'function', id: 'Glob:0', function: { name: 'Glob', arguments: '{"pattern":"*"}' } }
    const session = await readText(
      jsonl(
        { role: '_system_prompt', content: 'You are Kimi.' },
        { role: '_checkpoint', id: 0 },
        { role: 'user', content: 'look' },
        { role: '_usage', token_count: 2_684 },
        {
          role: 'assistant',
          content: [
            { type: 'think', think: 'hm' },
            { type: 'text', text: 'I look.' },
          ],
          tool_calls: [call],
        },
        { role: 'tool', content: [{ type: 'text', text: 'a.py' }], tool_call_id: 'Glob:0' },
        { role: 'assistant', content: 'done' },
      ),
      'context.jsonl',
    )
    assert.equal(turnsOf(session), ['user: look', 'thinking → I look. → Glob:0:Glob({"pattern":"*"}) = a.py', 'done'])
    assert.equal([session.format, session.system], ['Kimi CLI context', 'You are Kimi.'])
  })

  it('read the records of Kimi Code, whose replies are events', async () => {
    const event = (type: string, more: object) => ({ type: 'context.append_loop_event', event: { type, ...more } })
    const part = (value: object) => event('content.part', { stepUuid: 's', part: value })
    const called = (toolCallId: string, name: string, args: object) => event('tool.call', { toolCallId, name, args })
    const message = (value: object) => ({ type: 'context.append_message', message: { toolCalls: [], ...value } })
    const words = (text: string) => [{ type: 'text', text }]
    const session = await readText(
      jsonl(
        { type: 'metadata', protocol_version: '1.5' },
        { type: 'config.update', systemPrompt: 'You are Kimi.' },
        { type: 'config.update', systemPrompt: 'You are Kimi.' },
        {
          type: 'llm.tools_snapshot',
          tools: [{ name: 'Read', description: 'Reads.', parameters: { type: 'object' } }],
        },
        { type: 'turn.prompt', input: words('look'), origin: { kind: 'user' } },
        message({
          role: 'user',
          content: [...words('look'), { type: 'image_url', imageUrl: { url: 'data:image/png;base64,AAAA' } }],
        }),
        event('step.begin', { uuid: 's', step: 0 }),
        part({ type: 'think', think: 'hm' }),
        part({ type: 'text', text: 'I look.' }),
        called('a', 'Read', { path: 'x' }),
        event('tool.result', { toolCallId: 'a', result: { output: 'text of x' } }),
        called('b', 'Read', { path: 'y' }),
        event('tool.result', { toolCallId: 'b', result: { output: words('no y'), isError: true } }),
        event('step.end', { uuid: 's', usage: { inputOther: 10, inputCacheRead: 5 } }),
        { type: 'context.apply_compaction', summary: 'short' },
        message({ role: 'user', content: words('short'), origin: { kind: 'compaction_summary' } }),
        event('step.begin', { uuid: 't', step: 1 }),
        part({ type: 'text', text: 'done' }),
        event('step.end', { uuid: 't' }),
        message({ role: 'assistant', content: words('done') }),
        { type: 'usage.record', model: 'kimi' },
      ),
      'wire.jsonl',
    )
    assert.equal(turnsOf(session), [
      'user: look | image',
      'thinking → I look. → a:Read({"path":"x"}) → b:Read({"path":"y"}) = text of x & !no y',
      'done',
    ])
    assert.equal([session.format, session.system], ['Kimi Code session', 'You are Kimi.'])
    assert.is(session.tools.find(({ name }) => name === 'Read')?.description, 'Reads.')
    assert.equal(session.notes, ['compactions were left out: what they replaced is replayed'])
  })

  it('read whole messages of Kimi Code as well', async () => {
    const message = (value: object) => ({ type: 'context.append_message', message: value })
    const session = await readText(
      jsonl(
        message({ role: 'user', content: [{ type: 'text', text: 'look' }], toolCalls: [] }),
        message({ role: 'assistant', content: [], toolCalls: [{ id: 'a', name: 'Read', arguments: '{"path":"x"}' }] }),
        message({ role: 'tool', content: [{ type: 'text', text: 'no x' }], toolCallId: 'a', isError: true }),
        { type: 'context.undo', count: 1 },
      ),
      'wire.jsonl',
    )
    assert.equal(turnsOf(session), ['user: look', 'a:Read({"path":"x"}) = !no x'])
    assert.ok(session.notes.includes('what was undone or cleared is replayed'))
  })
})
