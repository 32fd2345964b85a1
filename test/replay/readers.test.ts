import { readText } from '../../tools/bench/replay/readers/readSession.ts'
import { ReplayError } from '../../tools/bench/replay/recordedSession.ts'
import { createRuntime, defineAgent, defineTool, memoryStore } from '../../src/index.ts'
import { exportSession } from '../../src/sessions.ts'
import { scriptedModel } from '../../src/testing.ts'
import { assert, describe } from '../support/suite.ts'
import { z } from 'zod'
import { jsonl, turnsOf } from './shortTurns.ts'

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
