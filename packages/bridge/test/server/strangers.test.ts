import { type Connection, UnauthenticatedSockets } from '../../src/server/connections.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const socket = (): Connection => ({ tick() {}, ping() {}, leave() {}, terminate() {} })

describe('sockets that have not said who they are', (it) => {
  it('have the oldest one go where there are too many, of one address or in all', () => {
    const all = new UnauthenticatedSockets({ strangers: 3, strangersPerAddress: 2 })
    const [a1, a2, b1, a3, c1, d1] = Array.from({ length: 6 }, socket) as [
      Connection,
      Connection,
      Connection,
      Connection,
      Connection,
      Connection,
    ]
    assert.equal([all.add(a1, 'a'), all.add(b1, 'b'), all.add(a2, 'a')], [undefined, undefined, undefined])
    // Of its own address, though another one is as old.
    assert.is(all.add(a3, 'a'), a1)
    assert.equal([all.size, all.delete(a1)], [3, false])
    assert.is(all.add(c1, 'c'), b1)
    assert.equal([all.delete(a2), all.size], [true, 2])
    assert.is(all.add(d1, 'd'), undefined)
    assert.is(all.size, 3)
  })
})
