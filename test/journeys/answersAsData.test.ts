import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { z } from 'zod'
import { defineAgent } from '../../packages/define/src/defineAgent.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { textOf } from '../../src/protocol/messages.ts'
import { calls, delta, done, saidIn, startAgent, tool, usageOf, type HarnessOptions } from '../support/agentHarness.ts'
import { openaiWire } from '../support/wireServer/openaiWire.ts'
import { useWire } from '../support/wireServer/useWire.ts'
import { fakeKey } from '../support/wireServer/wireFamily.ts'
import { assert, describe } from '../support/suite.ts'

const output = z.object({ city: z.string(), people: z.int() })
const ulm = '{"city":"Ulm","people":130000}'

/** A server as @ai-sdk/openai-compatible takes it to be when it is told nothing. */
const withoutSchemas = {
  ...openaiWire,
  model: (url: string) => createOpenAICompatible({ name: 'local', baseURL: `${url}/v1`, apiKey: fakeKey })('m'),
}

/** The last thing a request says, which a note of the runtime is. */
const lastSaid = (request: Parameters<typeof saidIn>[0]): string => saidIn(request).at(-1) ?? ''

describe('an answer as data', (it) => {
  it('is checked and returned, and the model is told its shape, as a setting and in words', async (context) => {
    const { agent, script } = await startAgent(context, {
      output,
      instructions: 'Be exact.',
      replies: [ulm],
    })
    const result = await agent.prompt('where?').result
    assert.equal(result.output, { city: 'Ulm', people: 130_000 })
    const { settings, system } = script.requests[0]!
    assert.is(settings.responseFormat?.type, 'json')
    assert.equal(settings.responseFormat?.schema['required'], ['city', 'people'])
    const [instructions, asked, schema] = system.split(/\n+/)
    assert.equal(
      [instructions, asked],
      ['Be exact.', 'Your final answer must be JSON of this schema, and nothing but the JSON:'],
    )
    assert.equal(JSON.parse(schema!), settings.responseFormat?.schema)
  })

  it('reaches a server that takes no JSON schema, and the provider says so', async (context) => {
    const { server, model } = await useWire(context, withoutSchemas, [{ blocks: [{ text: [ulm] }], stop: 'stop' }])
    const { agent, ofType } = await startAgent(context, { output, model })
    assert.equal((await agent.prompt('where?').result).output, { city: 'Ulm', people: 130_000 })
    const body = server.requests[0]!.body as { response_format: unknown; messages: { content: string }[] }
    assert.equal(body.response_format, { type: 'json_object' })
    assert.match(body.messages[0]!.content, '"city":{"type":"string"}')
    assert.equal(
      ofType('model.warning').map(({ message }) => message.slice(0, 34)),
      ['"responseFormat" is not supported:'],
    )
  })

  it('counts what the schema in words costs, and without one nothing is said', () => {
    const of = (options: object) =>
      defineAgent({ name: 'a', model: scriptedModel([]), instructions: 'Be exact.', ...options })
    assert.is(of({}).system, 'Be exact.')
    assert.ok(of({ output }).frameTokens > of({}).frameTokens + 20)
  })

  for (const [what, text] of [
    ['in a fenced block', '```json\n' + ulm + '\n```'],
    ['in a fenced block without a language, with words around it', 'Here:\n\n```\n' + ulm + '\n```\nAnything else?'],
    ['with fences inside its strings', '```json\n{"city":"```json\\nUlm\\n```","people":1}\n```'],
  ] as const) {
    it(`is read ${what}`, async (context) => {
      const { agent, ofType } = await startAgent(context, { output, replies: [text] })
      const result = await agent.prompt('where?').result
      assert.match((result.output as { city: string }).city, 'Ulm')
      assert.is(result.text, text)
      assert.equal(ofType('reply.reset'), [])
    })
  }

  it('is not picked from several fenced blocks', async (context) => {
    const two = ['1', '2'].map((people) => '```json\n{"city":"Ulm","people":' + people + '}\n```').join('\nor\n')
    const { agent, ofType } = await startAgent(context, { output, replies: [two, ulm] })
    assert.equal((await agent.prompt('where?').result).output, JSON.parse(ulm))
    assert.is(ofType('reply.reset').length, 1)
  })

  for (const [what, wrong] of [
    ['it is not JSON', 'Ulm, I think'],
    ['it is empty', ' '],
    ['it does not fit the output schema: people: give a number, not a string', '{"city":"Ulm","people":"many"}'],
  ] as const) {
    it(`is asked for again at once, with what was wrong, when ${what}`, async (context) => {
      const { agent, ofType, script, types } = await startAgent(context, { output, replies: [wrong, ulm] })
      assert.equal((await agent.prompt('where?').result).output, { city: 'Ulm', people: 130_000 })
      const [reset] = ofType('reply.reset')
      assert.is(reset!.error.code, 'OUTPUT_INVALID')
      assert.match(reset!.error.message, what)
      assert.equal([reset!.retryAt, types().includes('error')], [undefined, false])
      const [, second] = script.requests
      assert.match(lastSaid(second), /^<runtime-note kind="repair">Your last answer cannot be used: /)
      assert.match(lastSaid(second), what)
      assert.match(lastSaid(second), wrong)
    })
  }

  it('is asked for in a note that is no message, is told where it comes from, and is gone once it is answered', async (context) => {
    const { agent, ofType, script, records } = await startAgent(context, {
      output,
      replies: ['no', '{"city":1}', ulm, ulm],
      captureTurnRequests: true,
    })
    await agent.prompt('where?').result
    await agent.prompt('again?').result
    assert.equal(
      script.requests.map((request) => request.messages.map(({ role, content }) => [role, content.length])),
      [
        [['user', 1]],
        [['user', 2]],
        [['user', 2]],
        [
          ['user', 1],
          ['assistant', 1],
          ['user', 1],
        ],
      ],
    )
    assert.match(lastSaid(script.requests[2]), 'city: give a string, not a number')
    assert.not.match(lastSaid(script.requests[2]), 'It was:\nno')
    assert.equal(
      (await records()).flatMap((record) => (record.type === 'message.added' ? [textOf(record.message.content)] : [])),
      ['where?', 'again?'],
    )
    const repair = { type: 'note', kind: 'repair', block: 1 }
    assert.equal(
      ofType('turn.request').map(({ provenance }) => provenance.at(-1)!.merged),
      [undefined, [repair], [repair], undefined],
    )
    assert.equal(
      ofType('turn.captured').map(({ provenance }) => provenance.at(-1)?.merged?.length),
      [undefined, 1, 1, undefined],
    )
  })

  it('is asked for after the results of tools too', async (context) => {
    const { agent, script } = await startAgent(context, {
      output,
      tools: [tool('look', () => 'Ulm')],
      replies: [calls('c', 'look'), 'Ulm', ulm],
      checkRequests: true,
    })
    assert.equal((await agent.prompt('where?').result).output, { city: 'Ulm', people: 130_000 })
    assert.equal(
      script.requests[2]!.messages.map(({ role }) => role),
      ['user', 'assistant', 'toolResult', 'user'],
    )
  })

  it('is asked for in a note that is gone when the model calls a tool instead', async (context) => {
    const { agent, script } = await startAgent(context, {
      output,
      tools: [tool('look', () => 'Ulm')],
      replies: ['Ulm', calls('c', 'look'), ulm],
    })
    await agent.prompt('where?').result
    assert.equal(
      script.requests.map((request) => saidIn(request).length),
      [1, 2, 1],
    )
  })

  it('that never fits ends the run with an error and no output, after three of them', async (context) => {
    const { agent, script, ofType } = await startAgent(context, { output, replies: ['no', 'no', 'no', ulm] })
    const result = await agent.prompt('where?').result
    assert.equal([result.stopReason, result.error?.code, 'output' in result], ['error', 'OUTPUT_INVALID', false])
    assert.is(script.requests.length, 3)
    assert.equal(
      ofType('reply.reset').map(({ attempt, repair }) => [attempt, repair !== undefined]),
      [
        [1, true],
        [2, true],
        [3, false],
      ],
    )
    assert.equal((await agent.prompt('again').result).output, { city: 'Ulm', people: 130_000 })
    assert.equal(saidIn(script.requests[3]), ['where?', 'again'])
  })

  for (const outputAttempts of [1, 2, 5]) {
    it(`is asked for as often as it is told: ${outputAttempts}`, async (context) => {
      const { agent, script } = await startAgent(context, {
        output,
        outputAttempts,
        replies: Array.from({ length: 6 }, () => 'no'),
      })
      await agent.prompt('where?').result
      assert.is(script.requests.length, outputAttempts)
    })
  }

  it('counts against no attempt of a failed connection, and the wait for one begins as for the first', async (context) => {
    const lost = { error: { kind: 'network', message: 'gone' } } as const
    const { agent, clock, ofType, untilState } = await startAgent(context, {
      output,
      retry: { attempts: 2, baseMs: 1_000 },
      replies: ['no', 'no', lost, ulm],
    })
    const run = agent.prompt('where?')
    await untilState('backoff')
    assert.is(ofType('reply.reset').at(-1)!.retryAt, clock.now() + 500)
    await clock.advance(1_000)
    assert.equal((await run.result).output, { city: 'Ulm', people: 130_000 })
  })

  const costly = (text: string) => ({ text, usage: usageOf(90, 10) })
  const limited: readonly (readonly [string, HarnessOptions])[] = [
    ['tokens', { limits: { tokens: 100 } }],
    ['costUsd', { limits: { costUsd: 1 }, pricing: { input: 10_000, output: 10_000 } }],
  ]
  for (const [limit, options] of limited) {
    it(`is not asked for again once the limit of ${limit} is reached, and resume goes on with the note`, async (context) => {
      const { agent, script } = await startAgent(context, { ...options, output, replies: [costly('no'), ulm] })
      const paused = await agent.prompt('where?').result
      assert.equal([paused.stopReason, paused.reason?.type, script.requests.length], ['paused', 'limit', 1])
      const result = await agent.resume({ limits: { tokens: 10_000, costUsd: 100 } }).result
      assert.equal(result.output, { city: 'Ulm', people: 130_000 })
      assert.match(lastSaid(script.requests[1]), 'Your last answer cannot be used')
    })
  }

  it('may take the last turn of a limit for all its attempts', async (context) => {
    const { agent } = await startAgent(context, { output, limits: { turns: 1 }, replies: ['no', ulm] })
    assert.equal((await agent.prompt('where?').result).output, { city: 'Ulm', people: 130_000 })
  })

  it('is not asked of a reply that calls tools', async (context) => {
    const { agent } = await startAgent(context, {
      output,
      tools: [tool('look', () => 'Ulm')],
      replies: [calls('c', 'look'), ulm],
    })
    assert.equal((await agent.prompt('where?').result).output, { city: 'Ulm', people: 130_000 })
  })
})

describe('a warning of a model', (it) => {
  const warning = (message: string) => ({ type: 'warning', message }) as const

  it('is told once a run, however often it comes, and is part of no reply', async (context) => {
    const warned = (...messages: string[]) => ({
      parts: [...messages.map(warning), delta('ok'), done([{ type: 'text', text: 'ok' }])],
    })
    const { agent, ofType } = await startAgent(context, {
      tools: [tool('look', () => 'x')],
      replies: [
        {
          parts: [
            warning('no seed'),
            done([{ type: 'toolCall', callId: 'c', name: 'look', input: {} }], { stopReason: 'toolUse' }),
          ],
        },
        warned('no seed', 'no topP'),
        warned('no seed'),
      ],
    })
    assert.is((await agent.prompt('1').result).text, 'ok')
    await agent.prompt('2').result
    assert.equal(
      ofType('model.warning').map(({ runId, turnIndex, model, message }) => [runId, turnIndex, model, message]),
      [
        ['a1/r0', 0, 'embedded:scripted', 'no seed'],
        ['a1/r0', 1, 'embedded:scripted', 'no topP'],
        ['a1/r1', 2, 'embedded:scripted', 'no seed'],
      ],
    )
  })
})
