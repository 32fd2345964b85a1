import { getEventListeners } from 'node:events'
import { assert, describe } from '../../../../test/support/suite.ts'
import { ask, iterate, partsOf, useWire, wireFamilies } from '../../../../test/support/wireServer/useWire.ts'
import type { WireReply } from '../../../../test/support/wireServer/wireFamily.ts'
import type { WireExchange } from '../../../../test/support/wireServer/wireServer.ts'

const ended = { done: true, value: undefined }

for (const family of wireFamilies) {
  const partial: WireReply = { blocks: [{ text: ['Hel', 'lo'] }], stop: family.stops.stop }
  const stall = (exchange: { send(...texts: string[]): void }) => exchange.send(...family.open(partial))

  describe(`AI SDK abort of ${family.name}`, (it) => {
    it('closes the connection in the middle of a stream and ends without another part', async (test) => {
      const { server, model } = await useWire(test, family, [stall])
      const arrival = server.arrival()
      const abort = new AbortController()
      const parts = iterate(model, abort.signal)
      assert.is((await parts.next()).value?.type, 'text.delta')
      assert.is((await parts.next()).value?.type, 'text.delta')
      const pending = parts.next()
      abort.abort(new Error('enough'))
      assert.equal(await pending, ended)
      assert.equal(await parts.next(), ended)
      await (
        await arrival
      ).closedByClient
    })

    it('drops a delta that had arrived but was not read', async (test) => {
      const { server, model } = await useWire(test, family, [stall])
      const arrival = server.arrival()
      const abort = new AbortController()
      const parts = iterate(model, abort.signal)
      assert.is((await parts.next()).value?.type, 'text.delta')
      abort.abort(new Error('enough'))
      assert.equal(await parts.next(), ended)
      await (
        await arrival
      ).closedByClient
    })

    for (const [when, answer] of [
      ['before the first byte of the answer', () => {}],
      ['between the head of the answer and its first event', (exchange: WireExchange) => exchange.send(': ping\n\n')],
    ] as const)
      it(`closes the connection ${when}`, async (test) => {
        const { server, model } = await useWire(test, family, [answer])
        const arrival = server.arrival()
        const abort = new AbortController()
        const pending = iterate(model, abort.signal).next()
        const exchange = await arrival
        abort.abort(new Error('enough'))
        assert.equal(await pending, ended)
        await exchange.closedByClient
      })

    it('makes no request once the signal is aborted', async (test) => {
      const { server, model } = await useWire(test, family, [])
      assert.equal(await partsOf(model, ask('hi'), AbortSignal.abort(new Error('too late'))), [])
      assert.is(server.requests.length, 0)
    })

    it('closes the connection when the consumer breaks out of the loop', async (test) => {
      const { server, model } = await useWire(test, family, [stall])
      const arrival = server.arrival()
      for await (const part of model.stream(ask('hi'), { signal: test.signal })) {
        assert.is(part.type, 'text.delta')
        break
      }
      await (
        await arrival
      ).closedByClient
    })

    it('closes the connection when the consumer returns while it waits for a part', async (test) => {
      const { server, model } = await useWire(test, family, [stall])
      const arrival = server.arrival()
      const parts = iterate(model, test.signal)
      await parts.next()
      await parts.next()
      const pending = parts.next()
      assert.equal(await parts.return?.(), ended)
      assert.equal(await pending, ended)
      await (
        await arrival
      ).closedByClient
    })

    it('leaves nothing on a signal that lives on', async (test) => {
      const { model } = await useWire(test, family, [
        (exchange) => {
          exchange.send(...family.open(partial), ...family.finish(partial))
          exchange.end()
        },
      ])
      const { signal } = new AbortController()
      assert.is((await partsOf(model, ask('hi'), signal)).at(-1)?.type, 'done')
      assert.equal(getEventListeners(signal, 'abort'), [])
    })

    it('does not touch another call of the same model', async (test) => {
      const goAhead = Promise.withResolvers<void>()
      const { server, model } = await useWire(test, family, [
        stall,
        async (exchange) => {
          exchange.send(...family.open(partial))
          await goAhead.promise
          exchange.send(...family.finish(partial))
          exchange.end()
        },
      ])
      const arrival = server.arrival()
      const abort = new AbortController()
      const first = iterate(model, abort.signal)
      await first.next()
      const second = iterate(model, test.signal)
      await second.next()
      abort.abort(new Error('enough'))
      assert.equal(await first.next(), ended)
      await (
        await arrival
      ).closedByClient
      goAhead.resolve()
      assert.is((await second.next()).value?.type, 'text.delta')
      assert.is((await second.next()).value?.type, 'done')
    })
  })
}
