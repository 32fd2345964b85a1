import { someRuns } from '../support/seeds.ts'
import * as fc from 'fast-check'
import { z } from 'zod'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { defineTool } from '../../src/actors/tools/defineTool.ts'
import type { AgentEvent } from '../../src/protocol/events.ts'
import { noUsage } from '../../src/protocol/messages.ts'
import type { ModelPart } from '../../src/protocol/ports/model.ts'
import { createRuntime } from '../../packages/bridge/src/createRuntime.ts'
import { exportSession } from '../../packages/sessions/src/exportSession.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { startTracing } from '../../packages/otel/test/tracingProbe.ts'
import { assert, describe, type CaseContext } from '../support/suite.ts'

/** As much of a secret as nobody may see. */
const told = 8

/** Letters that occur nowhere else, so that every piece of a secret is known for one, between such as need escapes. */
const random = fc.string({ unit: fc.constantFrom(...Array.from('qxzjkvwQXZJKVW')), minLength: 4, maxLength: 9 })
const awkward = fc.constantFrom(
  '"',
  '\\',
  '\n',
  '\r\n',
  '\t',
  "'",
  '/',
  'é',
  '漢',
  '👋',
  '\u2028',
  '\\n',
  '\\"',
  '{',
  ' ',
  '%',
)
const secrets = fc
  .array(fc.tuple(random, awkward), { minLength: 3, maxLength: 6 })
  .map((parts) => parts.flat().join(''))
  .filter((secret) => secret.trim() === secret)

/** Text around it that a cut may go through. */
const filler = fc.nat({ max: 260 }).map((length) => '-.'.repeat(length))

interface Hidden {
  readonly secret: string
  readonly before: string
  readonly after: string
  readonly sizes: readonly number[]
}
const hidden = fc.record({
  secret: secrets,
  before: filler,
  after: filler,
  sizes: fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 20 }),
})

const usage = { ...noUsage, input: 1, output: 1 }

/** Cuts a text into pieces of these sizes, over and over. */
function* pieces(text: string, sizes: readonly number[]): Generator<string> {
  for (let at = 0, n = 0; at < text.length; n++) {
    const size = sizes[n % sizes.length]!
    yield text.slice(at, at + size)
    at += size
  }
}

/** A reply that says the text and makes the calls, in deltas of the sizes. */
function* reply(
  text: string,
  calls: readonly { readonly name: string; readonly input: unknown }[],
  sizes: readonly number[],
): Generator<ModelPart> {
  for (const piece of pieces(text, sizes)) yield { type: 'thinking.delta', text: piece }
  for (const piece of pieces(text, sizes)) yield { type: 'text.delta', text: piece }
  for (const [nth, { name, input }] of calls.entries())
    for (const piece of pieces(JSON.stringify(input), sizes))
      yield { type: 'toolCall.delta', callId: `c${nth}`, name, text: piece }
  const content = [
    { type: 'thinking' as const, text },
    { type: 'text' as const, text },
    ...calls.map(({ name, input }, nth) => ({ type: 'toolCall' as const, callId: `c${nth}`, name, input })),
  ]
  yield { type: 'done', reply: { content, stopReason: calls.length > 0 ? 'toolUse' : 'stop', usage } }
}

/** Tools that give a secret away in every way there is. */
function leakyTools({ secret, before, after, sizes }: Hidden) {
  const text = before + secret + after
  const cut = Math.ceil(text.length / 2)
  const leaky = (name: string, run: () => unknown, options: { readonly needsApproval?: boolean } = {}) =>
    defineTool({
      name,
      description: `${name} ${secret}`,
      input: z.looseObject({}),
      maxOutputChars: 200,
      run: (_, { report, changed }) => {
        report({ [secret]: text, nested: [{ secret }] })
        changed(`/tmp/${secret}`)
        return run()
      },
      ...options,
    })
  return [
    leaky('text', () => text),
    leaky('object', () => ({ [secret]: before, list: [text, { secret }], json: JSON.stringify({ secret }) })),
    leaky('blocks', () => [text.slice(0, cut), text.slice(cut)].map((part) => ({ type: 'text', text: part }))),
    leaky('throws', () => {
      throw new Error(text)
    }),
    leaky('rejects', () => Promise.reject(new Error(JSON.stringify({ text })))),
    leaky('asks', () => secret, { needsApproval: true }),
    defineTool({
      name: 'cuts',
      description: 'Shows what it cuts.',
      input: z.looseObject({}),
      run: (_, { redact, report }) => {
        const stream = redact!.stream()
        for (const piece of pieces(text, sizes)) report({ output: stream.push(piece)?.text })
        report({ output: stream.end()?.text })
        return redact!.text(text).slice(0, cut)
      },
    }),
  ]
}

