import type { ArtifactOptions } from '../../src/actors/parts/artifacts/artifactOptions.ts'
import { boundedText } from '../../src/actors/parts/artifacts/boundedText.ts'
import { isLarge, keepAll, keptOutcome } from '../../src/actors/parts/artifacts/keepResult.ts'
import { readArtifactTool } from '../../src/actors/parts/artifacts/readArtifactTool.ts'
import type { Outcome } from '../../src/actors/calls/outcome.ts'
import { WaitedFor } from '../../src/actors/tools/waitForTool.ts'
import type { PlainBlock } from '../../src/protocol/messages.ts'
import { Redactor } from '../../packages/redaction/src/redactor.ts'
import { actorPorts, agentSays, toolSays, userSays, type RecordedPorts } from '../support/actorPorts.ts'
import { pngOf } from '../support/imageBytes.ts'
import { assert, describe } from '../support/suite.ts'

const limit = 1_000
const portsOf = (artifacts: ArtifactOptions | false = {}): RecordedPorts =>
  actorPorts({ artifacts: artifacts === false ? false : { overChars: limit, ...artifacts } })
const text = (length: number, char = 'x'): PlainBlock => ({ type: 'text', text: char.repeat(length) })
const image = (bytes: number): PlainBlock => ({
  type: 'file',
  mimeType: 'application/pdf',
  name: `f${bytes}.pdf`,
  data: Buffer.concat([Buffer.from('%PDF-1.4\n'), Buffer.alloc(Math.max(0, bytes - 9), 1)]).toString('base64'),
})
const linked = { type: 'image', url: 'https://example.com/a.png' } as const

/** A list whose JSON has that many characters. */
const json = (chars: number): string[] => ['y'.repeat(chars - 4)]

const kindsOf = ({ content }: Outcome): string[] =>
  content.map((block) => {
    if (block.type !== 'text') return block.type
    if (block.text.startsWith('[artifact_')) return 'note'
    if (block.text.includes('too large to show or to keep')) return 'refused'
    return block.text.includes('characters left out') ? 'cut' : 'whole'
  })

