import type { Block, Usage } from '../../../../src/protocol/messages.ts'
import type { ModelPart, ReplyStopReason } from '../../../../src/protocol/ports/model.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { ask, iterate, partsOf, replyOf, useWire, wireFamilies } from '../../../../test/support/wireServer/useWire.ts'
import type { WireFamily, WireReply } from '../../../../test/support/wireServer/wireFamily.ts'

const hello: WireReply = { blocks: [{ text: ['Hel', 'lo'] }], stop: '' }
const textOf = (parts: readonly ModelPart[]) =>
  parts.map((part) => (part.type === 'text.delta' ? part.text : '')).join('')

for (const family of wireFamilies) {
  const { stops } = family
  const reply = (blocks: WireReply['blocks'], more: Partial<WireReply> = {}): WireReply => ({
    blocks,
    stop: stops.stop,
    ...more,
  })

  describe(`AI SDK stream of ${family.name}`, (it) => {
    it('gives the first delta while the server still holds the response open', async (test) => {
      const goAhead = Promise.withResolvers<void>()
      const said = reply(hello.blocks)
      const { server, model } = await useWire(test, family, [
        async (exchange) => {
          const events = family.open(said)
          const first = events.findIndex((event) => event.includes('Hel'))
          exchange.send(...events.slice(0, first + 1))
          await goAhead.promise
          exchange.send(...events.slice(first + 1), ...family.finish(said))
          exchange.end()
        },
      ])
      const arrival = server.arrival()
      const parts = iterate(model, test.signal)
      assert.equal((await parts.next()).value, { type: 'text.delta', text: 'Hel' })
      assert.is((await arrival).isEnded, false)
      goAhead.resolve()
      assert.equal((await parts.next()).value, { type: 'text.delta', text: 'lo' })
      assert.is((await parts.next()).value?.type, 'done')
      assert.equal(await parts.next(), { done: true, value: undefined })
    })

    it('ends with one done part that holds the whole text', async (test) => {
      const { model } = await useWire(test, family, [reply(hello.blocks)])
      const parts = await partsOf(model, ask('hi'), test.signal)
      assert.is(textOf(parts), 'Hello')
      const usage: Usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }
      assert.equal(parts.at(-1), {
        type: 'done',
        reply: { content: [{ type: 'text', text: 'Hello' }], stopReason: 'stop', endReason: stops.stop, usage },
      })
      assert.is(parts.filter((part) => part.type === 'done').length, 1)
    })

    it('streams thinking as deltas of its own and as a block before the text', async (test) => {
      const { model } = await useWire(test, family, [reply([{ thinking: ['let me ', 'see'] }, { text: ['42'] }])])
      const parts = await partsOf(model, ask('hi'), test.signal)
      assert.equal(parts.slice(0, 3), [
        { type: 'thinking.delta', text: 'let me ' },
        { type: 'thinking.delta', text: 'see' },
        { type: 'text.delta', text: '42' },
      ])
      assert.equal(contentOf(parts), [
        { type: 'thinking', text: 'let me see' },
        { type: 'text', text: '42' },
      ])
    })

    it('streams a tool call by its id, with the name first, and parses its input', async (test) => {
      const input = ['{"path"', ':"a.txt"}']
      const { model } = await useWire(test, family, [
        reply([{ text: ['ok'] }, { call: 'call_1', name: 'read_file', input }], { stop: stops.toolUse }),
      ])
      const parts = await partsOf(model, ask('hi'), test.signal)
      assert.equal(parts.slice(1, -1), [
        { type: 'toolCall.delta', callId: 'call_1', name: 'read_file', text: '' },
        { type: 'toolCall.delta', callId: 'call_1', text: '{"path"' },
        { type: 'toolCall.delta', callId: 'call_1', text: ':"a.txt"}' },
      ])
      assert.equal(contentOf(parts), [
        { type: 'text', text: 'ok' },
        { type: 'toolCall', callId: 'call_1', name: 'read_file', input: { path: 'a.txt' } },
      ])
    })

    it('keeps parallel tool calls apart and in source order', async (test) => {
      const { model } = await useWire(test, family, [
        reply(
          [
            { call: 'call_1', name: 'add', input: ['{"a":', '1}'] },
            { call: 'call_2', name: 'add', input: ['{"a":', '2}'] },
            { call: 'call_3', name: 'now', input: [] },
          ],
          { stop: stops.toolUse },
        ),
      ])
      const { content, stopReason } = await replyOf(model, ask('hi'), test.signal)
      assert.is(stopReason, 'toolUse')
      assert.equal(content, [
        { type: 'toolCall', callId: 'call_1', name: 'add', input: { a: 1 } },
        { type: 'toolCall', callId: 'call_2', name: 'add', input: { a: 2 } },
        { type: 'toolCall', callId: 'call_3', name: 'now', input: {} },
      ])
    })

    it('gives the raw text of a tool input that is not JSON', async (test) => {
      const call = { call: 'call_1', name: 'add', input: ['{"a": 1'] }
      const { model } = await useWire(test, family, [reply([call], { stop: stops.length })])
      const { content, stopReason } = await replyOf(model, ask('hi'), test.signal)
      assert.is(stopReason, 'length')
      assert.equal(content, [{ type: 'toolCall', callId: 'call_1', name: 'add', input: '{"a": 1' }])
    })

    it('counts input without what came from the cache, and reasoning within the output', async (test) => {
      const cached = family.name === 'anthropic' ? { cacheRead: 80, cacheWrite: 15 } : { cacheRead: 80 }
      const usage = { input: 100, output: 20, reasoning: 7, ...cached }
      const { model } = await useWire(test, family, [reply(hello.blocks, { usage })])
      const expected: Usage = {
        input: family.name === 'anthropic' ? 5 : 20,
        output: 20,
        cacheRead: 80,
        cacheWrite: family.name === 'anthropic' ? 15 : 0,
        reasoning: 7,
      }
      assert.equal((await replyOf(model, ask('hi'), test.signal)).usage, expected)
    })

    for (const [word, expected] of stopWords(family)) {
      it(`reads the stop reason ${word} as ${expected}`, async (test) => {
        const { model } = await useWire(test, family, [reply(hello.blocks, { stop: word })])
        assert.is((await replyOf(model, ask('hi'), test.signal)).stopReason, expected)
      })
    }

    for (const word of ['a_reason_from_the_future', 'insufficient_system_resource', 'abort']) {
      it(`takes the stop reason ${word} for a failure, with what the reply used`, async (test) => {
        const { model } = await useWire(test, family, [reply(hello.blocks, { stop: word })])
        const last = (await partsOf(model, ask('hi'), test.signal)).at(-1)
        assert.is(last?.type === 'error' && last.error.kind, 'other')
        assert.match(last?.type === 'error' ? last.error.message : '', word)
        assert.equal(last?.type === 'error' && last.error.usage?.output, 1)
      })
    }

    it('takes a full window for an overflow', async (test) => {
      const { model } = await useWire(test, family, [reply(hello.blocks, { stop: 'model_context_window_exceeded' })])
      const last = (await partsOf(model, ask('hi'), test.signal)).at(-1)
      assert.is(last?.type === 'error' && last.error.kind, 'overflow')
    })

    it('says toolUse for a tool call even when the server says that it just stopped', async (test) => {
      const { model } = await useWire(test, family, [reply([{ call: 'call_1', name: 'now', input: ['{}'] }])])
      assert.is((await replyOf(model, ask('hi'), test.signal)).stopReason, 'toolUse')
    })

    it('gives an empty content when the model says nothing', async (test) => {
      const { model } = await useWire(test, family, [reply([])])
      assert.equal((await replyOf(model, ask('hi'), test.signal)).content, [])
    })

    it('makes one request for one call and none before the first part is read', async (test) => {
      const { server, model } = await useWire(test, family, [reply(hello.blocks)])
      const parts = model.stream(ask('hi'), { signal: test.signal })
      assert.is(server.requests.length, 0)
      for await (const part of parts) assert.ok(part)
      assert.is(server.requests.length, 1)
    })
  })
}

function contentOf(parts: readonly ModelPart[]): readonly Block[] | undefined {
  const last = parts.at(-1)
  return last?.type === 'done' ? last.reply.content : undefined
}

function stopWords({ stops }: WireFamily): [string, ReplyStopReason][] {
  return [
    [stops.stop, 'stop'],
    [stops.length, 'length'],
    [stops.refusal, 'refusal'],
  ]
}