/** Everything that left the runtime while an agent met a secret at every turn. */
async function seenOf(context: Pick<CaseContext, 'cleanup'>, given: Hidden): Promise<Record<string, unknown>> {
  const { secret, before, after, sizes } = given
  const text = before + secret + after
  const tools = leakyTools(given)
  const input = { [secret]: text, list: [secret, { json: JSON.stringify([secret]) }], plain: secret }
  const calls = [
    ...tools.map(({ name }) => ({ name, input })),
    { name: secret, input },
    { name: 'helper', input: { task: text } },
  ]
  const model = scriptedModel([
    { parts: reply(text, calls, sizes) },
    { error: { kind: 'rateLimited', message: `429 ${text}`, retryAfterMs: 0 } },
    { parts: reply(text, [{ name: 'text', input: text }], sizes) },
    { parts: reply(text, [], sizes) },
  ])
  const helper = scriptedModel([{ parts: reply(text, [], sizes) }])
  const logged: unknown[] = []
  const log = (fields: unknown, message?: string): void => void logged.push([fields, message])
  const probe = startTracing(context, { content: true })
  const store = memoryStore()
  const runtime = await createRuntime({
    store,
    tracer: probe.tracer,
    logger: { debug: log, info: log, warn: log, error: log },
    redact: { secrets: { SECRET: secret } },
  })
  const agent = await runtime.spawn(
    defineAgent({
      name: 'leaky',
      model,
      tools,
      agents: [defineAgent({ name: 'helper', model: helper, captureTurnRequests: true })],
      instructions: text,
      settings: { stopSequences: [secret], providerOptions: { it: { note: text, [secret]: 1 } } },
      captureTurnRequests: true,
      retry: { baseMs: 0, maxMs: 0 },
    }),
    { id: 'a1' },
  )
  const events: AgentEvent[] = []
  agent.subscribe(
    (event) => {
      events.push(event)
      if (event.type === 'approval.requested') agent.decide(event.key, 'deny', text)
    },
    { descendants: true },
  )
  const result = await agent.prompt(text, {
    context: [{ content: text, provenance: { type: 'memoryTier', tier: secret, recordId: text } }],
  }).result
  await runtime.close()
  const exported: string[] = []
  for (const id of ['a1', 'a1.1']) for await (const line of exportSession(store, id)) exported.push(line)
  const requests = [...model.requests, ...helper.requests].map(({ settings: _, ...request }) => request)
  return {
    events,
    deltas: deltasOf(events),
    result,
    trunk: agent.conversation.trunk(),
    requests,
    exported,
    logged,
    spans: probe.spans(),
  }
}

/** Deltas put together, by what they belong to. */
function deltasOf(events: readonly AgentEvent[]): Record<string, string> {
  const texts: Record<string, string> = {}
  for (const event of events) {
    if (!('text' in event) || !event.type.endsWith('.delta')) continue
    const { callId = '' } = event as { callId?: string }
    const key = `${event.agentId} ${event.type} ${event.turnIndex} ${callId}`
    texts[key] = (texts[key] ?? '') + event.text
  }
  return texts
}

const letters: Record<string, string> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }
const unescaped = (text: string): string =>
  text.replaceAll(/\\(?:u([\da-f]{4})|([nrtbf])|(["\\/]))/gi, (_, code: string, letter: string, sign: string) =>
    code ? String.fromCharCode(Number.parseInt(code, 16)) : (letters[letter] ?? sign),
  )

/** A piece of the secret that is to be read in the value, as it stands or with escapes undone; and where. */
function leakIn(value: unknown, secret: string): string | undefined {
  const parts = Array.from({ length: secret.length - told + 1 }, (_, at) => secret.slice(at, at + told))
  const lookAt = (text: string, path: string): string | undefined => {
    let reading = text
    for (let level = 0; level < 4; level++) {
      const part = parts.find((each) => reading.includes(each))
      if (part !== undefined) return `${path} shows ${JSON.stringify(part)}: ${text.slice(0, 600)}`
      reading = unescaped(reading)
    }
    return undefined
  }
  const walk = (inner: unknown, path: string): string | undefined => {
    if (typeof inner === 'string') return lookAt(inner, path)
    if (typeof inner !== 'object' || inner === null) return undefined
    for (const [key, item] of Object.entries(inner)) {
      const leak = lookAt(key, `${path} key`) ?? walk(item, `${path}.${key}`)
      if (leak !== undefined) return leak
    }
    return undefined
  }
  return walk(value, '') ?? lookAt(JSON.stringify(value), 'JSON')
}

describe('random secrets', (it) => {
  it('are in nothing that leaves the runtime, whole or in pieces, raw or escaped', { timeoutMs: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(hidden, async (given) => {
        const cleanups: (() => unknown)[] = []
        const seen = await seenOf({ cleanup: (undo) => void cleanups.push(undo) }, given)
        for (const undo of cleanups.toReversed()) await undo()
        for (const [what, value] of Object.entries(seen)) {
          const leak = leakIn(value, given.secret)
          assert.is(leak, undefined, `${what} ${leak}`)
        }
        const { events, result } = seen as { events: AgentEvent[]; result: { stopReason: string } }
        assert.is(result.stopReason, 'stop')
        const results = events.filter(({ type, agentId }) => type === 'tool.end' && agentId === 'a1')
        assert.is(results.length, 10)
      }),
      { seed: 12, numRuns: someRuns(15) },
    )
  })
})