describe('a result that is too large', (it) => {
  const overMediaBytes = 300
  const cases: { readonly [what: string]: readonly [value: unknown, kinds: readonly string[], kept: number] } = {
    'a text that fits': ['x'.repeat(limit), ['whole'], 0],
    'a text that is one too long': ['x'.repeat(limit + 1), ['cut', 'note'], 1],
    'a value that fits': [json(limit), ['whole'], 0],
    'a value that is one too long': [json(limit + 1), ['cut', 'note'], 1],
    'no value': [undefined, ['whole'], 0],
    'a number': [7, ['whole'], 0],
    nothing: [null, ['whole'], 0],
    'texts that fit together': [[text(limit - 3), text(3)], ['whole', 'whole'], 0],
    'texts that together are one too long': [[text(limit - 3), text(4)], ['cut', 'note'], 1],
    'a file at the limit': [[text(3), image(overMediaBytes)], ['whole', 'file'], 0],
    'a file above it': [[text(3), image(overMediaBytes + 1), text(4)], ['whole', 'note', 'whole'], 1],
    'a link': [[linked, text(3)], ['image', 'whole'], 0],
    'a link beside a long text': [[linked, text(limit + 1)], ['cut', 'note', 'image'], 1],
    'a small file beside a long text': [[text(limit + 1), image(overMediaBytes)], ['cut', 'note', 'file'], 1],
    'a large file beside a text that just fits': [[text(limit), image(overMediaBytes + 1)], ['whole', 'note'], 1],
    'both too large': [[image(overMediaBytes + 1), text(limit + 1)], ['cut', 'note', 'note'], 2],
    'a file at the most that is kept': [[image(1_000)], ['note'], 1],
    'a file above that': [[image(1_001), text(2)], ['refused', 'whole'], 0],
  }
  for (const [what, [value, kinds, kept]] of Object.entries(cases))
    it(`is shown as far as it may, the rest is kept: ${what}`, async () => {
      const ports = portsOf({
        overMediaBytes,
        maxBytes: what.includes('most') || what.includes('that') ? 1_000 : 5_000,
      })
      assert.is(
        isLarge(value, 30_000, ports),
        kinds.some((kind) => !['whole', 'file', 'image'].includes(kind)),
      )
      const outcome = await keptOutcome(value, 30_000, ports)
      assert.equal([kindsOf(outcome), outcome.keeping?.length ?? 0], [kinds, kept])
      const { artifacts = [], content } = await keepAll(outcome, ports)
      assert.equal([artifacts.length, content], [kept, outcome.content])
      for (const [at, { id, bytes, agentId }] of artifacts.entries()) {
        const stored = await ports.snapshots.get(id, agentId)
        assert.equal([Buffer.compare(stored!, outcome.keeping![at]!.bytes), bytes], [0, stored!.length])
      }
    })

  it('is cut as ever where the agent keeps none, and by the tool where that allows less', async () => {
    const none = portsOf(false)
    assert.is(isLarge('x'.repeat(5_000), limit, none), false)
    assert.equal(kindsOf(await keptOutcome('x'.repeat(5_000), limit, none)), ['cut'])
    const byTool = actorPorts({ artifacts: true })
    assert.equal(kindsOf(await keptOutcome('x'.repeat(201), 200, byTool)), ['cut', 'note'])
    assert.equal(kindsOf(await keptOutcome('x'.repeat(200), 200, byTool)), ['whole'])
    assert.equal(kindsOf(await keptOutcome('x'.repeat(301), 300, portsOf())), ['cut', 'note'])
  })

  it('is never more than may be kept, however wide its characters are, and says what is missing', async () => {
    for (const [head, middle] of [
      ['x', 'x'],
      ['é', 'é'],
      ['😀', 'x'],
      ['x', '😀'],
    ] as const) {
      const whole = `${head.repeat(3_000)}${middle.repeat(9_000)}${head.repeat(3_000)}`
      const ports = portsOf({ maxBytes: 2_000 })
      const { keeping, content } = await keptOutcome(whole, 30_000, ports)
      const [{ artifact, bytes }] = keeping as [NonNullable<Outcome['keeping']>[0]]
      assert.ok(bytes.length <= 2_000 && bytes.length > 400, `${bytes.length} of ${head} and ${middle}`)
      assert.ok(artifact.lost! > 0 && artifact.lost! <= whole.length)
      assert.match(JSON.stringify(content), `all but ${artifact.lost} characters in its middle are kept`)
    }
    // Where the ends alone are wide.
    const wide = `${'€'.repeat(1_000)}${'x'.repeat(9_000)}${'€'.repeat(100)}`
    const { keeping: [fitting] = [] } = await keptOutcome(wide, 30_000, portsOf({ maxBytes: 2_000 }))
    assert.ok(fitting!.bytes.length <= 2_000, `${fitting!.bytes.length}`)
    const both = await keptOutcome([image(6), text(limit), text(5, 'z')], 30_000, portsOf())
    assert.is(new TextDecoder().decode(both.keeping![0]!.bytes), `${'x'.repeat(limit)}\nzzzzz`)
    const exact = await keptOutcome('x'.repeat(2_000), 30_000, portsOf({ maxBytes: 2_000 }))
    assert.is(exact.keeping![0]!.artifact.lost, undefined)
    assert.match(JSON.stringify(exact.content), 'all of it is kept')
  })

  it('keeps what a call delivers, and no result that a hook took away', async () => {
    const waited = new WaitedFor('x'.repeat(limit + 1), ['m1', 'm2'])
    assert.equal((await keptOutcome(waited, 30_000, portsOf())).delivers, ['m1', 'm2'])
    assert.equal((await keptOutcome(new WaitedFor('short', ['m1']), 30_000, portsOf())).delivers, ['m1'])
    for (const hook of ['replaced', 'withheld'] as const) {
      const ports = portsOf()
      const outcome = await keptOutcome('x'.repeat(limit + 1), 30_000, ports)
      const kept = await keepAll({ ...outcome, hook }, ports)
      assert.equal([kept.artifacts, 'keeping' in kept], [undefined, false])
      assert.is(await ports.snapshots.get(outcome.keeping![0]!.artifact.id, 'a1'), undefined)
    }
  })

  it('is said to be gone for each part that the store did not take, and for no other', async () => {
    for (let failing = 0; failing < 4; failing += 1) {
      const ports = portsOf({ overMediaBytes })
      ports.redactor = new Redactor({ secrets: { DISK: 'the-secret-disk-of-ours' } })
      const outcome = await keptOutcome([text(limit + 1), image(400), image(500), text(9, 'z')], 30_000, ports)
      let puts = 0
      const { put } = ports.snapshots
      ports.snapshots = {
        ...ports.snapshots,
        put: async (bytes: Uint8Array) => {
          puts += 1
          if (puts === failing) throw new Error('the-secret-disk-of-ours is full.')
          return put(bytes)
        },
      }
      const { content, artifacts = [] } = await keepAll(outcome, ports)
      const gone = content.flatMap((block, at) =>
        block.type === 'text' && block.text.includes('could not') ? [at] : [],
      )
      assert.equal([puts, artifacts.length], [3, failing === 0 ? 3 : 2])
      assert.equal(gone, failing === 0 ? [] : [failing])
      for (const at of gone)
        assert.equal(content[at], { type: 'text', text: '[It could not be kept: [redacted:DISK] is full.]' })
      assert.equal(
        content.filter((_, at) => !gone.includes(at)),
        outcome.content.filter((_, at) => !gone.includes(at)),
      )
    }
  })
})

