import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fallback } from '../../packages/models/src/fallback.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { recordModel } from '../../packages/evaluation/src/testing/recordModel.ts'
import { replayModel } from '../../packages/evaluation/src/testing/replayModel.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import type { Model, ModelPart, ModelRequest, ModelSettings } from '../../src/protocol/ports/model.ts'
import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { assert, type CaseContext, describe } from '../support/suite.ts'

const ask = (text: string, settings: ModelSettings = {}): ModelRequest => ({
  system: 'Be brief.',
  messages: [{ role: 'user', content: [{ type: 'text', text }] }],
  tools: [{ name: 'add', description: 'Adds.', inputSchema: { type: 'object' } }],
  settings,
})

const never = new AbortController().signal

async function partsOf(model: Model, request: ModelRequest, signal = never): Promise<ModelPart[]> {
  const parts: ModelPart[] = []
  for await (const part of model.stream(request, { signal })) parts.push(part)
  return parts
}

async function newFile({ cleanup }: CaseContext): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'escapement-recording-'))
  cleanup(() => rm(dir, { recursive: true, force: true }))
  return join(dir, 'deep', 'recording.jsonl')
}

/** Recorded replies of a model to these requests, one after another. */
async function record(test: CaseContext, model: Model, ...requests: ModelRequest[]): Promise<string> {
  const file = await newFile(test)
  const recording = recordModel(model, file)
  for (const request of requests) await partsOf(recording, request).catch(() => {})
  await recording.flush()
  return file
}

