import { someRuns } from '../support/seeds.ts'
import * as fc from 'fast-check'
import { Redactor, type RedactOptions } from '../../packages/redaction/src/redactor.ts'
import { RedactedStream } from '../../packages/redaction/src/redactedStream.ts'
import { scriptedModel, type ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { defineAgent, type AgentOptions } from '../../src/actors/define/defineAgent.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import type { AgentEvent } from '../../src/protocol/events.ts'
import { noUsage } from '../../src/protocol/messages.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import type { Agent } from '../../src/runtime/agents/agent.ts'
import { createRuntime, type Runtime } from '../../packages/bridge/src/createRuntime.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { gate, tool, withCode } from '../support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

const password = 'hunter2-of-the-north'
const key = 'sk-live0123456789abcdefXYZ'
const options: RedactOptions = { secrets: { DB_PASSWORD: password }, patterns: [/CARD-\d{4}/] }

const awkward = 'line "one"\nline \\two'
const pem = `-----BEGIN PRIVATE KEY-----\n${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n'.repeat(3)}-----END PRIVATE KEY-----\n`

interface Kept {
  readonly runtime: Runtime
  readonly agent: Agent
  readonly events: AgentEvent[]
  readonly store: ReturnType<typeof memoryStore>
  readonly model: ReturnType<typeof scriptedModel>
  records(): Promise<LogRecord[]>
}

async function startKept(
  { cleanup }: Pick<CaseContext, 'cleanup'>,
  replies: readonly ScriptedReply[],
  agentOptions: Partial<AgentOptions> = {},
): Promise<Kept> {
  const store = memoryStore()
  const runtime = await createRuntime({ store, redact: options })
  cleanup(() => runtime.close())
  const model = scriptedModel(replies)
  const agent = await runtime.spawn(
    defineAgent({ name: 'tester', captureTurnRequests: true, ...agentOptions, model }),
    { id: 'a1' },
  )
  const events: AgentEvent[] = []
  agent.subscribe((event) => void events.push(event))
  return {
    runtime,
    agent,
    events,
    store,
    model,
    records: async () => {
      const records: LogRecord[] = []
      for await (const record of store.read('a1')) records.push(record)
      return records
    },
  }
}

/** Fails when a secret is to be seen. */
function assertClean(what: string, value: unknown): void {
  const text = JSON.stringify(value)
  for (const secret of [password, key, 'CARD-1234']) assert.not.match(text, secret, `${what} shows ${secret}`)
}

describe('a secret', (it) => {
  it('is in no record, event, request, capture or result, wherever it came from', async (context) => {
    const env = tool('env', (_, { report }) => {
      report({ apiKey: key })
      return `PASSWORD=${password}\nKEY=${key}\ncard CARD-1234`
    })
    const { agent, events, records, model } = await startKept(
      context,
      [
        { text: `I use ${password}`, toolCalls: [{ name: 'env', input: { type: password, id: key } }] },
        `It is ${password}, and ${key}.`,
      ],
      { tools: [env], instructions: `The password is ${password}.` },
    )
    const result = await agent.prompt(`my key is ${key}`, {
      context: [{ content: `CARD-1234`, provenance: { type: 'memoryTier', tier: 't', recordId: 'r' } }],
    }).result
    for (const [what, value] of Object.entries({
      log: await records(),
      events,
      requests: model.requests,
      result,
      trunk: agent.conversation.trunk(),
    }))
      assertClean(what, value)
    assert.match(result.text, 'It is [redacted:DB_PASSWORD], and [redacted].')
    assert.match(model.requests[0]!.system, 'The password is [redacted:DB_PASSWORD].')
    assert.ok(events.some(({ type }) => type === 'tool.progress'))
    assert.equal(rebuildConversation(await records()).trunk(), agent.conversation.trunk())
  })

  it('reaches the tool as the model wrote it', async (context) => {
    const seen: unknown[] = []
    const { agent } = await startKept(context, [{ toolCalls: [{ name: 'login', input: { password } }] }, 'in'], {
      tools: [tool('login', (input) => void seen.push(input))],
    })
    await agent.prompt('log in').result
    assert.equal(seen, [{ password }])
  })

  it('is not guessed after a crash: a call whose arguments are not in the log is answered, not run', async (context) => {
    const hold = Promise.withResolvers<string>()
    let runs = 0
    const login = tool(
      'login',
      () => {
        runs += 1
        return hold.promise
      },
      { effects: 'idempotent' },
    )
    const { agent, store, runtime } = await startKept(
      context,
      [{ toolCalls: [{ name: 'login', input: { password } }] }],
      {
        tools: [login],
      },
    )
    agent.prompt('log in')
    await new Promise<void>((resolve) => agent.subscribe((event) => event.type === 'tool.start' && resolve()))
    const copy = memoryStore()
    await copy.open('a1')
    const records: LogRecord[] = []
    for await (const record of store.read('a1')) records.push(record)
    await copy.append('a1', records)
    const other = memoryStore()
    const lease = await other.open('a1')
    await other.append('a1', records)
    await lease.release()
    const second = await createRuntime({ store: other, redact: options })
    context.cleanup(() => second.close())
    hold.resolve('in')
    const again = await second.resume(
      'a1',
      defineAgent({ name: 'tester', model: scriptedModel(['I stop.']), tools: [login] }),
    )
    await new Promise<void>((resolve) => {
      if (again.state === 'idle') return resolve()
      again.subscribe((event) => event.type === 'run.end' && resolve())
    })
    assert.is(runs, 1)
    const result = again.conversation.trunk().find(({ message }) => message.role === 'toolResult')?.message
    assert.ok(result?.role === 'toolResult' && result.synthetic === 'interrupted')
    await runtime.close()
  })

  it('stays hidden when it streams in pieces', { timeoutMs: 10_000 }, () => {
    const redactor = new Redactor({ ...options, secrets: { ...options.secrets, AWKWARD: awkward } })
    const text = fc.array(
      fc.oneof(
        fc.constantFrom(password, key, 'CARD-1234', 'CARD-12', 'sk-', ' ', '\n', `"${key}"`, '\\', '\\n', '\\u00'),
        fc.constantFrom(awkward, JSON.stringify(awkward), JSON.stringify(JSON.stringify(awkward)), 'line "one'),
        fc.constantFrom(pem, pem.slice(0, 60), pem.slice(90), 'Bearer ', '-----BEGIN '),
        fc.string({ maxLength: 8 }),
      ),
      { maxLength: 12 },
    )
    fc.assert(
      fc.property(text, fc.infiniteStream(fc.integer({ min: 1, max: 9 })), (parts, sizes) => {
        const whole = parts.join('')
        const stream = new RedactedStream(redactor)
        let shown = ''
        const show = (piece: { text: string; offset: number } | undefined): void => {
          if (piece === undefined) return
          assert.is(piece.offset, shown.length)
          shown += piece.text
        }
        for (let at = 0; at < whole.length;) {
          const size = sizes.next().value
          show(stream.push(whole.slice(at, at + size)))
          at += size
        }
        show(stream.end())
        assert.is(shown, redactor.text(whole))
      }),
      { seed: 12, numRuns: someRuns(500) },
    )
  })

  it('is held back as a private key until its end, whatever stands between', () => {
    const stream = new Redactor({}).stream()
    const pieces = [
      'a -----BEGIN RSA PRIVATE KEY-----\nDEK-Info: ',
      'AES, ',
      'short\n',
      '-----END RSA PRIVATE KEY-----',
      ' b',
    ]
    const shown = [...pieces.map((piece) => stream.push(piece)), stream.end()].map((piece) => piece?.text ?? '')
    assert.is(shown.join(''), 'a [redacted] b')
  })

  it('is hidden from whoever listens from the middle of a reply on, a sub-agent’s too', async ({ cleanup }) => {
    const [begun, open] = [gate(), gate()]
    const pieces = ['My ', password.slice(0, 8), password.slice(8, 15), password.slice(15), ' is it.']
    const worker = defineAgent({
      name: 'worker',
      model: {
        id: 'test:worker',
        async *stream() {
          for (const [index, text] of pieces.entries()) {
            yield { type: 'text.delta', text }
            if (index > 0) continue
            begun.resolve()
            await open.promise
          }
          const content = [{ type: 'text', text: pieces.join('') } as const]
          yield { type: 'done', reply: { content, stopReason: 'stop', usage: noUsage } }
        },
      },
    })
    const lead = defineAgent({
      name: 'lead',
      agents: [worker],
      model: scriptedModel([{ toolCalls: [{ name: 'worker', input: { task: 'x' } }] }, 'done']),
    })
    const runtime = await createRuntime({ redact: options })
    cleanup(() => runtime.close())
    const agent = await runtime.spawn(lead, { id: 'a1' })
    const run = agent.prompt('go')
    await begun.promise
    let heard = ''
    agent.subscribe((event) => (heard += event.type === 'reply.delta' && event.agentId !== 'a1' ? event.text : ''), {
      descendants: true,
    })
    open.resolve()
    assert.is((await run.result).text, 'done')
    assert.match(heard, 'redacted')
    assert.ok(!heard.includes(password), heard)
  })

  it('is shown in deltas only as the record has it', async (context) => {
    const { agent, events } = await startKept(context, [{ text: `one two three four ${password} five ${key}` }])
    await agent.prompt('go').result
    const deltas = events.flatMap((event) => (event.type === 'reply.delta' ? [event.text] : []))
    assert.is(deltas.join(''), 'one two three four [redacted:DB_PASSWORD] five [redacted]')
    const end = events.findIndex(({ type }) => type === 'reply.end')
    assert.ok(events.findLastIndex(({ type }) => type === 'reply.delta') < end)
  })

  it('is known by its shape, and text that only looks a little like one stays', () => {
    const redactor = new Redactor({})
    for (const secret of [
      key,
      'ghp_abcdefghij0123456789',
      'AKIAIOSFODNN7EXAMPLE',
      'AIzaSyA0123456789012345678901234567890',
      'Bearer abcdefghijklmnopqrst0123',
      'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2ln',
      '-----BEGIN RSA PRIVATE KEY-----\nMIIB\nabc\n-----END RSA PRIVATE KEY-----',
    ])
      assert.is(redactor.text(`x ${secret} y`), 'x [redacted] y')
    for (const text of [
      'sk-learn-is-a-library',
      'a bearer of news',
      'task-force-of-the-union',
      'pk-index_on_orders',
      'eyJ.eyJ',
    ])
      assert.is(redactor.text(text), text)
    assert.is(new Redactor({ knownKeys: false }).text(key), key)
  })

  it('takes no part of what is an id or a seal, and of an image only what was named', () => {
    const redactor = new Redactor({ secrets: { A: 'abcdef' }, patterns: [/\d{4}/] })
    const record = {
      type: 'tool.end',
      callId: 'abcdef',
      message: { content: [{ type: 'image', data: '1234', mimeType: 'x' }] },
    }
    assert.is(redactor.value(record), record)
    assert.equal(redactor.value({ content: [{ type: 'image', data: 'abcdef1234', mimeType: 'x' }] }), {
      content: [{ type: 'image', data: '[redacted:A]1234', mimeType: 'x' }],
    })
    assert.equal(redactor.value({ input: { id: 'abcdef' } }), { input: { id: '[redacted:A]' } })
    assert.equal(redactor.value({ type: 'thinking', text: 'abcdef', signature: 's' }), {
      type: 'thinking',
      text: '[redacted:A]',
    })
  })

  it('is found in keys that others chose, and two keys stay two', () => {
    const redactor = new Redactor({ secrets: { A: 'abcdef' }, patterns: [/\d{4}/] })
    assert.equal(redactor.value({ input: { '1234': 1, '5678': { abcdef: 2 } }, abcdef: 3 }), {
      input: { '[redacted]': 1, '[redacted]~2': { '[redacted:A]': 2 } },
      abcdef: 3,
    })
    const input: unknown = JSON.parse('{"__proto__":{"abcdef":1}}')
    assert.is(JSON.stringify(redactor.value({ input })), '{"input":{"__proto__":{"[redacted:A]":1}}}')
  })

  it('is found however often it was escaped, and the text around it stays as it was', () => {
    const redactor = new Redactor({ secrets: { A: 'pa"ss\\wo\nrd' } })
    let text = 'x pa"ss\\wo\nrd y'
    let clean = 'x [redacted:A] y'
    for (let level = 0; level < 4; level++) {
      assert.is(redactor.text(text), clean)
      text = JSON.stringify({ '\\"': text })
      clean = JSON.stringify({ '\\"': clean })
    }
    assert.is(redactor.text('\\u0070a\\x22ss\\\\wo\\nrd'), '[redacted:A]')
    for (const same of ['C:\\temp\\new', '\\', 'a\\', '\\u00', '\\q']) assert.is(redactor.text(same), same)
  })

  it('is found with the line ends of Windows, without the newline after it, and in addresses', () => {
    const redactor = new Redactor({ secrets: { A: 'first line\nsecond\n' } })
    for (const text of ['first line\r\nsecond', 'first line\nsecond', 'first%20line%0Asecond'])
      assert.is(redactor.text(`<${text}>`), '<[redacted:A]>')
  })

  it('is gone as a whole where it overlaps another, and across the blocks of a message', () => {
    const redactor = new Redactor({ secrets: { A: 'hunter2-x', B: 'x-hunter3-long' } })
    assert.is(redactor.text('hunter2-x-hunter3-long.'), '[redacted:B].')
    const blocks = ['a hunt', 'er2', '-x b', 'c'].map((text) => ({ type: 'text', text }))
    assert.equal(
      redactor.value(blocks).map(({ text }) => text),
      ['a [redacted:A]', '[redacted:A]', '[redacted:A] b', 'c'],
    )
  })

  it('is known for a private key when only its end is there, or its beginning', () => {
    const redactor = new Redactor({})
    const lines = Array.from({ length: 20 }, (_, n) => `MIIE${String(n).padStart(60, 'A')}`)
    const cut = ['some text', ...lines, 'c2hvcnQ=', '-----END RSA PRIVATE KEY-----', 'more'].join('\n')
    assert.is(redactor.text(cut), 'some text\n[redacted]\nmore')
    assert.is(redactor.text(cut.replaceAll('\n', '\r\n')), 'some text\r\n[redacted]\r\nmore')
    assert.is(redactor.text(`a -----BEGIN PRIVATE KEY-----\n${lines.join('\n')}`), 'a [redacted]')
    const whole = `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----`
    assert.is(redactor.text(`${whole}\n${lines[0]}\n${whole}`), `[redacted]\n${lines[0]}\n[redacted]`)
    const part = { from: cut.indexOf(lines[5]!), to: cut.indexOf(lines[9]!) }
    assert.is(redactor.text(cut, part), '[redacted]')
  })

  it('is looked for in no more time than the text is long', () => {
    const redactor = new Redactor(options)
    for (const part of [
      'sk-',
      'ghp_',
      'eyJ-',
      'eyJaaaaaaaaaa.',
      'AIza-',
      'Bearer ',
      '-----END PRIVATE KEY-----',
      '\\u',
    ])
      redactor.text(part.repeat(1_000_000 / part.length))
    redactor.text(`${`${'A'.repeat(64)}\n`.repeat(15_000)}-----END PRIVATE KEY-----`)
    const stream = redactor.stream()
    for (let n = 0; n < 50_000; n++) stream.push('aaaaaaaa')
    stream.end()
  })

  it('is not shown by half when a reply is cut off in its middle', () => {
    const redactor = new Redactor({ secrets: { A: 'hunter2 of the north' } })
    assert.is(redactor.cutOff('my password is hunter2 of'), 'my password is [redacted]')
    assert.is(redactor.cutOff('"hunter2\\u0020o'), '"[redacted]')
    assert.is(redactor.cutOff('we went hun'), 'we went hun')
    assert.is(redactor.cutOff('it is hunter2 of the north'), 'it is [redacted:A]')
  })

  it('is not in a request that observers see, where its settings hold it', async (context) => {
    const providerOptions = { it: { note: key, headers: { authorization: 'mine' } } }
    const settings = { stopSequences: [password], providerOptions }
    const { agent, events, model } = await startKept(context, ['ok'], { settings })
    await agent.prompt('hi').result
    const seen = events.find(({ type }) => type === 'turn.request')
    assertClean('the event', seen)
    assert.not.match(JSON.stringify(seen), 'mine')
    assert.equal(model.requests[0]!.settings.stopSequences, [password])
  })
})

describe('redaction options', (it) => {
  for (const [what, redact] of [
    ['a short secret', { secrets: { A: 'abc' } }],
    ['a name that is none', { secrets: { 'a b': 'abcdefgh' } }],
    ['a pattern that matches nothing at all', { patterns: [/x*/] }],
    ['a text for a pattern', { patterns: ['abc'] }],
    ['an unknown option', { names: [] }],
  ] as const) {
    it(`are refused with ${what}`, async () => {
      // @ts-expect-error what a caller without types may pass
      await assert.rejects(createRuntime({ redact }), withCode('INVALID_OPTION', 'redact'))
    })
  }
})
