import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Model, ModelPart, ModelRequest } from '../../src/protocol/ports/model.ts'
import { recordModel } from '../../packages/evaluation/src/testing/recordModel.ts'
import { replayModel } from '../../packages/evaluation/src/testing/replayModel.ts'
import { assert, describe } from '../support/suite.ts'

const ask = (text: string): ModelRequest => ({
  system: '',
  messages: [{ role: 'user', content: [{ type: 'text', text }] }],
  tools: [],
  settings: {},
})

async function partsOf(model: Model, request: ModelRequest): Promise<ModelPart[]> {
  const parts: ModelPart[] = []
  for await (const part of model.stream(request, { signal: new AbortController().signal })) parts.push(part)
  return parts
}

describe('a recording with redact', (it) => {
  it('writes no secret of redact, not even one that came in pieces, and passes it through', async (test) => {
    const dir = await mkdtemp(join(tmpdir(), 'escapement-recording-'))
    test.cleanup(() => rm(dir, { recursive: true, force: true }))
    const file = join(dir, 'recording.jsonl')
    const pieces: Model = {
      id: 'test:pieces',
      async *stream() {
        yield { type: 'text.delta', text: 'abra' }
        yield { type: 'text.delta', text: 'cadabra' }
        const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }
        const content = [{ type: 'text', text: 'abracadabra' }] as const
        yield { type: 'done', reply: { content, stopReason: 'stop', usage } }
      },
    }
    const recording = recordModel(pieces, file, { redact: { secrets: { KEY: 'abracadabra' } } })
    const parts = await partsOf(recording, ask('Is it abracadabra?'))
    assert.equal(
      parts.map(({ type }) => type),
      ['text.delta', 'text.delta', 'done'],
    )
    assert.match(JSON.stringify(parts), 'abracadabra')
    await recording.flush()
    const text = await readFile(file, 'utf8')
    assert.not.match(text, 'cadabra')
    const played = await partsOf(await replayModel(file), ask('Is it [redacted:KEY]?'))
    assert.match(JSON.stringify(played), 'redacted:KEY')
  })
})