const linesOf = async (file: string): Promise<Record<string, unknown>[]> =>
  (await readFile(file, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

const errorIn = (parts: readonly ModelPart[]): string => {
  const [part] = parts
  if (parts.length !== 1 || part?.type !== 'error' || part.error.kind !== 'badRequest') assert.unreachable()
  return part.error.message
}

const echo = policyModel(({ messages }) => {
  const block = messages.at(-1)?.content[0]
  return { thinking: 'hm hm', text: `you said ${block?.type === 'text' ? block.text : ''}` }
})

/** A model that says a word each time `say` is called. */
function puppet(): { model: Model; say(text: string, word?: string): Promise<void> } {
  const waiting = new Map<string, (word: string | undefined) => void>()
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  return {
    model: {
      id: 'test:puppet',
      async *stream({ messages }) {
        const block = messages[0]?.content[0]
        const name = block?.type === 'text' ? block.text : ''
        for (let said = ''; ;) {
          const word = await new Promise<string | undefined>((resolve) => waiting.set(name, resolve))
          if (word === undefined) {
            const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }
            yield { type: 'done', reply: { content: [{ type: 'text', text: said }], stopReason: 'stop', usage } }
            return
          }
          said += word
          yield { type: 'text.delta', text: word }
        }
      },
    },
    async say(text, word) {
      await settle()
      waiting.get(text)?.(word)
      await settle()
    },
  }
}

describe('a recorded model', (it) => {
  it('is played again with what fell back, and without the keys that an error quoted', async (test) => {
    const broken = scriptedModel(
      [{ error: { kind: 'auth', message: 'bad key sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAA' } }],
      {
        id: 'a:1',
      },
    )
    const model = fallback([broken, scriptedModel(['hi'], { id: 'b:2' })])
    const file = await record(test, model, ask('go'))
    assert.not.match(await readFile(file, 'utf8'), 'AAAAAAAA')
    const parts = await partsOf(await replayModel(file), ask('go'))
    assert.equal(
      parts.map((part) => (part.type === 'model' ? [part.model, part.after?.kind] : part.type)),
      [['a:1', undefined], ['b:2', 'auth'], 'text.delta', 'done'],
    )
  })

  it('passes everything through and replays it in the recorded pieces under the same id', async (test) => {
    const file = await newFile(test)
    const recording = recordModel(echo, file)
    const first = await partsOf(recording, ask('one two three'))
    const second = await partsOf(recording, ask('four'))
    assert.equal(first, await partsOf(echo, ask('one two three')))
    const replay = await replayModel(file)
    assert.is(replay.id, 'embedded:policy')
    assert.equal(await partsOf(replay, ask('one two three')), first)
    assert.equal(await partsOf(replay, ask('four')), second)
    replay.assertComplete()
  })

  it('has the exchange in the file when the terminal part is seen', async (test) => {
    const file = await newFile(test)
    for await (const part of recordModel(echo, file).stream(ask('now'), { signal: never })) {
      if (part.type === 'done') assert.is((await linesOf(file)).length, 2)
    }
  })

  it('records error parts and thrown errors, and replays both', async (test) => {
    const error = { kind: 'rateLimited', message: 'slow down', retryAfterMs: 5 } as const
    const parts: ModelPart[] = [
      { type: 'text.delta', text: 'half' },
      { type: 'error', error },
    ]
    const model = scriptedModel([
      { parts },
      () => {
        throw new Error('the line is dead')
      },
      'well again',
    ])
    const replay = await replayModel(await record(test, model, ask('a'), ask('a'), ask('a')))
    assert.equal(await partsOf(replay, ask('a')), parts)
    await assert.rejects(partsOf(replay, ask('a')), /^the line is dead$/)
    assert.is((await partsOf(replay, ask('a'))).at(-1)?.type, 'done')
    replay.assertComplete()
  })

  it('keeps two interleaved streams apart, each line whole', async (test) => {
    const file = await newFile(test)
    const { model, say } = puppet()
    const recording = recordModel(model, file)
    const slow = partsOf(recording, ask('slow'))
    const quick = partsOf(recording, ask('quick'))
    await say('slow', 'S1')
    await say('quick', 'Q1')
    await say('slow', 'S2')
    await say('quick')
    const quickParts = await quick
    await say('slow')
    const slowParts = await slow
    assert.equal(
      (await linesOf(file)).map(({ number }) => number),
      [undefined, 2, 1],
    )
    const replay = await replayModel(file)
    assert.equal(await Promise.all([partsOf(replay, ask('slow')), partsOf(replay, ask('quick'))]), [
      slowParts,
      quickParts,
    ])
    replay.assertComplete()
    const loose = await replayModel(file, { mode: 'anyOrder' })
    assert.equal(await partsOf(loose, ask('quick')), quickParts)
    assert.match(errorIn(await partsOf(loose, ask('slowly'))), /none of the 1 recorded .* nearest is 1: messages\[0\]/)
    assert.equal(await partsOf(loose, ask('slow')), slowParts)
  })

  it('records an abort in the middle at once, and replays as far, then waits for the abort', async (test) => {
    const file = await newFile(test)
    const { model, say } = puppet()
    const recording = recordModel(model, file)
    const abort = new AbortController()
    const reading = partsOf(recording, ask('go'), abort.signal)
    await say('go', 'one')
    await say('go', 'two')
    abort.abort(new Error('enough'))
    await recording.flush()
    assert.equal((await linesOf(file))[1]?.['end'], { type: 'aborted' })
    await say('go', 'late')
    await say('go')
    await reading
    const pieces = [
      { type: 'text.delta', text: 'one' },
      { type: 'text.delta', text: 'two' },
    ] as const
    const clock = simulatedClock()
    const again = new AbortController()
    const replaying = partsOf(await replayModel(file, { clock }), ask('go'), again.signal)
    await clock.advance(999)
    again.abort(new Error('enough'))
    assert.equal(await replaying, pieces)
    assert.is(clock.pending, 0)

    const unaborted = partsOf(await replayModel(file, { clock }), ask('go'))
    await clock.advance(1_000)
    const seen = await unaborted
    assert.equal(seen.slice(0, 2), pieces)
    assert.match(errorIn(seen.slice(2)), /request 1 was aborted here/)
  })

  it('stops replaying at an abort that was not recorded', async (test) => {
    const replay = await replayModel(await record(test, echo, ask('a')))
    const abort = new AbortController()
    const seen: ModelPart[] = []
    for await (const part of replay.stream(ask('a'), { signal: abort.signal })) {
      seen.push(part)
      abort.abort(new Error('enough'))
    }
    assert.equal(seen, [{ type: 'thinking.delta', text: 'hm' }])
    replay.assertComplete()
  })

  it('fails a reader that goes on where the recorded one left', async (test) => {
    const file = await newFile(test)
    for await (const part of recordModel(echo, file).stream(ask('a'), { signal: never })) if (part) break
    const seen = await partsOf(await replayModel(file), ask('a'))
    assert.equal(seen[0], { type: 'thinking.delta', text: 'hm' })
    assert.match(errorIn(seen.slice(1)), /request 1 was left here/)
  })

  it('names a request that was still open when the recording stopped', async (test) => {
    const file = await record(test, echo, ask('a'), ask('b'))
    const [header, , second] = (await readFile(file, 'utf8')).split('\n')
    await writeFile(file, `${header}\n${second}\n`)
    const replay = await replayModel(file)
    assert.match(errorIn(await partsOf(replay, ask('a'))), /request 1 has no recorded reply: it was still open/)
    assert.is((await partsOf(replay, ask('b'))).at(-1)?.type, 'done')
  })

  it('writes no keys and headers, and replays with other ones', async (test) => {
    const keyed = (secret: string): ModelRequest =>
      ask('a', {
        maxTokens: 5,
        providerOptions: {
          acme: {
            apiKey: secret,
            headers: { 'x-team': secret },
            nested: [{ access_token: secret, credentials: { user: secret } }, `Bearer ${secret}`],
            budgetTokens: 7,
            effort: 'high',
          },
        },
      })
    const quoting = scriptedModel([{ error: { kind: 'auth', message: 'no such key: sk-hunter2hunter2.' } }])
    const file = await record(test, quoting, keyed('hunter2hunter2'))
    const text = await readFile(file, 'utf8')
    assert.not.match(text, /hunter2/)
    assert.match(text, /"budgetTokens":7,"effort":"high"/)
    const replay = await replayModel(file)
    assert.equal((await partsOf(replay, keyed('another-secret')))[0]?.type, 'error')
    replay.assertComplete()
  })

  it('turns a write that fails into an error of the call, and asks the model no more', async (test) => {
    const file = await newFile(test)
    await record(test, echo)
    const blocked = join(file, '..', '..', 'plain')
    await writeFile(blocked, '')
    const model = scriptedModel(['one', 'two'])
    const recording = recordModel(model, join(blocked, 'recording.jsonl'))
    const parts = await partsOf(recording, ask('a'))
    assert.match(errorIn(parts.slice(-1)), /cannot be written/)
    assert.match(errorIn(await partsOf(recording, ask('a'))), /cannot be written/)
    assert.is(model.requests.length, 1)
    await assert.rejects(recording.flush(), (thrown) => hasCode(thrown, 'STORE_OPEN_FAILED'))
  })
})

const hasCode = (thrown: unknown, code: string): boolean =>
  thrown instanceof Error && 'code' in thrown && thrown.code === code

describe('drift of a replayed model', (it) => {
  const drifts: [string, ModelRequest, RegExp][] = [
    [
      'the text of a message',
      ask('b'),
      /^request 1 differs .*: messages\[0\]\.content\[0\]\.text: expected "a", saw "b"$/,
    ],
    [
      'an added tool',
      { ...ask('a'), tools: [...ask('a').tools, { name: 'extra', description: '', inputSchema: {} }] },
      /tools\[1\]: expected nothing, saw \{"name":"extra"/,
    ],
    ['other settings', ask('a', { temperature: 1 }), /settings\.temperature: expected nothing, saw 1$/],
    ['a missing message', { ...ask('a'), messages: [] }, /messages\[0\]: expected \{"role":"user".*, saw nothing$/],
  ]
  for (const [what, request, expected] of drifts) {
    it(`fails that request by number and path: ${what}`, async (test) => {
      const replay = await replayModel(await record(test, echo, ask('a'), ask('next')))
      assert.match(errorIn(await partsOf(replay, request)), expected)
      assert.is((await partsOf(replay, ask('next'))).at(-1)?.type, 'done')
      assert.throws(() => replay.assertComplete(), /request 1 differs/)
    })
  }

  it('fails a request too many', async (test) => {
    const replay = await replayModel(await record(test, echo, ask('a')))
    await partsOf(replay, ask('a'))
    assert.match(errorIn(await partsOf(replay, ask('a'))), /^request 2 is not in the recording, which holds 1$/)
  })

  it('reports requests that were not made', async (test) => {
    const replay = await replayModel(await record(test, echo, ask('a'), ask('b')))
    await partsOf(replay, ask('a'))
    assert.throws(() => replay.assertComplete(), /holds 2 requests, but 1 were not made: 2\./)
  })

  it('shows where two long texts part, in a message of bounded length', async (test) => {
    const long = 'x'.repeat(100_000)
    const replay = await replayModel(await record(test, echo, ask(`${long}left${long}`)))
    const message = errorIn(await partsOf(replay, ask(`${long}right${long}`)))
    assert.match(message, /"x{20}leftx+"…, saw …"x{20}rightx+"…$/)
    assert.ok(message.length < 400)
    const other = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`key${index}`, 'y'.repeat(500)]))
    const many = await replayModel(await record(test, echo, ask('a')))
    const bounded = errorIn(await partsOf(many, ask('a', other)))
    assert.match(bounded, /; and at least 47 more$/)
    assert.ok(bounded.length < 1_000)
  })

  it('does not mind the order of keys', async (test) => {
    const replay = await replayModel(await record(test, echo, ask('a')))
    const { settings, tools, messages, system } = ask('a')
    await partsOf(replay, { settings, tools, messages, system })
    replay.assertComplete()
  })
})

