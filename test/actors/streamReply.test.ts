import { z } from 'zod'
import { streamReply } from '../../src/actors/turn/streamReply.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import type { Model } from '../../src/protocol/ports/model.ts'
import { actorPorts, agentSays, runActor, toolSays, userSays, type RecordedPorts } from '../support/actorPorts.ts'
import { delta, done, gate, never, quiet, tool, usageOf } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const input = { agentId: 'a1', key: 'a1/t0/reply/1', runId: 'a1/r0', turnIndex: 0, attempt: 1 }
const run = (ports: RecordedPorts, change: Partial<typeof input> = {}) =>
  runActor(streamReply, ports, { ...input, ...change })
const modelOf = (stream: Model['stream']): Model => ({ id: 'test:model', stream })

describe('streaming a reply', (it) => {
  it('announces the request, tells of the first token once, gives deltas on with their places, and returns the message', async () => {
    const reply = {
      parts: [
        { type: 'thinking.delta', text: 'hm' } as const,
        delta('one '),
        delta('two'),
        done([{ type: 'text', text: 'one two' }], { usage: usageOf(100, 20) }),
      ],
    }
    const ports = actorPorts({ model: scriptedModel([reply]), pricing: { input: 1_000_000, output: 10_000_000 } })
    const output = await run(ports).output
    assert.equal(ports.started, [input.key])
    assert.equal(
      ports.emitted.map((event) => [event.type, 'offset' in event ? event.offset : undefined]),
      [
        ['turn.request', undefined],
        ['reply.start', undefined],
        ['thinking.delta', 0],
        ['reply.delta', 0],
        ['reply.delta', 4],
      ],
    )
    assert.ok(output.ok)
    assert.equal(output.message, {
      role: 'assistant',
      content: [{ type: 'text', text: 'one two' }],
      stopReason: 'stop',
      usage: usageOf(100, 20),
      model: 'embedded:scripted',
    })
    assert.equal([output.costUsd, output.contextTokens, output.at, output.calls], [300, 120, 1_000, []])
  })

  it('asks the model only once the request that is captured is written, and not at all when it is aborted meanwhile', async () => {
    for (const isAborted of [false, true]) {
      const open = gate()
      const model = scriptedModel(['hi'])
      const ports = actorPorts({ model, captureTurnRequests: true })
      let isCaptured = false
      ports.capture = () => void (isCaptured = true)
      ports.durable = () => (isCaptured ? open.promise : undefined)
      const running = run(ports)
      await quiet()
      assert.equal([isCaptured, model.requests.length], [true, 0])
      if (isAborted) running.stop()
      open.resolve()
      await quiet()
      assert.is(model.requests.length, isAborted ? 0 : 1)
    }
  })

  it('asks the model only once the log is written', async () => {
    const open = gate()
    const model = scriptedModel(['hi'])
    const ports = actorPorts({ model })
    ports.durable = () => open.promise
    const { output } = run(ports)
    await quiet()
    assert.is(model.requests.length, 0)
    open.resolve()
    await output
    assert.is(model.requests.length, 1)
  })

  it('asks no model and tells nobody when it was stopped before that', async () => {
    const open = gate()
    const model = scriptedModel(['hi'])
    const ports = actorPorts({ model })
    ports.durable = () => open.promise
    const actor = run(ports)
    actor.stop()
    open.resolve()
    await quiet()
    assert.is(model.requests.length, 0)
    assert.equal(ports.emitted, [])
  })

  it('fails when the log cannot be written', async () => {
    const ports = actorPorts({ model: scriptedModel(['hi']) })
    ports.durable = () => Promise.reject(new Error('disk full'))
    await assert.rejects(run(ports).output, /disk full/)
  })

  it('keeps what has arrived where an abort finds it, and gives nothing on after it was stopped', async () => {
    const open = gate()
    const ports = actorPorts({
      model: modelOf(async function* () {
        yield delta('half')
        await open.promise
        yield delta(' whole')
        yield done([])
      }),
    })
    const actor = run(ports)
    await quiet()
    assert.equal([ports.partial?.key, ports.partial?.text], [input.key, 'half'])
    actor.stop()
    const seen = ports.emitted.length
    open.resolve()
    await quiet()
    assert.is(ports.emitted.length, seen)
    assert.is(ports.partial?.text, 'half')
  })

  it('aborts the model’s signal when it is stopped', async () => {
    let signal: AbortSignal | undefined
    const ports = actorPorts({
      model: modelOf(async function* (_, options) {
        signal = options.signal
        yield delta('x')
        await never
      }),
    })
    const actor = run(ports)
    await quiet()
    actor.stop()
    assert.is(signal?.aborted, true)
  })

  it('tells of no delta when it is stopped by whoever hears that the reply has begun', async () => {
    const ports = actorPorts({ model: scriptedModel(['one two']) })
    const emit = ports.emit.bind(ports)
    const running: { actor?: { stop(): void } } = {}
    ports.emit = (event) => {
      emit(event)
      if (event.type === 'reply.start') running.actor!.stop()
    }
    running.actor = run(ports)
    await quiet()
    assert.equal(
      ports.emitted.map(({ type }) => type),
      ['turn.request', 'reply.start'],
    )
    assert.is(ports.partial?.text, '')
  })

  it('returns a failure with its kind, the time and a random number', async () => {
    const ports = actorPorts({
      model: scriptedModel([{ error: { kind: 'rateLimited', message: 'slow down', retryAfterMs: 7 } }]),
    })
    const output = await run(ports).output
    assert.ok(!output.ok)
    assert.equal(
      [output.failure.kind, output.failure.retryAfterMs, output.at, output.jitter, output.key],
      ['rateLimited', 7, 1_000, 0.25, input.key],
    )
    assert.is(output.failure.error.code, 'MODEL_RATE_LIMITED')
  })

  it('announces nothing twice for a retry of the same request', async () => {
    const ports = actorPorts({ model: scriptedModel(['a', 'b']) })
    await run(ports).output
    await run(ports, { attempt: 2, key: 'a1/t0/reply/2' }).output
    assert.is(ports.emitted.filter(({ type }) => type === 'turn.request').length, 1)
  })

  it('announces nothing at all when nobody looks', async () => {
    const ports = actorPorts({ model: scriptedModel(['a']) })
    ;(ports as { isObserved: boolean }).isObserved = false
    await run(ports).output
    assert.is(ports.emitted.filter(({ type }) => type === 'turn.request').length, 0)
  })

  it('proves the request first when it is told to', async () => {
    const model = scriptedModel(['a'])
    const ports = actorPorts({ model, checkRequests: true }, [
      userSays('x'),
      agentSays({ type: 'text', text: 'the last word' }),
    ])
    const output = await run(ports).output
    assert.ok(!output.ok)
    assert.equal(
      [output.failure.kind, output.failure.error.code, model.requests.length],
      ['badRequest', 'INVALID_REQUEST', 0],
    )
    assert.match(output.failure.error.message, /rule 4/)
  })

  it('plans calls: approvals asked, ids made unique, unknown and malformed ones let through', async () => {
    const tools = [tool('safe', () => 1), tool('risky', () => 1, { needsApproval: true })]
    const wanted = [
      ['safe', 'a'],
      ['risky', 'a'],
      ['unknown', ''],
      ['risky', 'b', 'not json'],
    ] as const
    const ports = actorPorts({
      tools,
      model: scriptedModel([
        {
          parts: [
            done(
              wanted.map(([name, callId, raw]) => ({ type: 'toolCall', callId, name, input: raw ?? {} }) as const),
              { stopReason: 'toolUse' },
            ),
          ],
        },
      ]),
    })
    const output = await run(ports).output
    assert.ok(output.ok)
    assert.equal(
      output.calls.map(({ name, needsApproval }) => [name, needsApproval]),
      [
        ['safe', false],
        ['risky', true],
        ['unknown', false],
        ['risky', false],
      ],
    )
    assert.is(new Set(output.calls.map(({ callId }) => callId)).size, 4)
    assert.equal(
      output.calls.map(({ callId }) => callId),
      output.message.content.map((block) => (block.type === 'toolCall' ? block.callId : '')),
    )
  })

  it('refuses an answer that does not fit the schema, and says what it was', async () => {
    const ports = actorPorts({ output: z.object({ n: z.number() }), model: scriptedModel(['{"n":"x"}']) })
    const output = await run(ports).output
    assert.ok(!output.ok)
    assert.match(output.failure.error.message, /does not fit.*n: .*\{\\"n\\":\\"x\\"\}/)
  })

  it('gives a call another id when one of an earlier reply has it, as the log could not be read back', async () => {
    const earlier = { type: 'toolCall', callId: 'c1', name: 'look', input: {} } as const
    const messages = [userSays('hello'), agentSays(earlier), toolSays('c1', 'seen')]
    const again = { parts: [done([earlier], { stopReason: 'toolUse' })] }
    const ports = actorPorts({ tools: [tool('look', () => 1)], model: scriptedModel([again]) }, messages)
    const output = await run(ports).output
    assert.ok(output.ok)
    const [{ callId } = { callId: '' }] = output.calls
    assert.match(callId, /^c1_t0_\d+$/)
    assert.not.ok(ports.conversation.hasCall(callId))
  })

  it('checks no answer that was cut off or refused', async () => {
    for (const stopReason of ['length', 'refusal'] as const) {
      const model = scriptedModel([{ text: '{"n":', stopReason }])
      const output = await run(actorPorts({ output: z.object({ n: z.number() }), model })).output
      assert.equal([output.ok, output.ok && output.message.stopReason], [true, stopReason])
    }
  })
})

