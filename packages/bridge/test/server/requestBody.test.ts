import { EventEmitter } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { bodyOf } from '../../src/server/requestBody.ts'
import { withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

function request(headers: IncomingMessage['headers'] = {}) {
  const state = { pauses: 0 }
  const made = Object.assign(new EventEmitter(), { headers, pause: () => void (state.pauses += 1) })
  return {
    made,
    state,
    body: (most: number) => bodyOf(made as unknown as IncomingMessage, most),
    says: (...texts: readonly (string | Buffer)[]) => {
      for (const text of texts) made.emit('data', Buffer.from(text as string))
    },
  }
}

describe('the body of a request', (it) => {
  it('is all of its text, of characters that came in two parts, too', async () => {
    const { made, body, says } = request()
    const read = body(7)
    const bytes = Buffer.from('a€bcd')
    says(bytes.subarray(0, 2), bytes.subarray(2))
    made.emit('end')
    assert.is(await read, 'a€bcd')
  })

  it('is refused when it says that it is too large, and nothing of it is read', async () => {
    const { made, body } = request({ 'content-length': '8' })
    await assert.rejects(body(7), withCode('BRIDGE_LIMIT', '7 bytes'))
    assert.is(made.listenerCount('data'), 0)
    const fits = request({ 'content-length': '7' })
    const read = fits.body(7)
    fits.made.emit('end')
    assert.is(await read, '')
  })

  it('is refused when it turns out to be too large, and no more of it is read', async () => {
    const { made, state, body, says } = request()
    const read = body(7)
    says('1234', '5678')
    await assert.rejects(read, withCode('BRIDGE_LIMIT'))
    assert.equal([state.pauses, made.listenerCount('data')], [1, 0])
  })

  it('is none of a client that leaves before its end', async () => {
    for (const how of ['close', 'error']) {
      const { made, body, says } = request()
      const read = body(7)
      says('1234')
      made.emit(how, new Error('gone'))
      assert.is(await read, undefined)
    }
  })
})
