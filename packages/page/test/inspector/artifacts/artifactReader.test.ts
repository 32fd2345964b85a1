import {
  artifactKind,
  ArtifactReader,
  fileNameOf,
  isShownInPlace,
} from '../../../src/inspector/model/artifacts/artifactReader.ts'
import { artifactsIn } from '../../../src/inspector/model/artifacts/namedArtifacts.ts'
import { formatBytes } from '../../../src/inspector/model/words/numbers.ts'
import { artifactName, type Artifact } from '../../../../../src/protocol/artifacts/artifact.ts'
import { calls, startAgent, tool } from '../../../../../test/support/agentHarness.ts'
import { assert, describe, type CaseContext } from '../../../../../test/support/suite.ts'
import { page, serveArtifact } from '../../../../bridge/test/server/artifactHarness.ts'
import { artifactsAt } from './artifactsAt.ts'

const token = 'a-token-of-16-characters'
const some = (more: Partial<Artifact> = {}): Artifact => ({
  id: 'ab'.repeat(32),
  agentId: 'a/1',
  bytes: 3,
  mimeType: 'text/plain',
  ...more,
})
const never = new AbortController().signal

/** The same, and what reads it. */
async function served(context: CaseContext, options: object = {}) {
  const { artifact, origin, store } = await serveArtifact(context, options)
  return { store, artifact, at: artifactsAt(`${origin}/`) }
}

describe('what the page reads of a result', (it) => {
  it('comes from its server with the token in a header, once, as a type that cannot act', async (context) => {
    const { artifact, at } = await served(context, { tokens: { [token]: 'observe' } })
    let now: string | undefined = token
    const reader = new ArtifactReader(at.ports, () => now)
    const blob = await reader.read({ ...artifact, mimeType: 'text/html' }, never)
    assert.equal([await blob.text(), blob.type], [page, 'text/plain;charset=utf-8'])
    assert.is(await reader.read(artifact, never), blob)
    assert.equal(at.asked, [[`agents/a1/artifacts/${artifact.id}`, { authorization: `Bearer ${token}` }]])
    now = undefined
    reader.forget()
    await assert.rejects(() => reader.read(artifact, never), /wants a token, or another one/)
    assert.equal(at.asked[1]![1], {})
  })

  it('may be gone, out of reach or broken off, and says so in words', async (context) => {
    const { artifact, at, store } = await served(context)
    Object.assign(store.snapshots!, { get: async () => undefined })
    await assert.rejects(() => new ArtifactReader(at.ports, () => undefined).read(artifact, never), /no longer kept/)
    const answers: [Response | Error, RegExp][] = [
      [new Response('', { status: 403 }), /does not reach the agent/],
      [new Response('', { status: 503 }), /no room/],
      [new Response('', { status: 418 }), /status 418/],
      [new Error('fetch failed'), /cannot be reached/],
      [new Response('ab'), /Only 2 of its 3 bytes came/],
      [new Response(new ReadableStream({ start: (stream) => stream.error(new Error('reset')) })), /broke off/],
    ]
    for (const [answer, said] of answers) {
      const { ports } = artifactsAt('', async () => {
        if (answer instanceof Error) throw answer
        return answer
      })
      await assert.rejects(() => new ArtifactReader(ports, () => undefined).read(some(), never), said)
    }
  })

  it('is given up when nobody wants it any more, and asked for again later', async () => {
    const controller = new AbortController()
    const isAsked = Promise.withResolvers<undefined>()
    const { ports, asked } = artifactsAt('', (_, signal) => {
      if (asked.length > 1) return Promise.resolve(new Response('abc'))
      isAsked.resolve(undefined)
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
    })
    const reader = new ArtifactReader(ports, () => undefined)
    const reading = reader.read(some(), controller.signal)
    await isAsked.promise
    controller.abort(new Error('left'))
    await assert.rejects(() => reading, /left/)
    await assert.rejects(() => reader.read(some(), controller.signal), /left/)
    assert.is(asked.length, 1)
    assert.is(await (await reader.read(some(), never)).text(), 'abc')
  })

  it('is remembered up to a size, what was read longest ago forgotten first', async () => {
    const bytes = 20 * 1024 * 1024
    const blob = new Blob([new Uint8Array(bytes)])
    const large = { ok: true, headers: new Headers(), blob: async () => blob }
    const { ports, asked } = artifactsAt('', async () => large as unknown as Response)
    const reader = new ArtifactReader(ports, () => undefined)
    const read = (id: string): Promise<Blob> => reader.read(some({ id, bytes }), never)
    for (const id of ['1', '2', '3', '3', '4', '4', '1']) await read(id)
    assert.equal(
      asked.map(([path]) => path.at(-1)),
      ['1', '2', '3', '4', '1'],
    )
  })

  it('is not remembered when the token changed meanwhile', async () => {
    let now = 'one'
    const { ports, asked } = artifactsAt('', async () => {
      now = 'two'
      return new Response('abc')
    })
    const reader = new ArtifactReader(ports, () => now)
    await reader.read(some(), never)
    await reader.read(some(), never)
    assert.equal(
      asked.map(([path, headers]) => [path.startsWith('agents/a%2F1/artifacts/ab'), headers['authorization']]),
      [
        [true, 'Bearer one'],
        [true, 'Bearer two'],
      ],
    )
  })
})

describe('what a person can do with it', (it) => {
  it('depends on its type: only what cannot act is opened', () => {
    assert.equal(
      ['image/png', 'image/svg+xml', 'text/html', 'application/json', 'application/pdf', ''].map((mimeType) =>
        artifactKind({ mimeType }),
      ),
      ['picture', 'text', 'text', 'text', 'other', 'other'],
    )
    const image = { mimeType: 'image/png' }
    assert.equal([some(image), some({ ...image, bytes: 17 * 1024 * 1024 }), some()].map(isShownInPlace), [
      true,
      false,
      false,
    ])
    assert.equal([some(), some(image), some({ name: 'a.pdf' }), some({ mimeType: 'x/y' })].map(fileNameOf), [
      'artifact_abababababab.txt',
      'artifact_abababababab.png',
      'a.pdf',
      'artifact_abababababab',
    ])
    assert.is(fileNameOf(some({ name: 'invoice\u202Efdp.exe' })), 'invoicefdp.exe')
    assert.equal([1, 999, 1_000, 999_949, 999_950, 16_777_216, 2e12].map(formatBytes), [
      '1 byte',
      '999 bytes',
      '1.0 KB',
      '999.9 KB',
      '1.0 MB',
      '16.8 MB',
      '2000.0 GB',
    ])
  })
})

describe('what a request names', (it) => {
  it('is what results of the conversation keep, and nothing that a text makes up', async (context) => {
    const { agent, script } = await startAgent(context, {
      artifacts: { overChars: 1_000 },
      tools: [tool('fetch', () => page), tool('lie', () => 'see artifact_0123456789ab')],
      replies: [calls('a', 'fetch', 'lie'), 'done'],
    })
    await agent.prompt('go').result
    const find = artifactsIn(agent.conversation)
    const { messages } = script.requests[1]!
    const [kept] = agent.conversation
      .log()
      .flatMap(({ message }) => (message.role === 'toolResult' ? (message.artifacts ?? []) : []))
    assert.equal(messages.map(find), [[], [], [kept], []])
    const said = { role: 'user', content: [{ type: 'text', text: artifactName(kept!) }] } as const
    assert.equal(find(said), [])
  })
})
