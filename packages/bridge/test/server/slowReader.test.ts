import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { Socket } from 'node:net'
import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { tool } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { Heard, logOf, serveAgents } from './bridgeHarness.ts'

const mega = 1024 * 1024

/** Makes results of a size, so many times. */
function wordy(times: number, chars: number) {
  let left = times
  return defineAgent({
    name: 'wordy',
    model: policyModel(() => (left-- > 0 ? { toolCalls: [{ name: 'speak', input: {} }] } : 'enough')),
    // Nothing that could be made smaller on its way.
    tools: [tool('speak', () => randomBytes((chars / 4) * 3).toString('base64'), { maxOutputChars: chars })],
  })
}

describe('a client that does not read', (it) => {
  it('costs the server little, holds nobody up, and catches up', { timeoutMs: 60_000 }, async (context) => {
    const http = createServer()
    const sockets: Socket[] = []
    http.on('upgrade', (_, socket) => sockets.push(socket as Socket))
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    context.cleanup(() => http.close())
    const definition = wordy(16, mega)
    const serving = await serveAgents(context, [definition], { server: http })
    const agent = await serving.runtime.spawn(definition, { id: 'a1' })
    const slow = await serving.dial({ hello: {} })
    const seqs: number[] = []
    slow.socket.removeAllListeners('message')
    const caughtUp = Promise.withResolvers<void>()
    let isLagging = false
    let isOver = false
    slow.socket.on('message', (data) => {
      const value = JSON.parse((data as Buffer).toString()) as object
      for (const frame of (Array.isArray(value) ? value : [value]) as { type: string; seq: number; live?: true }[]) {
        if (frame.type === 'event' && frame.live !== true) seqs.push(frame.seq)
        if (frame.type === 'lagging') isLagging = true
        if (frame.type === 'caughtUp' && isOver && frame.seq === agent.lastSeq) caughtUp.resolve()
      }
    })
    slow.send({ type: 'agent.subscribe', id: 's', agentId: 'a1' })
    const quick = serving.connect().agent('a1')
    const heard = new Heard()
    quick.subscribe(heard.listen, { fromSeq: 1 })
    await quick.snapshot()
    slow.socket.pause()

    let most = 0
    const watch = (): void => {
      for (const { writableLength } of sockets) most = Math.max(most, writableLength)
    }
    agent.subscribe(watch)
    assert.is((await agent.prompt('go').result).text, 'enough')
    await heard.until(({ type }) => type === 'run.end')
    watch()
    assert.ok(most > mega / 2, `the socket was never full: ${most} bytes`)
    assert.ok(most < 4 * mega + mega, `${most} bytes waited in a socket`)

    isOver = true
    slow.socket.resume()
    await caughtUp.promise
    assert.ok(isLagging)
    const log = await logOf(serving.store, 'a1')
    assert.equal(
      seqs,
      log.map((_, index) => index + 1),
    )
    assert.equal(heard.logged, log)
  })
})
