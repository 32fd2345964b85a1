import { readText } from '../../tools/bench/replay/readers/readSession.ts'
import {
  isStep,
  ReplayError,
  type RecordedSession,
  type RecordedTurn,
} from '../../tools/bench/replay/recordedSession.ts'
import { createRuntime, defineAgent, defineTool, exportSession, memoryStore } from '../../src/index.ts'
import { scriptedModel } from '../../src/testing.ts'
import { assert, describe } from '../support/suite.ts'
import { z } from 'zod'

const jsonl = (...lines: readonly object[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join('')

/** A turn in short: `user: …`, or `words → call(arguments) = result`. */
function short(turn: RecordedTurn): string {
  const words = turn.content.map((block) => {
    if (block.type === 'text') return block.text
    return block.type === 'toolCall' ? `${block.callId}:${block.name}(${JSON.stringify(block.input)})` : block.type
  })
  if (!isStep(turn)) return `user: ${words.join(' | ')}`
  const results = turn.results.map(
    ({ content, isError }) =>
      `${isError ? '!' : ''}${content.map((block) => (block.type === 'text' ? block.text : block.type)).join(' | ')}`,
  )
  return `${words.join(' → ')}${results.length === 0 ? '' : ` = ${results.join(' & ')}`}`
}

const turnsOf = ({ turns }: RecordedSession): string[] => turns.map(short)

async function refusal(text: string): Promise<string> {
  try {
    await readText(text, 'file')
  } catch (thrown) {
    if (thrown instanceof ReplayError) return thrown.message
    throw thrown
  }
  throw new Error('it was read')
}

const piLines = [
  { type: 'session', id: 's', cwd: '/project' },
  { type: 'message', message: { role: 'user', content: [{ type: 'text', text: 'fix it' }] } },
  {
    type: 'message',
    message: {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'hm' },
        { type: 'toolCall', id: 'a', name: 'read', arguments: { path: 'x' } },
        { type: 'toolCall', id: 'b', name: 'bash', arguments: { command: 'ls' } },
      ],
      usage: { input: 3, cacheRead: 0, cacheWrite: 997 },
      stopReason: 'toolUse',
    },
  },
  {
    type: 'message',
    message: { role: 'toolResult', toolCallId: 'b', content: [{ type: 'text', text: 'no' }], isError: true },
  },
  { type: 'message', message: { role: 'toolResult', toolCallId: 'a', content: [{ type: 'text', text: 'text of x' }] } },
  { type: 'compaction', summary: 'short', firstKeptEntryIndex: 1 },
  { type: 'message', message: { role: 'assistant', content: [{ type: 'text', text: 'half' }], stopReason: 'aborted' } },
  { type: 'message', message: { role: 'user', content: 'and now' } },
  { type: 'message', message: { role: 'assistant', content: [{ type: 'text', text: 'done' }], stopReason: 'stop' } },
]

