import { Writable } from 'node:stream'
import type { ServerResponse } from 'node:http'
import { hostname } from 'node:os'
import { RuntimeError, toErrorInfo } from '../../../../src/protocol/errors.ts'
import type { AgentAccess } from '../../src/server/agentAccess.ts'
import { answerArtifact, isArtifactPath } from '../../src/server/artifacts/answerArtifact.ts'
import { keyedText, keyedValue, saidIn } from '../../src/server/keyed.ts'
import { pageOf } from '../../src/server/listPages.ts'
import { ownPlaces } from '../../src/server/ownPlaces.ts'
import { Sealed } from '../../src/server/sealed.ts'
import { placeOf } from '../../src/server/workerPlace.ts'
import { workerEntries, workerName } from '../../../cluster/src/gateway/workerNames.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

describe('a value that clients bring back', (it) => {
  it('is believed of who was given it, for what it is for, and in its time', async () => {
    const clock = simulatedClock()
    const of = (key: string, who?: string) => new Sealed(key, who, clock)
    const text = of('key', 'anna').seal('form', { n: 1 }, 1_000)
    const ours = (sealed: Sealed, what = 'form', given: unknown = text) => sealed.open(what, given)?.isOurs
    assert.equal(of('key', 'anna').open('form', text), { value: { n: 1 }, isOurs: true })
    assert.equal(
      [ours(of('key', 'ben')), ours(of('key')), ours(of('other', 'anna')), ours(of('key', 'anna'), 'another form')],
      [false, false, false, false],
    )
    assert.equal(
      [
        ours(of('key', 'anna'), 'form', 7),
        ours(of('key', 'anna'), 'form', 'x'),
        ours(of('key', 'anna'), 'form', 'bnVsbA'),
      ],
      [undefined, undefined, undefined],
    )
    await clock.advance(999)
    assert.is(ours(of('key', 'anna')), true)
    await clock.advance(1)
    assert.is(ours(of('key', 'anna')), false)
  })

  it('is keyed by its very bytes and for one purpose', () => {
    const text = keyedText('key', 'p', { a: 1 })
    const [body, hash] = text.split('.') as [string, string]
    assert.equal([keyedValue('key', 'p', text), saidIn(text)], [{ a: 1 }, { a: 1 }])
    for (const wrong of [
      `${text}.`,
      `${text}=`,
      body,
      `${body}.`,
      `.${hash}`,
      `${body}x.${hash}`,
      `${body}.${hash.slice(0, -1)}`,
      `${body}.${hash}A`,
    ])
      assert.is(keyedValue('key', 'p', wrong), undefined, wrong)
    assert.equal(
      [keyedValue('key', 'q', text), keyedValue('other', 'p', text), saidIn('{')],
      [undefined, undefined, undefined],
    )
  })
})

describe('where a server is', (it) => {
  it('is a host, a port and a path, by whatever protocol and name of this machine', () => {
    for (const [address, place] of [
      ['ws://a.example/bridge', 'a.example:80/bridge'],
      ['wss://a.example/bridge', 'a.example:443/bridge'],
      ['wss://a.example:4100/x', 'a.example:4100/x'],
      ['ws://127.0.0.1:1/b', 'localhost:1/b'],
      ['ws://[::1]:1/b', 'localhost:1/b'],
      ['ws://0.0.0.0:1/b', 'localhost:1/b'],
      ['nonsense', 'nonsense'],
    ] as const)
      assert.is(placeOf(address), place)
  })

  it('is what it advertises, and where it listens: of one on all addresses, at each of them', () => {
    const at = (address: string) => ({ address, port: 4_100 })
    assert.equal([...ownPlaces(undefined, undefined, '/b')], [])
    assert.equal([...ownPlaces('wss://a.example/b', undefined, '/b')], ['a.example:443/b'])
    assert.equal([...ownPlaces(false, at('10.0.0.7'), '/b')], ['10.0.0.7:4100/b'])
    assert.equal([...ownPlaces(false, at('fe80::1%eth0'), '/b')], ['[fe80::1]:4100/b'])
    for (const address of ['0.0.0.0', '::']) {
      const places = ownPlaces('ws://a.example/b', at(address), '/b')
      for (const place of ['a.example:80/b', 'localhost:4100/b', placeOf(`ws://${hostname()}:4100/b`)])
        assert.ok(places.has(place), place)
    }
  })

  it('has a name, and words of its own', async () => {
    assert.equal(['ws://a:1/bridge', 'ws://a:1/x/bridge', 'ws://a:1/', 'nonsense'].map(workerName), [
      'a:1',
      'a:1/x',
      'a:1',
      'nonsense',
    ])
    const workers = async () => [{ url: 'ws://a:1/bridge', words: 'x'.repeat(2_000) }]
    const entries = await workerEntries(['ws://a:1/bridge', 'ws://b:1/bridge'], { workers } as never)
    assert.equal(entries, [{ name: 'a:1', words: 'x'.repeat(1_000) }, { name: 'b:1' }])
    assert.equal(await workerEntries(['ws://a:1/bridge'], {} as never), [{ name: 'a:1' }])
  })
})

