import * as nodeCrypto from 'node:crypto'
import * as nodePath from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import * as nodeZlib from 'node:zlib'
import * as fc from 'fast-check'
import * as crypto from '../../src/offline/node/crypto.ts'
import { Buffer as Bytes } from '../../src/offline/node/globals.ts'
import { posix } from '../../src/offline/node/path.ts'
import { isDeepStrictEqual as isEqual } from '../../src/offline/node/util.ts'
import { deflateRawSync, inflateRawSync } from '../../src/offline/node/zlib.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const bytes = fc.uint8Array({ maxLength: 300 })
/** With halves of pairs too. */
const text = fc.string({ unit: 'binary', maxLength: 100 })
const times = { seed: 67, numRuns: 200 }
const hexOf = (of: Uint8Array): string => Buffer.from(of).toString('hex')

describe('what stands for Node in a page', (it) => {
  it('hashes as Node does', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(bytes, text), { maxLength: 4 }), fc.oneof(bytes, text), (parts, key) => {
        const both = [
          [crypto.createHash('sha256'), nodeCrypto.createHash('sha256')],
          [crypto.createHmac('sha256', key), nodeCrypto.createHmac('sha256', key)],
        ] as const
        for (const [own, nodes] of both) {
          for (const part of parts) {
            own.update(part)
            nodes.update(part)
          }
          assert.is(hexOf(own.digest()), nodes.digest('hex'))
        }
      }),
      times,
    )
    assert.is(
      crypto.createHash('sha256').update('abc').digest('base64url'),
      nodeCrypto.createHash('sha256').update('abc').digest('base64url'),
    )
    assert.is(crypto.randomBytes(32).length, 32)
    assert.not.equal(hexOf(crypto.randomBytes(32)), hexOf(crypto.randomBytes(32)))
  })

  it('compares what is secret by all of its bytes', () => {
    const one = Uint8Array.of(1, 2, 3)
    assert.ok(crypto.timingSafeEqual(one, Uint8Array.of(1, 2, 3)))
    assert.not.ok(crypto.timingSafeEqual(one, Uint8Array.of(1, 2, 4)))
    assert.not.ok(crypto.timingSafeEqual(one, Uint8Array.of(1, 2)))
  })

  it('writes and reads bytes as Buffer does', () => {
    fc.assert(
      fc.property(bytes, text, (given, said) => {
        for (const encoding of ['utf8', 'hex', 'base64', 'base64url'] as const)
          assert.is(Bytes.from(given).toString(encoding), Buffer.from(given).toString(encoding))
        for (const encoding of ['base64', 'base64url'] as const)
          assert.is(hexOf(Bytes.from(Buffer.from(given).toString(encoding), encoding)), hexOf(given))
        assert.is(hexOf(Bytes.from(said)), hexOf(Buffer.from(said)))
        assert.is(Bytes.byteLength(said), Buffer.byteLength(said))
        const units = Uint16Array.from({ length: said.length }, (_, index) => said.charCodeAt(index))
        assert.is(Bytes.from(units.buffer, 0, units.byteLength).toString('utf16le'), said)
        assert.is(hexOf(Bytes.concat([given, Bytes.from(said)])), hexOf(Buffer.concat([given, Buffer.from(said)])))
      }),
      times,
    )
    const large = new Uint8Array(100_000).map((_, index) => index)
    assert.is(Bytes.from(large).toString('base64'), Buffer.from(large).toString('base64'))
  })

  it('reads base64 with what Node passes over in it', () => {
    for (const given of ['', 'YQ', 'YQ==', 'Y Q\n=', 'YWI', 'YWJj', '-_-_', 'YWJjZ', '****'])
      assert.is(hexOf(Bytes.from(given, 'base64')), hexOf(Buffer.from(given, 'base64')), given)
  })

  it('deflates what Node inflates, and the other way round', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2_000 }), (given) => {
        assert.is(hexOf(nodeZlib.inflateRawSync(deflateRawSync(given, { level: 1 }))), hexOf(given))
        assert.is(hexOf(inflateRawSync(nodeZlib.deflateRawSync(given))), hexOf(given))
      }),
      times,
    )
  })

  it('finds JSON values equal as Node does', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        const copy: unknown = JSON.parse(JSON.stringify(one))
        assert.ok(isEqual(copy, JSON.parse(JSON.stringify(one))))
        assert.is(isEqual(one, other), isDeepStrictEqual(one, other))
      }),
      times,
    )
  })

  it('normalizes paths as Node does', () => {
    const part = fc.constantFrom('', '.', '..', 'a', 'b.ts', '...')
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        const path = parts.join('/')
        assert.is(posix.normalize(path), nodePath.posix.normalize(path), path)
      }),
      { ...times, numRuns: 2_000 },
    )
  })
})
