import { runInNewContext } from 'node:vm'
import { jsonOf } from '../../src/actors/tools/jsonOf.ts'
import { assert, describe } from '../support/suite.ts'

class Point {
  x = 1
}

class Secret {
  #inner = 1
  get inner(): number {
    return this.#inner
  }
}

async function* pieces(): AsyncGenerator<number> {
  yield 1
}

describe('what a tool returned, as JSON', (it) => {
  const lost: readonly (readonly [unknown, string])[] = [
    [new Map([['a', 1]]), '[Map, which is no JSON]'],
    [new Set([1]), '[Set, which is no JSON]'],
    [new TypeError('no folder'), '[TypeError: no folder]'],
    [Object.assign(new Error('no file'), { code: 'ENOENT' }), '[Error: no file]'],
    [runInNewContext('new RangeError("far")'), '[RangeError: far]'],
    [new Response('x'), '[Response, which is no JSON]'],
    [new Headers({ a: 'b' }), '[Headers, which is no JSON]'],
    [Promise.resolve(1), '[Promise, which is no JSON]'],
    [pieces(), '[AsyncGenerator, which is no JSON]'],
    [[1].values(), '[Array Iterator, which is no JSON]'],
    [/a/, '[RegExp, which is no JSON]'],
    [new Secret(), '[Secret, which is no JSON]'],
    [new Uint8Array(3), '[Uint8Array of 3 bytes, which is no JSON]'],
    [new ArrayBuffer(3), '[ArrayBuffer, which is no JSON]'],
  ]
  for (const [value, said] of lost)
    it(`names what JSON has nothing of: ${said}`, () => {
      assert.equal(JSON.parse(jsonOf(value)), said)
      assert.equal(JSON.parse(jsonOf({ ok: true, list: [value] })), { ok: true, list: [said] })
    })

  it('leaves everything else as JSON has it', () => {
    const values = [
      {},
      { a: {} },
      [],
      new Point(),
      Object.create(null),
      new Date(0),
      new URL('https://a.example'),
      Buffer.from('a'),
      1,
      'a',
      null,
      undefined,
      Object(7),
      runInNewContext('({ a: {} })'),
      { toJSON: () => ({}) },
    ]
    for (const value of values) assert.is(jsonOf(value), JSON.stringify(value) ?? '')
  })

  it('names a function, and refuses what goes in a circle', () => {
    assert.is(
      jsonOf(() => 1),
      '[a function, which is no JSON]',
    )
    const circle: { self?: unknown } = {}
    circle.self = circle
    assert.throws(() => jsonOf(circle), /circular/i)
  })
})