describe('a page of a list', (it) => {
  it('begins after one of them, and has a hundred unless told', () => {
    const all = Array.from({ length: 150 }, (_, at) => ({ id: `${at}` }))
    const ids = (more: object) => pageOf(all, { type: 'agent.list', id: 'x', ...more }).map(({ id }) => id)
    assert.is(ids({}).length, 100)
    assert.equal(ids({ after: '0', limit: 2 }), ['1', '2'])
    assert.equal([ids({ after: '149' }), ids({ limit: 1 })], [[], ['0']])
    assert.throws(() => ids({ after: 'x' }), withCode('INVALID_OPTION', '"x" is none of them'))
  })
})

describe('what a result names, over HTTP', (it) => {
  const id = 'ab'.repeat(32)
  async function answered(artifact: object | undefined | Error, method = 'GET') {
    const told = { status: 0, headers: {} as Record<string, unknown>, body: '' }
    const written = new Writable({
      write: (piece: unknown, _encoding, done) => {
        told.body += String(piece)
        done()
      },
    })
    const response = Object.assign(written, {
      setHeader: (name: string, value: unknown) => void (told.headers[name] = value),
      writeHead: (status: number, headers: object = {}) => {
        Object.assign(told, { status })
        Object.assign(told.headers, headers)
        return written
      },
    })
    const access = {
      must: () => {},
      async *records() {
        if (artifact instanceof Error) throw artifact
        if (artifact !== undefined)
          yield { type: 'tool.end', message: { artifacts: [{ agentId: 'a', id, ...artifact }] } }
      },
      keptBeside: async () => (artifact as { readonly content?: unknown } | undefined)?.content,
      outward: (thrown: unknown) => toErrorInfo(thrown, 'INTERNAL'),
    } as unknown as AgentAccess
    await answerArtifact(
      { method } as never,
      response as unknown as ServerResponse,
      access,
      `/agents/a/artifacts/${id}`,
    )
    return told
  }

  it('is given to be saved, and not to be run', async () => {
    const { status, headers, body } = await answered({
      mimeType: 'text/html',
      content: 'bytes',
      name: "it's a 'name'.html",
      id,
    })
    assert.equal(
      [status, body, headers['content-type'], headers['cache-control']],
      [200, 'bytes', 'text/html', 'no-store'],
    )
    assert.match(String(headers['content-disposition']), /^attachment; filename\*=UTF-8''it_s%20a%20_name_\.html$/)
    assert.match(String(headers['content-security-policy']), 'sandbox')
    const odd = await answered({ mimeType: 'text/html; x\r\ny: z', content: 'bytes', id })
    assert.is(odd.headers['content-type'], 'application/octet-stream')
  })

  it('is refused with why', async () => {
    assert.is((await answered(undefined)).status, 404)
    assert.equal(
      [(await answered({}, 'POST')).status, (await answered({}, 'POST')).headers['allow']],
      [405, 'GET, HEAD, OPTIONS'],
    )
    assert.is((await answered({ mimeType: 'a/b', content: '', id }, 'HEAD')).status, 200)
    const forbidden = await answered(new RuntimeError('BRIDGE_FORBIDDEN', 'Not you.'))
    assert.is(forbidden.status, 403)
    assert.match(forbidden.body, 'Not you.')
    await assert.rejects(answered(new TypeError('a bug')), /a bug/)
  })

  it('is at a path of its own', () => {
    assert.is(isArtifactPath(`/agents/a/artifacts/${id}`), true)
    for (const path of [
      `/agents/a/b/artifacts/${id}`,
      `/agents/a/artifacts/${id}0`,
      '/agents/a/artifacts/ab',
      `/x/agents/a/artifacts/${id}`,
    ])
      assert.is(isArtifactPath(path), false)
  })
})
