import { readText } from '../../tools/bench/replay/readers/readSession.ts'
import { assert, describe } from '../support/suite.ts'
import { jsonl, turnsOf } from './shortTurns.ts'

describe('readers of what other programs recorded', (it) => {
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
    assert.is(session.format, 'Codex rollout')
    // The specifications of its tools are not in it: words stand in for them.
    assert.match(session.system, /^You are Codex\.\n\nNo network\.\n\nSome words/)
    assert.equal(session.notes.slice(0, 2), [
      'searches that the provider ran were left out',
      'compactions were left out: what they replaced is replayed',
    ])
    assert.match(session.notes[2]!, /^does not have all of its system prompt and tools: 4\d\d\d tokens stand in/)
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
})