describe('the ends of a text', (it) => {
  it('lose as much as is said, over many pieces', async () => {
    const piece = 256 * 1024
    for (const extra of [0, 1, 7])
      for (const most of [8, 1_000, piece]) {
        const whole = `${'a'.repeat(piece)}${'b'.repeat(piece)}${'c'.repeat(piece + extra)}`
        const { text: kept, lost } = await boundedText(whole, most, undefined)
        assert.is(lost, whole.length - most)
        assert.is(kept.replace(/\n\[…[^\]]*\]\n/, '').length, most)
        assert.ok(kept.startsWith('aaaaaa') && kept.endsWith('cc'))
      }
  })
})

describe('reading what was kept', (it) => {
  const read = async (ports: RecordedPorts, id: string): Promise<unknown> => {
    const call = readArtifactTool().run({ id }, {} as never) as {
      answer(at: RecordedPorts, signal: AbortSignal): Promise<unknown>
    }
    return await call.answer(ports, new AbortController().signal).catch((thrown: unknown) => (thrown as Error).message)
  }

  it('gives images, files and texts as what they are, by eight characters of the name or more', async () => {
    const png = Buffer.from(pngOf(), 'base64')
    for (const [mimeType, name, bytes] of [
      ['image/png', undefined, png],
      ['application/pdf', 'a.pdf', Buffer.from('%PDF-1.4')],
      ['application/pdf', undefined, Buffer.from('%PDF-1.5')],
      ['text/plain', undefined, Buffer.from('first\nsecond')],
    ] as const) {
      const ports = actorPorts({ artifacts: true })
      const id = await ports.snapshots.put(bytes)
      const artifact = { id, agentId: 'a1', bytes: bytes.length, mimeType, ...(name && { name }) }
      const said = [userSays('go'), agentSays({ type: 'toolCall', callId: 'c1', name: 'look', input: {} })]
      const result = { ...toolSays('c1', 'large'), artifacts: [artifact] }
      const full = actorPorts({ artifacts: true }, [...said, result])
      full.snapshots = ports.snapshots
      const data = bytes.toString('base64')
      const expected =
        mimeType === 'image/png'
          ? [{ type: 'image', data, mimeType }]
          : mimeType === 'application/pdf'
            ? [{ type: 'file', data, mimeType, ...(name && { name }) }]
            : undefined
      for (const asked of [id, `artifact_${id.slice(0, 8)}`, ` artifact_${id.slice(0, 12)} `]) {
        const answer = await read(full, asked)
        if (expected === undefined) assert.match(String(answer), /first[^]*second/)
        else assert.equal(answer, expected)
      }
      for (const asked of [id.slice(0, 7), 'artifact_', `${id.slice(0, 8)}zz`])
        assert.match(String(await read(full, asked)), 'There is no artifact')
    }
  })
})
