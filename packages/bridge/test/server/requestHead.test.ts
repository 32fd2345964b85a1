import type { IncomingMessage } from 'node:http'
import { assert, describe } from '../../../../test/support/suite.ts'
import { tokenProtocolPrefix } from '../../../wire/src/bridgeProtocol.ts'
import { addressOf, pathOf, protocolsOf, tokenOf } from '../../src/server/admission.ts'

const asked = (headers: Record<string, string>, url = '/'): IncomingMessage =>
  ({ headers, url, socket: { remoteAddress: '10.0.0.1' } }) as unknown as IncomingMessage

const carrier = (token: string): string => `${tokenProtocolPrefix}${Buffer.from(token).toString('base64url')}`

describe('the head of a request', (it) => {
  it('carries a token in its authorization or as a subprotocol, and in nothing else', () => {
    for (const [headers, token] of [
      [{}, undefined],
      [{ authorization: 'Bearer t0ken' }, 't0ken'],
      [{ authorization: 'bearer t0ken' }, 't0ken'],
      [{ authorization: 'BEARER t0ken' }, 't0ken'],
      [{ authorization: 'Bearer t0ken more' }, undefined],
      [{ authorization: 'not Bearer t0ken' }, undefined],
      [{ authorization: 'Basic t0ken' }, undefined],
      [{ authorization: 'Bearer' }, undefined],
      [{ 'sec-websocket-protocol': `one, ${carrier('t0ken ü')}` }, 't0ken ü'],
      [{ 'sec-websocket-protocol': 'one, two' }, undefined],
      [{ authorization: 'Bearer first', 'sec-websocket-protocol': carrier('second') }, 'first'],
      [{ authorization: 'Basic x', 'sec-websocket-protocol': carrier('second') }, 'second'],
      [{ cookie: 'token=t0ken', 'x-token': 't0ken' }, undefined],
    ] as const)
      assert.is(tokenOf(asked(headers)), token, JSON.stringify(headers))
    assert.is(tokenOf(asked({}, '/?token=t0ken')), undefined)
  })

  it('names its path without what is asked there, its subprotocols one by one, and its address', () => {
    for (const [url, path] of [
      ['/a/b?c=/d', '/a/b'],
      ['http://elsewhere/a', '/a'],
      ['/a/../b', '/b'],
      ['//', ''],
    ] as const)
      assert.is(pathOf(asked({}, url)), path, url)
    assert.is(pathOf({ headers: {} } as IncomingMessage), '/')
    assert.equal(protocolsOf(asked({ 'sec-websocket-protocol': 'one,two ,  three' })), ['one', 'two', 'three'])
    assert.equal(protocolsOf(asked({})), [])
    assert.is(addressOf(asked({})), '10.0.0.1')
  })
})