describe('readers of recorded sessions', (it) => {
  it('read a session file of pi, with results in the order of the calls', async () => {
    const session = await readText(jsonl(...piLines), 'pi.jsonl')
    assert.equal(turnsOf(session), [
      'user: fix it',
      'thinking → a:read({"path":"x"}) → b:bash({"command":"ls"}) = text of x & !no',
      'user: and now',
      'done',
    ])
    assert.is(session.format, 'pi session')
    assert.equal(
      session.tools.map(({ name }) => name),
      ['bash', 'read'],
    )
    assert.ok(session.notes.some((note) => note.startsWith('replies that were cut off')))
    assert.ok(session.notes.some((note) => note.startsWith('compactions')))
  })

  it('read the last branch of a session file of pi that is a tree', async () => {
    const said = (id: string, parentId: string | null, role: string, words: string) => ({
      type: 'message',
      id,
      parentId,
      message: { role, content: [{ type: 'text', text: words }] },
    })
    const session = await readText(
      jsonl(
        { type: 'session', version: 3, id: 's', cwd: '/project' },
        said('a', null, 'user', 'fix it'),
        said('b', 'a', 'assistant', 'wrong'),
        { type: 'model_change', id: 'c', parentId: 'a', modelId: 'other' },
        said('d', 'c', 'assistant', 'right'),
      ),
      'pi.jsonl',
    )
    assert.equal(turnsOf(session), ['user: fix it', 'right'])
  })

  it('let words stand in for a missing system prompt, as many as the first request had tokens', async () => {
    const { system, tools } = await readText(jsonl(...piLines), 'pi.jsonl')
    const frame = Math.ceil(system.length / 4) + Math.ceil(JSON.stringify(tools).length / 4)
    // "fix it" is two tokens and a block.
    assert.is(frame + 2 + 4, 1_000)
  })

  it('read a session file of Claude Code: replies in several lines, results in user messages, sub-agents left out', async () => {
    const line = (type: string, message: object, more: object = {}) => ({ type, sessionId: 's', message, ...more })
    const text = jsonl(
      { type: 'summary', summary: 'about', leafUuid: 'u9' },
      line('user', { role: 'user', content: 'fix it' }, { uuid: 'u1' }),
      line('assistant', { id: 'm1', content: [{ type: 'thinking', thinking: 'hm', signature: 'x' }] }, { uuid: 'u2' }),
      line(
        'assistant',
        { id: 'm1', content: [{ type: 'tool_use', id: 'a', name: 'Read', input: { p: 1 } }] },
        { uuid: 'u3' },
      ),
      line(
        'assistant',
        { id: 'm1', content: [{ type: 'tool_use', id: 'b', name: 'Bash', input: {} }] },
        { uuid: 'u4' },
      ),
      line(
        'user',
        { content: [{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'A' }] }] },
        { uuid: 'u5' },
      ),
      line(
        'user',
        { content: [{ type: 'tool_result', tool_use_id: 'b', content: 'B', is_error: true }] },
        { uuid: 'u6' },
      ),
      line('user', { content: 'within a sub-agent' }, { uuid: 'u7', isSidechain: true }),
      line('user', { content: [{ type: 'text', text: 'stop that' }] }, { uuid: 'u8' }),
      line('assistant', { id: 'm2', content: [{ type: 'text', text: 'done' }] }, { uuid: 'u9' }),
      line('assistant', { id: 'm2', content: [{ type: 'text', text: 'done' }] }, { uuid: 'u9' }),
    )
    const session = await readText(text, 'claude.jsonl')
    assert.is(session.format, 'Claude Code session')
    assert.equal(turnsOf(session), [
      'user: fix it',
      'thinking → a:Read({"p":1}) → b:Bash({}) = A & !B',
      'user: stop that',
      'done',
    ])
  })

  it('read OpenAI chat messages, with their tools', async () => {
    const session = await readText(
      JSON.stringify({
        tools: [
          { type: 'function', function: { name: 'get', description: 'Gets.', parameters: { properties: { k: {} } } } },
        ],
        messages: [
          { role: 'developer', content: 'Be short.' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'hello' },
              { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
            ],
          },
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'a', type: 'function', function: { name: 'get', arguments: '{"k":1}' } }],
          },
          { role: 'tool', tool_call_id: 'a', content: 'one' },
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'b', type: 'function', function: { name: 'get', arguments: '{"k":' } }],
          },
          { role: 'tool', tool_call_id: 'b', content: 'two' },
          { role: 'assistant', content: 'done' },
        ],
      }),
      'chat.json',
    )
    assert.is(session.format, 'OpenAI chat messages')
    assert.is(session.system, 'Be short.')
    assert.equal(session.tools, [
      { name: 'get', description: 'Gets.', inputSchema: { type: 'object', properties: { k: {} } } },
    ])
    assert.equal(session.turns[0]!.content[1], { type: 'image', data: 'AAAA', mimeType: 'image/png' })
    assert.equal(turnsOf(session).slice(1), ['a:get({"k":1}) = one', 'b:get({"value":"{\\"k\\":"}) = two', 'done'])
  })

  it('read model messages of the AI SDK', async () => {
    const session = await readText(
      JSON.stringify([
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: 'hello' },
        {
          role: 'assistant',
          content: [
            { type: 'reasoning', text: 'hm' },
            { type: 'tool-call', toolCallId: 'a', toolName: 'get', input: { k: 1 } },
            { type: 'tool-call', toolCallId: 'b', toolName: 'get', input: { k: 2 } },
          ],
        },
        {
          role: 'tool',
          content: [
            { type: 'tool-result', toolCallId: 'a', toolName: 'get', output: { type: 'json', value: { v: 1 } } },
            { type: 'tool-result', toolCallId: 'b', toolName: 'get', output: { type: 'error-text', value: 'no' } },
          ],
        },
        { role: 'assistant', content: 'done' },
      ]),
      'messages.json',
    )
    assert.equal(turnsOf(session), [
      'user: hello',
      'thinking → a:get({"k":1}) → b:get({"k":2}) = {"v":1} & !no',
      'done',
    ])
  })

  it('read UI messages of the AI SDK, a step at a time', async () => {
    const session = await readText(
      JSON.stringify([
        { id: '1', role: 'user', parts: [{ type: 'text', text: 'hello' }] },
        {
          id: '2',
          role: 'assistant',
          parts: [
            { type: 'step-start' },
            { type: 'text', text: 'looking' },
            { type: 'tool-get', toolCallId: 'a', state: 'output-available', input: { k: 1 }, output: 'one' },
            { type: 'step-start' },
            {
              type: 'dynamic-tool',
              toolName: 'put',
              toolCallId: 'b',
              state: 'output-error',
              input: {},
              errorText: 'no',
            },
            { type: 'step-start' },
            { type: 'text', text: 'done' },
          ],
        },
      ]),
      'ui.json',
    )
    assert.is(session.format, 'AI SDK UI messages')
    assert.equal(turnsOf(session), ['user: hello', 'looking → a:get({"k":1}) = one', 'b:put({}) = !no', 'done'])
  })

  it('read a trajectory of SWE-agent, whose actions become calls', async () => {
    const session = await readText(
      JSON.stringify({
        environment: 'swe_main',
        trajectory: [
          { action: 'ls\n', observation: 'a.py', response: 'I look.\n```\nls\n```', thought: 'I look.' },
          { action: 'submit', observation: '', response: 'Done.', thought: 'Done.' },
        ],
        history: [
          { role: 'system', content: 'You are an agent.' },
          { role: 'user', content: 'The issue.' },
          { role: 'assistant', content: 'I look.' },
        ],
      }),
      'x.traj',
    )
    assert.is(session.system, 'You are an agent.')
    assert.equal(turnsOf(session), [
      'user: The issue.',
      'I look. → step-1:run({"command":"ls"}) = a.py',
      'Done. → step-2:run({"command":"submit"}) = (no output)',
    ])
  })

  it('read a trajectory of mini-swe-agent', async () => {
    const session = await readText(
      JSON.stringify({
        trajectory_format: 'mini-swe-agent-1',
        messages: [
          { role: 'system', content: 'sys' },
          { role: 'user', content: 'The issue.' },
          { role: 'assistant', content: 'I look.\n\n```bash\nls\n```' },
          { role: 'user', content: '<output>a.py</output>' },
        ],
      }),
      'x.traj.json',
    )
    assert.equal(turnsOf(session), [
      'user: The issue.',
      'I look. → step-2:run({"command":"ls"}) = <output>a.py</output>',
    ])
  })

  it('read a log and an export of our own, without the calls of the brakes', async () => {
    const model = scriptedModel([
      { text: 'looking', toolCalls: [{ name: 'look', input: { at: 1 } }] },
      { toolCalls: [{ name: 'revert_to_state', input: { category: 'tangent', step: 'n1', summary: 'nothing' } }] },
      'done',
    ])
    const look = defineTool({
      name: 'look',
      description: 'Looks.',
      input: z.object({ at: z.number() }),
      run: () => 'seen',
    })
    const store = memoryStore()
    const runtime = await createRuntime({ store })
    const definition = {
      name: 'a',
      model,
      instructions: 'Be short.',
      tools: [look],
      braking: { revert: true },
    } as const
    const agent = await runtime.spawn(defineAgent({ ...definition, captureTurnRequests: true }), { id: 'one' })
    await agent.prompt('go').result
    const expected = ['user: go', 'done']
    const lines: string[] = []
    for await (const line of exportSession(store, 'one')) lines.push(line)
    const log = lines.slice(1).map((line) => JSON.stringify((JSON.parse(line) as { record: unknown }).record))
    for (const text of [lines.join(''), `${log.join('\n')}\n`]) {
      const session = await readText(text, 'own.jsonl')
      assert.is(session.system, 'Be short.')
      assert.equal(
        session.tools.map(({ name }) => name),
        ['look'],
      )
      const turns = turnsOf(session).map((turn) => turn.replace(/looking → .*:look\(\{"at":1\}\) = seen/, 'looked'))
      assert.equal(turns, [expected[0], 'looked', expected[1]])
    }
    await runtime.close()
  })

  const codexItems = [
    { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'No network.' }] },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'fix it' }] },
    { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }], content: null, encrypted_content: 'x' },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }], phase: 'commentary' },
    { type: 'function_call', name: 'exec_command', arguments: '{"cmd":"ls"}', call_id: 'a' },
    { type: 'custom_tool_call', status: 'completed', call_id: 'b', name: 'apply_patch', input: '*** Begin' },
    { type: 'function_call_output', call_id: 'a', output: '{"output":"no folder","metadata":{"exit_code":2}}' },
    { type: 'custom_tool_call_output', call_id: 'b', output: 'Done' },
    { type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'q' } },
    { type: 'reasoning', summary: [], content: null, encrypted_content: 'x' },
    { type: 'function_call', name: 'view_image', arguments: '{}', call_id: 'c' },
    {
      type: 'function_call_output',
      call_id: 'c',
      output: [{ type: 'input_image', image_url: 'data:image/png;base64,AAAA' }],
    },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'done' }] },
  ]
  const codexTurns = [
    'user: fix it',
    'thinking → I look. → a:exec_command({"cmd":"ls"}) → b:apply_patch({"input":"*** Begin"}) = !no folder & Done',
    'c:view_image({}) = image',
    'done',
  ]

  it('read a rollout of Codex', async () => {
    const line = (type: string, payload: object) => ({ timestamp: '2026-04-15T01:33:29.231Z', type, payload })
    const session = await readText(
      jsonl(
        line('session_meta', { id: 's', cwd: '/project', base_instructions: { text: 'You are Codex.' } }),
        line('event_msg', { type: 'user_message', message: 'fix it' }),
        line('turn_context', { cwd: '/project' }),
        ...codexItems.map((item) => line('response_item', item)),
        line('event_msg', { type: 'token_count', info: { last_token_usage: { input_tokens: 5_000 } } }),
        line('compacted', { message: 'short' }),
      ),
      'rollout.jsonl',
    )
    assert.equal(turnsOf(session), codexTurns)
    assert.equal([session.format, session.system], ['Codex rollout', 'You are Codex.\n\nNo network.'])
    assert.equal(session.notes, [
      'searches that the provider ran were left out',
      'compactions were left out: what they replaced is replayed',
    ])
  })

  it('read a rollout of an older Codex, whose items stand alone', async () => {
    const first = { id: 's', timestamp: 't', instructions: 'Be brief.', git: {} }
    const session = await readText(jsonl(first, { record_type: 'state' }, ...codexItems), 'rollout.jsonl')
    assert.equal(turnsOf(session), codexTurns)
    assert.is(session.system, 'Be brief.\n\nNo network.')
  })

  const event = (type: string, data: object) => ({ type, data, id: 'i', timestamp: 't', parentId: null })

  it('read a session of the Copilot CLI, without its sub-agents', async () => {
    const request = { toolCallId: 'a', name: 'view', arguments: { path: 'x' }, type: 'function' }
    const session = await readText(
      jsonl(
        event('session.start', { sessionId: 's', version: 1, producer: 'copilot-agent' }),
        event('system.message', { role: 'system', content: 'You are Copilot.' }),
        event('system.message', { role: 'system', content: 'You are Copilot.' }),
        event('user.message', { content: 'look', transformedContent: 'look!', attachments: [] }),
        event('assistant.turn_start', { turnId: '0' }),
        event('assistant.message', {
          messageId: 'm',
          content: '',
          reasoningText: 'hm',
          toolRequests: [request, { ...request, toolCallId: 'b', arguments: '{"path":"y"}' }],
        }),
        event('tool.execution_start', { toolCallId: 'a', toolName: 'view', arguments: { path: 'x' } }),
        event('assistant.message', { content: 'inside', toolRequests: [], parentToolCallId: 'a' }),
        event('tool.execution_complete', { toolCallId: 'b', success: false, error: { message: 'no file', code: 'x' } }),
        event('tool.execution_complete', {
          toolCallId: 'a',
          success: true,
          result: { content: 'text of x', detailedContent: 'more' },
        }),
        event('assistant.turn_end', { turnId: '0' }),
        event('tool.execution_start', { toolCallId: 'c', toolName: 'bash', arguments: { command: 'ls' } }),
        event('tool.execution_complete', { toolCallId: 'c', success: true, result: 'x' }),
        event('assistant.message', { content: 'done' }),
      ),
      'events.jsonl',
    )
    assert.equal(turnsOf(session), [
      'user: look',
      'thinking → a:view({"path":"x"}) → b:view({"path":"y"}) = text of x & !no file',
      'c:bash({"command":"ls"}) = x',
      'done',
    ])
    assert.equal([session.format, session.system], ['Copilot CLI session', 'You are Copilot.'])
    assert.ok(session.notes.includes('messages of sub-agents were left out'))
  })

  it('read an export of OpenCode, in which ids of calls are blanked out', async () => {
    const tool = (id: string, state: object) => ({ type: 'tool', id, callID: 'REDACTED', tool: 'bash', state })
    const value = {
      info: { id: 'ses_1', projectID: 'p', directory: '/project', version: '1.2.21' },
      messages: [
        {
          info: { role: 'user', id: 'msg_1' },
          parts: [
            { type: 'text', text: 'look' },
            { type: 'text', text: 'for people', ignored: true },
            { type: 'file', mime: 'image/png', url: 'data:image/png;base64,AAAA', filename: 'a.png' },
          ],
        },
        {
          info: {
            role: 'assistant',
            id: 'msg_2',
            tokens: { input: 10, cache: { read: 90, write: 0 } },
            finish: 'tool-calls',
          },
          parts: [
            { type: 'step-start', snapshot: 's' },
            { type: 'reasoning', text: 'hm' },
            tool('prt_1', { status: 'completed', input: { command: 'ls' }, output: 'x', metadata: { exit: 0 } }),
            tool('prt_2', { status: 'error', input: { command: 'rm' }, error: 'denied' }),
            { type: 'step-finish', reason: 'tool-calls' },
            { type: 'step-start', snapshot: 's' },
            tool('prt_3', { status: 'running', input: { command: 'sleep' } }),
          ],
        },
        {
          info: { role: 'assistant', id: 'msg_3' },
          parts: [
            { type: 'text', text: 'done' },
            { type: 'patch', files: [] },
          ],
        },
      ],
    }
    for (const text of [JSON.stringify(value), `\uFEFF${JSON.stringify(value, null, 2)}`]) {
      const session = await readText(text, 'export.json')
      assert.is(session.format, 'OpenCode export')
      assert.equal(turnsOf(session), [
        'user: look | image',
        'thinking → REDACTED:bash({"command":"ls"}) → REDACTED-2:bash({"command":"rm"}) = x & !denied',
        'REDACTED-3:bash({"command":"sleep"}) = !(the recording has no result)',
        'done',
      ])
    }
  })

  it('read events of OpenHands, as a list, a history and lines', async () => {
    const call = (id: string, command: string) => ({
      id,
      function: { name: 'execute_bash', arguments: JSON.stringify({ command }) },
    })
    const response = {
      id: 'r1',
      choices: [{ message: { content: 'I look.', tool_calls: [call('a', 'ls'), call('b', 'rm x')] } }],
    }
    const ofCall = (id: string) => ({
      function_name: 'execute_bash',
      tool_call_id: id,
      model_response: response,
      total_calls_in_response: 2,
    })
    const events = [
      {
        id: 0,
        source: 'agent',
        action: 'system',
        args: {
          content: 'You are OpenHands.',
          tools: [{ type: 'function', function: { name: 'think', description: 'Thinks.', parameters: {} } }],
        },
      },
      { id: 1, source: 'user', action: 'message', args: { content: 'look', image_urls: null } },
      { id: 2, source: 'user', action: 'recall', args: { query: 'look' } },
      {
        id: 3,
        source: 'environment',
        observation: 'agent_state_changed',
        content: '',
        extras: { agent_state: 'running' },
      },
      {
        id: 4,
        source: 'agent',
        action: 'run',
        args: { command: 'ls', thought: 'I look.' },
        tool_call_metadata: ofCall('a'),
      },
      {
        id: 5,
        source: 'agent',
        observation: 'run',
        content: 'x',
        cause: 4,
        extras: { metadata: { exit_code: 0 } },
        tool_call_metadata: ofCall('a'),
        success: true,
      },
      {
        id: 6,
        source: 'agent',
        action: 'run',
        args: { command: 'rm x', thought: '' },
        tool_call_metadata: ofCall('b'),
      },
      { id: 7, source: 'agent', observation: 'error', content: 'denied', cause: 6, extras: {} },
      { id: 8, source: 'agent', action: 'read', args: { path: 'x', thought: 'now x' } },
      { id: 9, source: 'agent', observation: 'read', content: 'text of x', cause: 8, extras: {} },
      { id: 10, source: 'agent', action: 'finish', args: { final_thought: 'done' } },
    ]
    for (const text of [
      JSON.stringify(events),
      JSON.stringify({ instance_id: 'i', history: events }, null, 2),
      jsonl(...events),
    ]) {
      const session = await readText(text, 'trajectory.json')
      assert.equal([session.format, session.system], ['OpenHands events', 'You are OpenHands.'])
      assert.equal(turnsOf(session), [
        'user: look',
        'I look. → a:execute_bash({"command":"ls"}) → b:execute_bash({"command":"rm x"}) = x & !denied',
        'now x → action-8:read({"path":"x"}) = text of x',
        'done',
      ])
      assert.ok(session.tools.some(({ name }) => name === 'think'))
    }
  })

  it('read events of a newer OpenHands, which have a kind', async () => {
    const words = (text: string) => [{ type: 'text', text }]
    const action = (id: string, command: string) => ({
      kind: 'ActionEvent',
      source: 'agent',
      thought: words('I look.'),
      reasoning_content: 'hm',
      action: { kind: 'TerminalAction', command },
      tool_name: 'terminal',
      tool_call_id: id,
      tool_call: { id, name: 'terminal', arguments: JSON.stringify({ command }), origin: 'completion' },
      llm_response_id: 'r1',
    })
    const session = await readText(
      jsonl(
        {
          kind: 'SystemPromptEvent',
          source: 'agent',
          system_prompt: { type: 'text', text: 'You are OpenHands.' },
          tools: [],
        },
        { kind: 'MessageEvent', source: 'user', llm_message: { role: 'user', content: words('look') } },
        action('a', 'ls'),
        action('b', 'rm x'),
        { kind: 'ConversationStateUpdateEvent', source: 'environment', key: 'k', value: 'v' },
        {
          kind: 'ObservationEvent',
          source: 'environment',
          tool_call_id: 'a',
          action_id: 'e',
          observation: { kind: 'TerminalObservation', content: words('x'), is_error: false },
        },
        { kind: 'AgentErrorEvent', source: 'agent', tool_call_id: 'b', error: 'denied' },
        { kind: 'MessageEvent', source: 'agent', llm_message: { role: 'assistant', content: words('done') } },
      ),
      'events.jsonl',
    )
    assert.equal(turnsOf(session), [
      'user: look',
      'thinking → I look. → a:terminal({"command":"ls"}) → b:terminal({"command":"rm x"}) = x & !denied',
      'done',
    ])
  })

  it('mend what could not be replayed, and say so', async () => {
    const call = (id: string) => ({ id, type: 'function', function: { name: 'my.tool', arguments: '{}' } })
    const session = await readText(
      JSON.stringify([
        { role: 'assistant', content: 'first' },
        { role: 'assistant', content: 'still first', tool_calls: [call('a'), call('b')] },
        { role: 'tool', tool_call_id: 'a', content: 'A' },
        { role: 'tool', tool_call_id: 'nobody', content: 'X' },
        { role: 'user', content: 'one' },
        { role: 'user', content: 'two' },
        { role: 'assistant', content: '', tool_calls: [call('a')] },
        { role: 'tool', tool_call_id: 'a', content: 'again' },
      ]),
      'odd.json',
    )
    assert.equal(turnsOf(session), [
      'user: (the recording begins here)',
      'first → still first → a:my_tool({}) → b:my_tool({}) = A & !(the recording has no result)',
      'user: one | two',
      'a-2:my_tool({}) = again',
    ])
    assert.equal(session.notes.length, 5)
  })

  it('leave out a last line that was cut off', async () => {
    const session = await readText(`${jsonl(...piLines)}{"type":"message","mess`, 'pi.jsonl')
    assert.is(session.turns.length, 4)
    assert.ok(session.notes.includes('the last line was cut off and left out'))
  })

  it('refuse what cannot be replayed, saying what was seen', async () => {
    assert.is(await refusal('  \n'), 'file is empty.')
    assert.match(await refusal('{"type":"sess'), /^file, line 1 is not JSON: "\{\\"type\\":\\"sess"/)
    assert.match(await refusal(`${jsonl(piLines[0]!)}nonsense\n${jsonl(piLines[1]!)}`), /^file, line 2 is not JSON/)
    assert.match(await refusal('{"a":1,"b":2}'), /begins with an object with the fields a, b\. Known are/)
    assert.match(
      await refusal(JSON.stringify({ a: 1, b: 2 }, null, 2)),
      /begins with an object with the fields a, b\. Known/,
    )
    assert.match(await refusal('[1,2]'), /begins with a list of 2/)
    assert.match(await refusal('[]'), /begins with a list of 0/)
    assert.match(await refusal(jsonl(piLines[0]!, piLines[1]!)), /has 1 user messages and no reply/)
  })

  it('take a step of a megabyte', async () => {
    const big = 'x'.repeat(1_000_000)
    const lines = piLines.map((line) => JSON.stringify(line).replace('text of x', big))
    const session = await readText(lines.join('\n'), 'pi.jsonl')
    assert.is(session.turns.length, 4)
    assert.ok(JSON.stringify(session.turns[1]).includes(big))
  })
})