describe('a recording that is played in its order', (it) => {
  it('answers requests that are not as recorded, and counts them', async (test) => {
    const replay = await replayModel(await record(test, echo, ask('a'), ask('b'), ask('c')), { mode: 'inOrder' })
    const said = async (text: string): Promise<unknown> => {
      const last = (await partsOf(replay, ask(text))).at(-1)
      return last?.type === 'done' ? last.reply.content.at(-1) : last
    }
    // One that is equal comes first, wherever it stands; else the next.
    assert.equal(await said('b'), { type: 'text', text: 'you said b' })
    assert.is(replay.differences, 0)
    assert.equal(await said('x'), { type: 'text', text: 'you said a' })
    assert.equal(await said('y'), { type: 'text', text: 'you said c' })
    assert.is(replay.differences, 2)
    assert.match(errorIn(await partsOf(replay, ask('c'))), /request 4 is not in the recording, which holds 3/)
    assert.is(replay.differences, 3)
  })
})

describe('a recording that cannot be replayed', (it) => {
  it('is reported by code: a missing file, a directory, another mode', async (test) => {
    const file = await record(test, echo)
    const fails = (code: string) => (thrown: unknown) => hasCode(thrown, code)
    await assert.rejects(replayModel(`${file}.gone`), fails('STORE_READ_FAILED'))
    await assert.rejects(replayModel(join(file, '..')), fails('STORE_READ_FAILED'))
    await assert.rejects(replayModel(file, { mode: 'toString' as never }), fails('INVALID_OPTION'))
  })

  it('is reported with the line that is wrong', async (test) => {
    const file = await record(test, echo, ask('a'))
    const [header = '', line = ''] = (await readFile(file, 'utf8')).split('\n')
    const wrong: [string, string, RegExp][] = [
      ['', 'LOG_CORRUPT', /Line 1 .* the line is empty/],
      [`${line}\n`, 'LOG_CORRUPT', /Line 1 /],
      [header, 'LOG_CORRUPT', /Line 1 .* cut off/],
      [`${header}\n${line}`, 'LOG_CORRUPT', /Line 2 .* cut off/],
      [`${header}\n${line.slice(0, 40)}\n`, 'LOG_CORRUPT', /Line 2 .* not JSON/],
      [`${header}\n${line}\n\n${line}\n`, 'LOG_CORRUPT', /Line 3 .* empty/],
      [`${header}\n${line}\n${line}\n`, 'LOG_CORRUPT', /Line 3 .* request 1 is there twice/],
      [`${header}\n${line.replace('"parts":[', '"parts":[7,')}\n`, 'LOG_CORRUPT', /Line 2 .* parts\.0/],
      [header.replace('"version":1', '"version":2'), 'LOG_VERSION', /version 2/],
    ]
    for (const [text, code, message] of wrong) {
      await writeFile(file, text)
      await assert.rejects(
        replayModel(file),
        (thrown) => hasCode(thrown, code) && message.test((thrown as Error).message),
      )
    }
  })
})