describe('what is left of a budget', (it) => {
  /** Limit that `left` gives a request: the most tokens its reply may have, or the limit that is used up. */
  async function withLeft(
    left: { tokens?: number; costUsd?: number },
    options: Parameters<typeof actorPorts>[0] = {},
  ): Promise<number | string | undefined> {
    const model = scriptedModel(['hi'])
    const ports = actorPorts({ model, ...options })
    const output = await run(ports, { left } as object).output
    if (output.ok) return model.requests[0]!.settings.maxTokens
    assert.equal(
      [output.failure.kind, output.failure.error.code, model.requests.length],
      ['overBudget', 'LIMIT_REACHED', 0],
    )
    assert.match(output.failure.error.message, String(output.failure.limit))
    return output.failure.limit
  }
  const { definition, conversation } = actorPorts()
  const asked = definition.frameTokens + conversation.trunkTokens

  it('of tokens is what the reply may have', async () => {
    assert.is(await withLeft({ tokens: asked + 7 }), 7)
    assert.is(await withLeft({ tokens: asked + 1 }), 1)
  })

  it('of less than a token makes no request', async () => {
    assert.is(await withLeft({ tokens: asked }), 'tokens')
    assert.is(await withLeft({ tokens: asked - 1 }), 'tokens')
    assert.is(await withLeft({ tokens: 0 }), 'tokens')
  })

  it('never raises the length that the settings allow', async () => {
    const settings = { maxTokens: 5 }
    assert.is(await withLeft({ tokens: asked + 100 }, { settings }), 5)
    assert.is(await withLeft({ tokens: asked + 5 }, { settings }), 5)
    assert.is(await withLeft({ tokens: asked + 4 }, { settings }), 4)
    assert.is(await withLeft({}, { settings }), 5)
  })

  it('of dollars is what they buy after the request is paid; without prices, or free output, they buy any', async () => {
    const pricing = { input: 1_000_000, output: 2_000_000 }
    assert.is(await withLeft({ costUsd: asked + 20 }, { pricing }), 10)
    assert.is(await withLeft({ costUsd: asked + 1 }, { pricing }), 'costUsd')
    assert.is(await withLeft({ costUsd: 1 }), undefined)
    assert.is(await withLeft({ costUsd: 1 }, { pricing: { input: 1, output: 0 } }), undefined)
  })

  it('is the lesser of two', async () => {
    const pricing = { input: 1_000_000, output: 1_000_000 }
    assert.is(await withLeft({ tokens: asked + 9, costUsd: asked + 4 }, { pricing }), 4)
    assert.is(await withLeft({ tokens: asked + 3, costUsd: asked + 4 }, { pricing }), 3)
  })

  it('is reckoned with what the provider measured', async () => {
    const content = [{ type: 'text', text: 'x' }] as const
    const ports = actorPorts({ model: scriptedModel(['hi']) }, [userSays('hello')])
    ports.conversation.apply({
      v: 3,
      seq: 2,
      time: 0,
      runId: 'a1/r0',
      turnIndex: 0,
      nodeId: 2,
      parentId: 1,
      type: 'reply.end',
      message: { role: 'assistant', content, stopReason: 'stop', usage: usageOf(2 * asked, 1), model: 'm' },
      costUsd: 0,
      estimatedTokens: asked,
    })
    const estimated = ports.definition.frameTokens + ports.conversation.trunkTokens
    const output = await run(ports, { left: { tokens: 2 * estimated } } as object).output
    assert.equal([ports.conversation.correction, output.ok], [2, false])
  })
})
