import { join, resolve } from 'node:path'
import { storePlace } from '../src/config/storePlace.ts'
import { howToResume } from '../src/sessions/sessionLogs.ts'
import { assert, describe } from '../../../test/support/suite.ts'

describe('the address of a store', (it) => {
  const base = resolve('/base')
  const placesOf = (address: string) => storePlace(address, base)

  it('is a folder, an SQLite file or a database', () => {
    assert.is(placesOf('logs').folder, join(base, 'logs'))
    assert.is(placesOf('file:logs').folder, join(base, 'logs'))
    assert.is(placesOf('c:logs').folder, join(base, 'c:logs'))
    assert.is(placesOf('./a:b').folder, join(base, 'a:b'))
    const file = placesOf('sqlite:x.db')
    assert.equal(
      [file.folder, file.name, file.address],
      [undefined, join(base, 'x.db'), `sqlite:${join(base, 'x.db')}`],
    )
    assert.is(placesOf('postgres://h/db').address, 'postgres://h/db')
    for (const wrong of ['mysql://h/db', 'sqlite:', 'http://x'])
      assert.throws(
        () => placesOf(wrong),
        (error: unknown) => error instanceof Error && 'code' in error,
      )
  })

  it('is shown without its password', () => {
    const secret = 'postgres://me:hunter2@h:5/db?password=hunter2&x=1'
    const { address, name, typed, logOf } = placesOf(secret)
    for (const shown of [address, name, logOf('a'), howToResume('a', { dir: undefined, logs: secret })])
      assert.not(shown.includes('hunter2'))
    assert.match(address, 'me@h:5/db')
    assert.is(typed, secret)
  })
})
